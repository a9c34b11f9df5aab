"""The library predicts what the obvious implementation predicts, at every step, for every agent."""

import functools

import networkx as nx
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import mtcool
import oracle
from mtcool.learners import FTRL, KT, MTFTRL, MTFTRLKT

# The median difference is 4e-14. `test_argmin.py` holds the experts to 1e-10, and
# `test_reductions.py` the mixture of experts.
CLARABEL_ACCURACY = 2e-5
ROUNDING = 1e-12

HEDGES = [
    (MTFTRL(), {}),
    (MTFTRL(free_last=True), {"free_last": True}),
    (MTFTRL("geometric"), {"experts": oracle.geometric_experts}),
    (MTFTRL((0.0, 0.3, 2.0)), {"experts": lambda size: [0.0, 0.3, 2.0]}),
    (MTFTRL((0.2,)), {"experts": lambda size: [0.2]}),
]
CLOSED_FORMS = [(MTFTRLKT(), oracle.HedgeFreeKT), (FTRL(), oracle.FTRL), (KT(), oracle.KT)]

few = settings(
    max_examples=12, deadline=None, derandomize=True, database=None, phases=[Phase.generate]
)
many = settings(few, max_examples=30)


@st.composite
def cases(draw, rounds=8):
    """A graph, weights, units, and what happens on it."""
    size, dim = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    graph = nx.gnp_random_graph(size, draw(st.sampled_from([0.0, 0.3, 0.6, 1.0])), seed=rng)
    q = rng.dirichlet(np.full(size, 2.0))
    kind = draw(st.sampled_from(["uniform", "proportional", "delegation", "random", "sparse"]))
    case = {
        "graph": graph,
        "weights": weights_of(kind, graph, q, rng),
        "q": q,
        "dim": dim,
        "lipschitz": draw(st.sampled_from([0.25, 1.0, 3.0])),
        "radius": draw(st.sampled_from([0.5, 1.0, 10.0])),
        "agents": rng.integers(size, size=rounds),
        "gradients": gradients(rounds, dim, draw(st.sampled_from(["push", "any", "tiny"])), rng),
    }
    case["gradients"] *= case["lipschitz"]
    return case


def weights_of(kind, graph, q, rng):
    """The matrix that the library gets; its words are tested below."""
    if kind == "uniform":
        return oracle.uniform(graph)
    if kind == "proportional":
        return oracle.proportional(graph, q)
    if kind == "delegation":
        return oracle.delegation(graph, mtcool.graphs.smallest_dominating_set(graph).tolist())
    weights = np.zeros((len(graph), len(graph)))
    for i in graph:
        near = oracle.neighbourhood(graph, i)
        parts = rng.exponential(size=len(near)) ** 2
        if kind == "sparse":
            parts *= rng.random(len(near)) < 0.5
            parts[rng.integers(len(near))] += 0.1
        weights[i, near] = parts / parts.sum()
    return weights


def gradients(rounds, dim, kind, rng):
    """Gradients of norm at most one; "push" drives rows onto the ball, some are zero."""
    g = rng.standard_normal((rounds, dim))
    if kind == "push":
        g = np.abs(g) + 0.3
    g /= np.linalg.norm(g, axis=1, keepdims=True)
    if kind != "push":
        g *= rng.random((rounds, 1)) * (1.0 if kind == "any" else 1e-3)
        g[rng.random(rounds) < 0.1] = 0.0
    return g


def units(case):
    return {name: case[name] for name in ("lipschitz", "radius")}


def assert_same_play(net, reference, case, tolerance):
    """Ask every agent and tell one, in every round."""
    scale = case["radius"]
    for agent, gradient in zip(case["agents"], case["gradients"], strict=True):
        net.update(agent, gradient)
        reference.update(agent, gradient)
        for i in case["graph"]:
            np.testing.assert_allclose(
                net.predict(i), reference.predict(i), rtol=tolerance, atol=tolerance * scale
            )


