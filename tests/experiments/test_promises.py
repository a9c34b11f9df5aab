"""The theory next to the measured regret: records are asked, and means are compared with means."""

import msgspec
import numpy as np
import pytest
import small

from mtcool import theory
from mtcool.algorithms.i_ftrl import I_FTRL
from mtcool.config.graphs import build_graph
from mtcool.experiments.report.findings import theory_words
from mtcool.experiments.report.promises import promises
from mtcool.experiments.report.results import PointResults
from mtcool.experiments.report.theory_table import promise_rows
from mtcool.experiments.running.build import build_stream, probabilities
from mtcool.experiments.running.cells import run_cell
from mtcool.experiments.running.runner import jobs_of
from mtcool.experiments.running.suite import task_of

STOCHASTIC = """
name = "stochastic"
rounds = 300
replicates = 4
seed = 3

[graph]
kind = "erdos_renyi"
agents = 5
p = 0.6

[stream]
activations = { kind = "stochastic", skew = 1.0 }

[[algorithm]]
name = "known q"
algorithm = "mt_co2ol"
learner = "MTFTRLKT"
weights = "proportional"
rates = "stochastic"
lipschitz = 4.0

[[algorithm]]
name = "any order"
algorithm = "mt_co2ol"
learner = "MTFTRLKT"
lipschitz = 4.0
"""

PRIVATE = """
name = "private"
rounds = 400
replicates = 2
seed = 5

[graph]
kind = "ring"
agents = 4

[tasks]
kind = "gaussian"
smoothness = 1e6

[stream]
loss = "linear"
drift = 2.0
activations = { kind = "round_robin" }

[privacy]
epsilon = 5.0

[[algorithm]]
name = "tree"
algorithm = "dpmt_co2ol"
experts = [0.05]

[[algorithm]]
name = "each gradient"
algorithm = "dpmt_co2ol"
experts = [0.05]
aggregator = "per_gradient"

[[algorithm]]
name = "experts"
algorithm = "dpmt_co2ol"
"""


def jobs_in(folder, text):
    (jobs,) = jobs_of(task_of(small.write(folder, text)))
    return jobs


def with_regrets(cells, regrets):
    """The same cells, but for the regret at the end."""
    for cell, regret in zip(cells, regrets, strict=True):
        runs = [
            msgspec.structs.replace(run, regret=[*run.regret[:-1], regret]) for run in cell.runs
        ]
        yield msgspec.structs.replace(cell, runs=runs)


def test_a_bound_in_expectation_stands_next_to_the_mean_of_all_replicates(tmp_path):
    jobs = jobs_in(tmp_path, STOCHASTIC)
    results = PointResults.of({}, [run_cell(job) for job in jobs])
    known, any_order = promises(jobs[0], results).rows
    bounds = []
    for job in jobs:
        for_graph, for_stream, _ = job.seeds()
        graph = build_graph(job.point.graph, np.random.default_rng(for_graph))
        tasks = build_stream(job.point, graph, for_stream).comparator
        q = probabilities(job.point, graph.size)
        bounds.append(theory.kt_stochastic(graph, tasks, q, 300, lipschitz=4.0).value)
    assert (
        known.statement
        == "KT with stochastic rates (theorem of Appendix C, remark), in expectation"
    )
    assert known.measured == pytest.approx(results.final[:, 0].mean())
    assert known.ceiling == pytest.approx(np.mean(bounds))
    assert any_order.statement == "KT (theorem of Appendix C)"
    assert any_order.measured == results.final[0, 1]


def test_one_run_above_a_bound_in_expectation_does_not_break_it(tmp_path):
    jobs = jobs_in(tmp_path, STOCHASTIC)
    cells = [run_cell(job) for job in jobs]
    most = promises(jobs[0], PointResults.of({}, cells)).rows[0].ceiling
    lucky = list(with_regrets(cells, [2.0 * most, 0.0, 0.0, 0.0]))
    known, any_order = promises(jobs[0], PointResults.of({}, lucky)).rows
    assert known.ratio == pytest.approx(0.5)
    assert any_order.ratio > 1.0  # a bound that holds for every run
    all_above = list(with_regrets(cells, [2.0 * most] * 4))
    assert promises(jobs[0], PointResults.of({}, all_above)).rows[0].ratio == pytest.approx(2.0)


