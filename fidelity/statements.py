"""Every definition, algorithm, lemma, theorem, corollary, remark and figure of the paper."""

from collections.abc import Callable
from typing import NamedTuple

from fidelity import measure


class Statement(NamedTuple):
    """A row of the page."""

    label: str
    """Its label in the paper's source, or its section."""
    what: str
    code: tuple[str, ...] = ()
    """Where it is: dotted names."""
    checks: tuple[str, ...] = ()
    """Tests as file::function, or figures as experiment files."""
    measured: Callable[[], str] | None = None
    erratum: str = ""


ALGORITHMS, THEORY = "tests/algorithms/", "tests/theory/test_bounds.py::"
PAIRS, BETTING = "tests/theory/test_pairs.py::", "tests/theory/test_betting.py::"
KNOWN, CUTOFF = "tests/theory/test_known.py::", "tests/theory/test_sharing_cutoff.py::"
PRIVACY, AUDIT = "tests/privacy/", "tests/privacy/test_audit.py::"
PAPER = "src/mtcool/experiments/paper/"

STATEMENTS = (
    Statement(
        "sec:model",
        "protocol: activate, fetch, predict, pay, send",
        ("mtcool.peers.protocol.play_round",),
        ("tests/peers/test_conformance.py::test_peers_pass_every_check",),
    ),
    Statement(
        "eq:mt-regret",
        "multitask regret",
        ("mtcool.simulate", "mtcool.Trace"),
        ("tests/peers/test_conformance.py::test_peers_pass_every_check",),
        erratum="quadratic losses on the ball are not 1-Lipschitz: |x - z| reaches 1 + |z|",
    ),
    Statement(
        "eq:regret_indep",
        "independent FTRL pays at most the sum of 2 sqrt(T_i)",
        ("mtcool.i_ftrl", "mtcool.theory.independent"),
        (
            ALGORITHMS + "test_guarantees.py::"
            "test_i_ftrl_pays_at_most_three_halves_of_the_root_of_its_rounds",
            THEORY + "test_measured_regret_never_exceeds_the_bound",
        ),
        measure.tightest_alone,
        "3/2 in place of 2 holds as well",
    ),
    Statement(
        "remark on cesa2020cooperative",
        "the single-task baseline: neighbours share losses, each at its own point",
        ("mtcool.st_ftrl",),
        (ALGORITHMS + "test_oracle_equality.py::test_st_ftrl_equals_the_oracle",),
    ),
    Statement(
        "alg:mt-ftrl",
        "MT-FTRL with Hedge over task variances",
        ("mtcool.learners.MTFTRL", "mtcool.learners.solvers.newton.minimise"),
        (
            ALGORITHMS + "test_oracle_equality.py::test_mt_co2ol_with_hedge_equals_the_oracle",
            "tests/learners/test_argmin.py::test_the_minimiser_is_exact_for_any_gamma_and_any_rate",
        ),
        erratum="the largest expert excludes variances above 1, which rows in the ball can have",
    ),
    Statement(
        "thm:mt-ftrl",
        "regret of MT-FTRL on a clique",
        ("mtcool.theory.clique",),
        (
            ALGORITHMS + "test_guarantees.py::test_mt_ftrl_with_hedge_keeps_its_bound_on_a_clique",
            ALGORITHMS + "test_guarantees.py::"
            "test_the_largest_expert_as_published_breaks_the_theorem_for_variances_above_one",
        ),
        erratum="fails for variances above 1; `free_last=True` mends it",
    ),
    Statement(
        "definition of alpha_k and gamma",
        "k-times independent sets, dominating sets, alpha_2 <= gamma <= alpha",
        ("mtcool.graphs.k_independence_number", "mtcool.graphs.domination_number"),
        ("tests/graphs/test_parameters.py::test_brute_force_agrees",),
        measure.states,
        "distances must be at least k + 1, not equal to it",
    ),
    Statement(
        "alg:global_alg",
        "MT-CO2OL",
        ("mtcool.mt_co2ol",),
        (ALGORITHMS + "test_oracle_equality.py::test_mt_co2ol_with_hedge_equals_the_oracle",),
    ),
    Statement(
        "fig:cool_cn",
        "a clique in a network learns as if it were alone (illustration)",
        ("mtcool.peers.assemble.clique_peers",),
        (ALGORITHMS + "test_lemma.py::test_a_clique_in_a_network_learns_as_if_it_were_alone",),
    ),
    Statement(
        "lem:cool-cn",
        "the regret is the sum of the regrets of the cliques",
        ("mtcool.peers.cliques.CliquePeers",),
        (ALGORITHMS + "test_lemma.py::test_the_regret_is_the_sum_of_the_regrets_of_the_cliques",),
    ),
    Statement(
        "thm:any-G",
        "any graph: any weights, uniform weights, delegation",
        (
            "mtcool.theory.any_graph",
            "mtcool.theory.uniform_weights",
            "mtcool.theory.delegation",
        ),
        (
            THEORY + "test_the_first_claim_is_what_it_says",
            THEORY + "test_each_claim_follows_from_the_first",
            THEORY + "test_measured_regret_never_exceeds_the_bound",
        ),
        measure.tightest_hedge,
        "the sum over delegates is indexed j(i) = i for j(i) = j; their variance can exceed Delta^2"
        " where the delegate is not among them, but not by more than the bound allows; with uniform"
        " weights the bound is not always within a constant of that of learning alone, as the"
        " abstract says: sqrt(N) times as large on a star whose centre is nearly always active",
    ),
    Statement(
        "cor:reggraphs_cliques",
        "regular graphs, unions of cliques",
        ("mtcool.theory.regular_graph", "mtcool.theory.union_of_cliques"),
        (THEORY + "test_the_corollary_is_the_theorem_on_its_graphs",),
        erratum="its proof writes max for min over N_i",
    ),
    Statement(
        "thm:sto",
        "stochastic activations: known q, and weights q_j / Q_i",
        ("mtcool.theory.stochastic", "mtcool.theory.stochastic_independence"),
        (
            ALGORITHMS + "test_oracle_equality.py::test_stochastic_rates_equal_the_oracle",
            THEORY + "test_the_independence_number_bounds_the_stochastic_theorem",
        ),
        erratum="sqrt(T ln N) is too small for N <= 2: 1 in place of ln N",
    ),
    Statement(
        "rmk:unknown_q, apx:unknown_q",
        "two phases for unknown q",
        ("mtcool.learners.first_phase", "mtcool.theory.unknown_q"),
        (ALGORITHMS + "test_oracle_equality.py::test_the_two_phase_strategy_equals_the_oracle",),
        erratum="the statement has 4 / q_min in tau, its proof needs 12; the trivial regret is 2 T",
    ),
    Statement(
        "thm:lower-bound",
        "what no algorithm can avoid: twice independent sets, variance, regular graphs",
        ("mtcool.theory.any_algorithm", "mtcool.theory.regular_graphs"),
        (
            THEORY + "test_no_algorithm_beats_the_twice_independent_adversary",
            THEORY + "test_no_algorithm_beats_the_multitask_adversary",
            THEORY + "test_no_algorithm_beats_the_family_of_regular_graphs",
        ),
        measure.over_the_floor,
        "needs variances up to N / (N - 1), as many rounds as agents, and T >= alpha_2",
    ),
    Statement(
        "fig:2_regular, fig:4_regular, fig:6_regular",
        "the family of regular graphs behind the second lower bound",
        ("mtcool.streams.regular_family",),
        (THEORY + "test_groups_of_the_family_are_far_apart",),
        erratum="ring lattices with groups every 2 K + 1 agents serve as well as every 5 K / 2",
    ),
    Statement(
        "def:loss-level-priv",
        "loss-level differential privacy",
        ("mtcool.audit.forced_transcript", "mtcool.audit.black_box"),
        (
            AUDIT + "test_200_neighbouring_pairs_never_exceed_the_budget",
            AUDIT + "test_from_outside_the_tree_looks_as_private_as_it_is",
        ),
        erratum="speaks of one agent's messages; the joint transcript of all agents is as private",
    ),
    Statement(
        "alg:DOPE_learning, alg:mt-ftrl-DP",
        "DPMT-CO2OL and DPMT-FTRL",
        ("mtcool.dpmt_co2ol", "mtcool.learners.dp_mt_ftrl.tell_row"),
        (
            PRIVACY + "test_private_oracle.py::test_dpmt_co2ol_equals_the_oracle",
            PRIVACY + "test_private_network.py::test_without_noise_it_is_mt_co2ol",
        ),
        erratum="the sums of products must run to s <= t; rows must be clipped by who uses them",
    ),
    Statement(
        "th:privacy",
        "DPMT-CO2OL is epsilon-DP",
        ("mtcool.privacy.calibration.calibrate",),
        (
            AUDIT + "test_the_worst_case_attains_the_budget",
            PRIVACY + "test_calibration.py::test_true_epsilon_of_the_published_calibration",
        ),
        measure.published_privacy,
        "sensitivity is 2 sqrt(d), a leaf lies in K nodes, not ln T; linear losses are not needed, "
        "nor is composition over neighbours and experts (docs/privacy.md)",
    ),
    Statement(
        "th:reg-DP_anyG",
        "regret of DPMT-CO2OL, and the epsilon below which sharing hurts",
        (
            "mtcool.theory.private",
            "mtcool.theory.sharing_cutoff",
            "mtcool.theory.published_cutoff",
        ),
        (
            CUTOFF + "test_at_the_cutoff_the_two_bounds_are_equal",
            CUTOFF + "test_the_papers_noise_and_constants_have_a_cutoff_in_large_cliques_only",
            THEORY + "test_the_price_of_privacy_falls_with_epsilon_and_rises_with_the_dimension",
            PRIVACY + "test_private_regret.py::test_measured_regret_is_below_the_bound",
            PAPER + "privacy.toml",
        ),
        measure.private_regret,
        "needs linear losses; noise terms and Laplace's variance are miscounted; with its "
        "constants the bound has a cut-off in cliques of more than 460 agents only",
    ),
    Statement(
        "thm:mainftrlthm2, lem:alternative_2",
        "FTRL and Hedge with noise (lemmas)",
        ("mtcool.theory.private",),
        (
            PRIVACY + "test_private_regret.py::"
            "test_a_sum_with_tree_noise_costs_what_one_fixed_noise_costs",
        ),
        erratum="K noise terms for each sum, not ln T",
    ),
    Statement(
        "remark after th:reg-DP_anyG",
        "noise on every gradient is too coarse",
        ("mtcool.privacy.PerGradient", "mtcool.theory.per_gradient_noise"),
        (
            PRIVACY + "test_aggregators.py::test_an_aggregator_passes_every_check",
            KNOWN + "test_the_mean_regret_of_every_mechanism_is_below_its_bound",
            CUTOFF + "test_with_a_tree_it_vanishes_and_with_noise_on_every_gradient_it_does_not",
            PAPER + "privacy-rounds.toml",
        ),
        measure.noise_on_every_gradient,
        "the order d / epsilon is not proved; (d / epsilon)^2 holds for convex losses "
        "(docs/bounds.md)",
    ),
    Statement(
        "second remark after th:reg-DP_anyG",
        "knowing the task variances reduces the cost of privacy",
        ("mtcool.theory.known_variances", "mtcool.theory.private_known_variances"),
        (
            KNOWN + "test_the_bounds_are_what_they_say",
            KNOWN + "test_the_cost_of_noise_is_its_mean_maximum_and_half_of_it_would_not_be",
            KNOWN + "test_the_mean_private_regret_is_below_the_bound_and_not_below_half_of_it",
        ),
        measure.known_variances,
        "max - min of the noise in the proof is twice what it costs (docs/bounds.md)",
    ),
    Statement(
        "fig:expe_1",
        "regret over time at sigma-bar about .08",
        ("mtcool.experiments.running.suite.paper_tasks",),
        (
            "tests/experiments/test_paper.py::test_with_bound_4_each_algorithm_has_its_range",
            PAPER + "figures.toml",
        ),
        measure.figure_1,
        "neither d nor L is stated; the ordering appears around L = 4 and not at L = 1",
    ),
    Statement(
        "fig:expe_2",
        "regret against sigma-bar",
        ("mtcool.experiments.running.suite.paper_tasks",),
        (
            "tests/experiments/test_paper.py::test_with_bound_4_each_algorithm_has_its_range",
            PAPER + "figures.toml",
            PAPER + "hedge.toml",
        ),
        measure.figure_2,
    ),
    Statement(
        "lem:invert",
        "sums over (i, j in N_i) may be taken in either order",
        ("mtcool.Graph",),
        (ALGORITHMS + "test_lemma.py::test_the_regret_is_the_sum_of_the_regrets_of_the_cliques",),
    ),
    Statement(
        "sec:fail",
        "the pairwise approach",
        ("mtcool.pairwise", "mtcool.theory.pairwise", "mtcool.theory.pairwise_stochastic"),
        (
            ALGORITHMS + "test_oracle_equality.py::test_pairwise_equals_the_oracle",
            PAIRS + "test_measured_regret_never_exceeds_the_bound",
            PAIRS + "test_no_weights_make_the_bound_better_than_learning_alone",
            PAPER + "pairwise.toml",
        ),
        measure.pairwise,
        "its bound is no better than that of learning alone; its regret can be",
    ),
    Statement(
        "alg:mt-ftrl-kt",
        "MT-FTRL with KT",
        ("mtcool.learners.MTFTRLKT", "mtcool.learners.KT"),
        (
            ALGORITHMS
            + "test_oracle_equality.py::test_mt_co2ol_with_a_closed_form_equals_the_oracle",
        ),
        erratum="the box leaves out max w_ij; one agent alone needs no factor sqrt(1 / 2)",
    ),
    Statement(
        "th:basebound",
        "regret of MT-CO2OL with KT",
        ("mtcool.theory.kt",),
        (
            ALGORITHMS + "test_guarantees.py::test_mt_co2ol_with_kt_keeps_its_bound",
            THEORY + "test_measured_regret_never_exceeds_the_bound",
        ),
        measure.tightest_kt,
        "drops max w_ij; the 2 of `eq:regret_ball` is 1/2 + 2 N / (N + 1)",
    ),
    Statement(
        "remark after th:basebound",
        "KT with stochastic rates",
        ("mtcool.theory.kt_stochastic",),
        (
            BETTING + "test_on_a_clique_with_equal_probabilities_it_is_the_adversarial_bound",
            BETTING + "test_the_direction_is_the_mean_of_what_its_proof_sums_up",
            BETTING + "test_the_mean_regret_is_below_the_bound",
        ),
        measure.kt_stochastic,
    ),
)