def hedge_id(value):
    return repr(value) if isinstance(value, MTFTRL) else ""


@pytest.mark.parametrize(("learner", "options"), HEDGES, ids=hedge_id)
@few
@given(case=cases())
def test_mt_co2ol_with_hedge_equals_the_oracle(learner, options, case):
    graph, weights, dim = case["graph"], case["weights"], case["dim"]
    net = mtcool.mt_co2ol(graph, dim, learner=learner, weights=weights, **units(case))
    hedge = functools.partial(oracle.Hedge, **options)
    reference = oracle.mt_co2ol(graph, weights, hedge, dim, **units(case))
    assert_same_play(net, reference, case, CLARABEL_ACCURACY)


@pytest.mark.parametrize(("learner", "slow"), CLOSED_FORMS)
@many
@given(case=cases(rounds=30))
def test_mt_co2ol_with_a_closed_form_equals_the_oracle(learner, slow, case):
    graph, weights, dim = case["graph"], case["weights"], case["dim"]
    net = mtcool.mt_co2ol(graph, dim, learner=learner, weights=weights, **units(case))
    reference = oracle.mt_co2ol(graph, weights, slow, dim, **units(case))
    assert_same_play(net, reference, case, ROUNDING)


@pytest.mark.parametrize(
    ("learner", "slow", "tolerance"),
    [(MTFTRL(), oracle.Hedge, CLARABEL_ACCURACY), (MTFTRLKT(), oracle.HedgeFreeKT, ROUNDING)],
)
@few
@given(case=cases())
def test_stochastic_rates_equal_the_oracle(learner, slow, tolerance, case):
    graph, weights, dim, q = case["graph"], case["weights"], case["dim"], case["q"]
    net = mtcool.mt_co2ol(
        graph, dim, learner=learner, weights=weights, rates="stochastic", q=q, **units(case)
    )
    rates = oracle.Stochastic(tuple(q))
    reference = oracle.mt_co2ol(graph, weights, slow, dim, rates, **units(case))
    assert_same_play(net, reference, case, tolerance)


@pytest.mark.parametrize(
    ("learner", "slow", "tolerance"),
    [
        (MTFTRL(), oracle.Hedge, CLARABEL_ACCURACY),
        (MTFTRLKT(), oracle.HedgeFreeKT, ROUNDING),
        (FTRL(), oracle.FTRL, ROUNDING),
    ],
)
@few
@given(case=cases())
def test_adaptive_rates_equal_the_oracle(learner, slow, tolerance, case):
    graph, weights, dim = case["graph"], case["weights"], case["dim"]
    net = mtcool.mt_co2ol(
        graph, dim, learner=learner, weights=weights, rates="adaptive", **units(case)
    )
    reference = oracle.mt_co2ol(graph, weights, slow, dim, oracle.FromWeights(), **units(case))
    assert_same_play(net, reference, case, tolerance)