def test_a_mean_needs_all_replicates_to_meet_the_assumptions(tmp_path):
    jobs = jobs_in(tmp_path, STOCHASTIC)
    cells = [run_cell(job) for job in jobs]
    runs = [msgspec.structs.replace(run, clipped=1) for run in cells[2].runs]
    cells[2] = msgspec.structs.replace(cells[2], runs=runs)
    known, any_order = promises(jobs[0], PointResults.of({}, cells)).rows
    assert known.ceiling is None
    assert known.statement == "none: gradients were longer than L in some replicates"
    assert any_order.ceiling is not None


def test_the_record_of_an_algorithm_is_asked_for_its_bound(tmp_path):
    head = STOCHASTIC[: STOCHASTIC.index("[[algorithm]]")]
    text = '[[algorithm]]\nname = "alone"\nalgorithm = "i_ftrl"\nlipschitz = 9.0\nradius = 6.0\n'
    job = jobs_in(tmp_path, head + text)[0]
    results = PointResults.of({}, [run_cell(job)])
    asked, kept = [], I_FTRL.bound

    def answer(question):
        asked.append(question)
        return theory.Bound.of("mine: a bound", (), value=123.0)

    object.__setattr__(I_FTRL, "bound", answer)
    try:
        (row,) = promises(job, results).rows
    finally:
        object.__setattr__(I_FTRL, "bound", kept)
    assert (row.statement, row.ceiling) == ("mine: a bound", 123.0)
    (question,) = asked
    assert question.rounds == 300
    assert question.units == {"radius": 6.0, "lipschitz": 9.0}
    assert question.settings.algorithm is I_FTRL


def test_a_bound_above_the_trivial_one_is_called_so(tmp_path):
    text = '[[algorithm]]\nname = "few"\nalgorithm = "mt_co2ol"\nlipschitz = 9.0\nradius = 6.0\n'
    head = STOCHASTIC[: STOCHASTIC.index("[[algorithm]]")].replace(
        "replicates = 4", "replicates = 1"
    )
    (job,) = jobs_in(tmp_path, head.replace("rounds = 300", "rounds = 9") + text)
    point = promises(job, PointResults.of({}, [run_cell(job)]))
    (row,) = point.rows
    assert (row.trivial, row.says_nothing) == (2 * 6.0 * 9.0 * 9, True)
    assert promise_rows([point])[0][-1] == (
        "any graph (Theorem 3); it says nothing here, where no learner in the ball can have more "
        "than 972"
    )
    assert "the bound says nothing in 1 of 1" in " ".join(theory_words([point]))


PLACE = "regret theorem of Section 4, remark"


def test_private_algorithms_have_a_ceiling_where_their_expert_covers_the_tasks(tmp_path):
    jobs = jobs_in(tmp_path, PRIVATE)
    results = PointResults.of({}, [run_cell(job) for job in jobs])
    tree, each, experts = promises(jobs[0], results).rows
    assert tree.statement == f"private learning, known variances ({PLACE}), in expectation"
    assert each.statement == f"noise on every gradient ({PLACE}), in expectation"
    assert experts.statement == "none: no bound for it here"
    for k, row in enumerate((tree, each)):
        assert row.measured == pytest.approx(results.final[:, k].mean())
        assert row.measured <= row.ceiling


def test_a_bound_for_linear_losses_is_not_shown_for_others(tmp_path):
    text = PRIVATE.replace('loss = "linear"\ndrift = 2.0', 'loss = "quadratic"')
    text = text.replace('"gaussian"\nsmoothness = 1e6', '"variance"\nsigma = 0.1')
    text = text.replace("experts = [0.05]", "experts = [0.9]\nlipschitz = 9.0")
    (job, _) = jobs_in(tmp_path, text)
    tree, each, _ = promises(job, PointResults.of({}, [run_cell(job)])).rows
    assert (tree.ceiling, tree.statement) == (None, "none: losses are not linear")
    assert each.ceiling is not None