@pytest.mark.parametrize(
    ("learner", "slow", "tolerance"),
    [(MTFTRL(), oracle.Hedge, CLARABEL_ACCURACY), (MTFTRLKT(), oracle.HedgeFreeKT, ROUNDING)],
)
def test_the_two_phase_strategy_equals_the_oracle(learner, slow, tolerance):
    rng = np.random.default_rng(5)
    graph = nx.Graph([(0, 1)])
    graph.add_node(2)
    weights = np.array([[0.7, 0.3, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    q_min, horizon = 1 / 3, 2
    tau = oracle.first_phase(3, q_min, horizon)
    agents = rng.choice([0, 1], size=2 * tau, p=[0.6, 0.4])
    late = np.cumsum(agents == 0).searchsorted(tau) + 8  # agent 0's own clique hears nobody else
    case = {
        "graph": graph,
        "radius": 2.0,
        "agents": agents[:late],
        "gradients": gradients(late, 2, "any", rng),
    }
    net = mtcool.mt_co2ol(
        graph,
        2,
        learner=learner,
        weights=weights,
        radius=2.0,
        rates="estimated",
        q_min=q_min,
        horizon=horizon,
    )
    reference = oracle.mt_co2ol(graph, weights, slow, 2, oracle.Estimated(tau), radius=2.0)
    assert_same_play(net, reference, case, tolerance)
    assert all(np.abs(net.predict(i)).max() > 0.0 for i in (0, 1))
    assert (net.predict(2) == 0.0).all()


@pytest.mark.parametrize(
    ("learner", "slow", "tolerance"),
    [(MTFTRL(), oracle.Hedge, CLARABEL_ACCURACY), (MTFTRLKT(), oracle.HedgeFreeKT, ROUNDING)],
)
@few
@given(case=cases())
def test_pairwise_equals_the_oracle(learner, slow, tolerance, case):
    graph, weights, dim = case["graph"], case["weights"], case["dim"]
    net = mtcool.pairwise(graph, dim, learner=learner, weights=weights, **units(case))
    reference = oracle.pairwise(graph, weights, slow, dim, **units(case))
    assert_same_play(net, reference, case, tolerance)


@pytest.mark.parametrize(("learner", "slow"), [(FTRL(), oracle.FTRL), (KT(), oracle.KT)])
@many
@given(case=cases(rounds=30))
def test_i_ftrl_equals_the_oracle(learner, slow, case):
    graph, dim = case["graph"], case["dim"]
    net = mtcool.i_ftrl(graph, dim, learner=learner, **units(case))
    assert_same_play(net, oracle.i_ftrl(graph, slow, dim, **units(case)), case, ROUNDING)


@pytest.mark.parametrize(("learner", "slow"), [(FTRL(), oracle.FTRL), (KT(), oracle.KT)])
@many
@given(case=cases(rounds=30))
def test_st_ftrl_equals_the_oracle(learner, slow, case):
    graph, dim, radius, lipschitz = (case[name] for name in ("graph", "dim", "radius", "lipschitz"))
    net = mtcool.st_ftrl(graph, dim, learner=learner, **units(case))
    reference = oracle.SingleTaskNetwork(graph, slow, dim, **units(case))
    # A loss that differs from point to point: its gradient points away from a target.
    targets = [radius / lipschitz * g for g in case["gradients"]]
    losses = [lambda x, z=z: lipschitz * oracle.project((x - z) / radius) for z in targets]
    assert_same_play(net, reference, case | {"gradients": losses}, ROUNDING)


@pytest.mark.parametrize("word", ["uniform", "proportional", "delegation"])
@few
@given(case=cases())
def test_named_weights_equal_the_oracle(word, case):
    graph, dim, q = case["graph"], case["dim"], case["q"]
    given = {"q": q} if word == "proportional" else {}
    net = mtcool.mt_co2ol(graph, dim, learner=MTFTRLKT(), weights=word, **given, **units(case))
    weights = weights_of(word, graph, q, None)
    reference = oracle.mt_co2ol(graph, weights, oracle.HedgeFreeKT, dim, **units(case))
    assert_same_play(net, reference, case, ROUNDING)


def test_clipping_shortens_gradients_to_the_lipschitz_constant():
    graph = nx.path_graph(3)
    net = mtcool.mt_co2ol(graph, 2, learner=MTFTRLKT(), lipschitz=2.0, on_excess="clip")
    reference = oracle.mt_co2ol(graph, oracle.uniform(graph), oracle.HedgeFreeKT, 2, lipschitz=2.0)
    rng = np.random.default_rng(0)
    for agent, g in zip(rng.integers(3, size=20), 3 * rng.standard_normal((20, 2)), strict=True):
        net.update(agent, g)
        reference.update(agent, 2.0 * oracle.project(g / 2.0))
        for i in graph:
            np.testing.assert_allclose(net.predict(i), reference.predict(i), ROUNDING, ROUNDING)
