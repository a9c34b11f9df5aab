"""The slow twin of networks as they are: what must hold of it whatever the library does."""

import functools
import itertools
import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import exact_rows
import field_cases
import field_cliques
import field_messages
import oracle
from field_cliques import learner_of
from field_oracle import FieldNetwork

ROUNDING = 1e-12
# Of cvxpy, in the rows of an expert: see `oracle.TOLERANCES`.
CLARABEL_ACCURACY = 2e-5
LEARNERS = [{"name": name} for name in field_cliques.LEARNERS]

settings_of = functools.partial(
    settings, deadline=None, derandomize=True, database=None, phases=[Phase.generate]
)

cases = functools.partial(field_cases.cases, rates=field_cases.ALL_RATES)


def path(*agents):
    """The graph of agents in a row."""
    near = {agent: set() for agent in agents}
    for a, b in itertools.pairwise(agents):
        near[a].add(b)
        near[b].add(a)
    return near


def taught(graph, learner, rounds=30, dim=2, seed=3, **options):
    """A network some rounds on, in which all push the same way."""
    net = FieldNetwork(graph, dim, learner_of(**learner), **options)
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        gradient = -(0.7 + 0.2 * rng.random(dim)) / math.sqrt(dim)
        net.update(list(graph)[rng.integers(len(graph))], gradient)
    return net


def same_records(one, other, tolerance=0.0):
    for name, record in one.records().items():
        for field, value in record.items():
            assert value == pytest.approx(other.records()[name][field], rel=tolerance, abs=0)


# --- the pieces -------------------------------------------------------------------------------


def test_draws_are_splitmix64():
    # The first three numbers that SplitMix64 gives from zero, as published.
    first = [field_messages.mix(k * field_messages.GOLDEN & field_messages.MASK) for k in (1, 2, 3)]
    assert first == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_draws_are_uniform_and_change_with_every_argument():
    draws = [field_messages.draw(5, *place) for place in itertools.product(range(6), repeat=5)]
    assert len(set(draws)) == 6**5
    assert max(draws) < 1
    spread = np.histogram(draws, bins=10, range=(0, 1))[0] / 6**5
    assert abs(spread - 0.1).max() < 5 * math.sqrt(0.09 / 6**5)


@settings_of(max_examples=40)
@given(
    size=st.integers(1, 9),
    dim=st.integers(1, 3),
    xi=st.sampled_from([0.0, 0.05, 0.2, 0.5, 1.0, 2.0, math.inf]),
    scale=st.sampled_from([0.1, 1.0, 10.0, 50.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_exact_minimiser_is_no_worse_than_cvxpys(size, dim, xi, scale, seed):
    rng = np.random.default_rng(seed)
    linear = scale * (rng.standard_normal((size, dim)) + rng.standard_normal(dim))
    linear[rng.random(size) < 0.3] = 0.0

    def objective(x):
        return (linear * x).sum() + oracle.interaction_norm(x) ** 2 / 2

    x, other = exact_rows.minimiser(linear, xi), oracle.minimiser(linear, xi)
    assert np.linalg.norm(x, axis=1).max() <= 1 + ROUNDING
    assert oracle.variance(x) <= xi * (1 + ROUNDING) + ROUNDING
    assert objective(x) <= objective(other) + 1e-8 * max(1.0, scale)
    np.testing.assert_allclose(x, other, atol=CLARABEL_ACCURACY * max(1.0, scale))


@pytest.mark.parametrize("bits", [1, 2, 5])
def test_bits_are_right_on_average_and_within_their_bounds(bits):
    rng = np.random.default_rng(bits)
    v = rng.standard_normal(3)
    v /= np.linalg.norm(v)
    code = field_messages.Bits(3, bits)
    coded = np.array([code.coded(v, rng.random(3)) for _ in range(20_000)])
    step = 2 * np.abs(v).max() / code.levels
    assert abs(coded.mean(axis=0) - v).max() < 5 * step / 2 / math.sqrt(20_000)
    assert np.linalg.norm(coded, axis=1).max() <= code.kappa + 1e-6
    assert (coded**2).sum(axis=1).mean() <= code.power + 0.01


def test_a_scale_is_rounded_up_to_a_float_of_32_bits():
    assert field_messages.float_up(0.1) == float(np.float32(0.1)) > 0.1
    assert field_messages.float_up(0.3) >= 0.3
    assert field_messages.float_up(0.5) == 0.5
    assert 0 < field_messages.float_up(1e-60) < 1e-44


def test_plain_messages_have_the_bytes_that_networks_of_old_send():
    # In the documentation of `mtcool.agents.messages.encode`.
    assert field_messages.plain_size("gradient", "rome", 16) == 35


# --- without a field --------------------------------------------------------------------------

OLD = [
    ({"name": "MTFTRL"}, oracle.Hedge, CLARABEL_ACCURACY),
    (
        {"name": "MTFTRL", "experts": "geometric", "free_last": True},
        functools.partial(oracle.Hedge, experts=oracle.geometric_experts, free_last=True),
        CLARABEL_ACCURACY,
    ),
    ({"name": "MTFTRLKT"}, oracle.HedgeFreeKT, ROUNDING),
    ({"name": "FTRL"}, oracle.FTRL, ROUNDING),
    ({"name": "KT"}, oracle.KT, ROUNDING),
]
RATES = {"adversarial": oracle.Adversarial(), "adaptive": oracle.FromWeights()}


@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("given_weights", [False, True])
@pytest.mark.parametrize(("learner", "old", "tolerance"), OLD)
def test_plain_messages_and_no_changes_are_mt_co2ol(learner, old, tolerance, given_weights, rates):
    graph = nx.Graph([(0, 1), (1, 2), (2, 0), (2, 3)])
    near = {i: set(graph.neighbors(i)) for i in graph}
    weights = oracle.uniform(graph)
    if given_weights:
        weights = oracle.proportional(graph, np.array([0.1, 0.4, 0.2, 0.3]))
    named = {(i, j): weights[i, j] for i in graph for j in graph if weights[i, j] > 0}
    units = {"lipschitz": 2.0, "radius": 3.0}
    reference = oracle.mt_co2ol(graph, weights, old, 2, RATES[rates], **units)
    net = FieldNetwork(
        near, 2, learner_of(**learner), named if given_weights else None, rates, **units
    )
    rng = np.random.default_rng(0)
    vectors = field_cases.gradients(12 if old is not oracle.KT else 40, 2, rng=rng, kind="push")
    for gradient in vectors:
        agent = int(rng.integers(4))
        net.update(agent, 2.0 * gradient)
        reference.update(agent, 2.0 * gradient)
        for i in graph:
            np.testing.assert_allclose(net.predict(i), reference.predict(i), atol=3 * tolerance)


def test_messages_are_three_for_each_neighbour():
    net = taught(path("a", "b", "c"), {"name": "FTRL"}, rounds=20)
    for agent, near in {"a": 1, "b": 2, "c": 1}.items():
        assert net.messages[agent] == 3 * near * net.begun[agent]
        assert net.contents[agent] == 2 * 16 * near * net.begun[agent]


# --- the field --------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_new_agent_starts_with_what_its_neighbours_know(learner):
    net = taught(path("a", "b", "c"), learner)
    net.join("new", ["a", "b"])
    assert net.predict("new").min() > 0.02
    rows = [net.cliques[name].row("new") for name in ("a", "b")]
    np.testing.assert_allclose(net.predict("new"), np.mean(rows, axis=0), atol=ROUNDING)
    net.update("new", np.zeros(2))  # no longer fresh: its own clique counts from now on
    assert net.view("new").rows.keys() == {"a", "b", "new"}


@pytest.mark.parametrize("learner", LEARNERS)
def test_an_agent_that_returns_finds_its_sums(learner):
    # With a budget agents may be alone at any time: the bounds are one from the start.
    net = taught(path("a", "b", "c"), learner, messages={"budget": 10**6})
    predictions, records = [net.predict(agent) for agent in "abc"], net.records()
    net.leave("b")
    alone = net.predict("a")
    net.join("b", ["a", "c"])
    assert net.records() == records
    np.testing.assert_array_equal([net.predict(agent) for agent in "abc"], predictions)
    assert not np.array_equal(alone, predictions[0])


@pytest.mark.parametrize("learner", LEARNERS)
def test_slots_double_when_none_is_left_and_sums_stay(learner):
    net = taught(path("a", "b"), learner)
    clique = net.cliques["a"]
    before = clique.row("a")
    for k, (slots, doublings) in enumerate([(4, 1), (4, 1), (8, 2)]):
        net.join(k, ["a"])
        assert (clique.slots, clique.doublings) == (slots, doublings)
    assert list(clique.rows) == ["a", "b", 0, 1, 2]
    assert clique.row("a") @ before > 0
    for k in range(3):
        net.leave(k)
        net.join(k, ["a"])
    assert (clique.slots, clique.doublings) == (8, 2)


def test_new_experts_go_on_where_old_ones_of_their_size_were():
    hedge = field_cliques.Hedge(2, 1)
    hedge.losses[:] = [3.0, 5.0]  # of the variances 1/2 and 1, so that xi (M - 1) is the same
    hedge.grow()
    assert hedge.xis == [0.25, 0.5, 0.75, 1.0]  # times 3
    assert hedge.losses.tolist() == [5.0, 5.0, 5.0, 5.0]
    hedge = field_cliques.Hedge(4, 1, experts=(0.0, 0.5, 2.0))
    hedge.losses[:] = [1.0, 2.0, 3.0]  # with 3 / 2 and 6
    hedge.grow()
    assert hedge.losses.tolist() == [1.0, 3.0, 3.0]  # for 0, 7 / 2 and 14


def test_a_coin_in_a_larger_unit_keeps_its_potential():
    coin = field_cliques.Coin()
    for outcome in (1.0, 0.5, -0.25, 1.0):
        coin.toss(-outcome)
    wealth, outcomes = coin.wealth, coin.outcomes
    coin.rescale(0.5)
    assert (coin.wealth, coin.outcomes) == (0.5 * wealth + 0.5, 0.5 * outcomes)


DELAYS = [{}, {"constant": 0}, {"mean": 0, "edges": {("a", "b"): 0}}]


@settings_of(max_examples=30)
@given(case=cases(delays=False), law=st.sampled_from(DELAYS))
def test_a_delay_of_zero_is_none(case, law):
    on_time, late = (
        case.twin(),
        case.twin(delays=dict.fromkeys(("gradients", "rows", "labels"), law)),
    )
    tiny = case.twin(delays={"gradients": {"mean": 1e-3}, "labels": {"mean": 1e-3}})
    expected = case.play(on_time)
    for net in (late, tiny):
        np.testing.assert_array_equal(case.play(net), expected)
        same_records(net, on_time)
        assert net.messages == on_time.messages


@settings_of(max_examples=30)
@given(case=cases())
def test_weights_and_coins_stay_within_what_was_announced(case):
    """The assertions of `Clique.learn` and `Coin.toss` hold, and bounds never fall."""
    net = case.twin()
    bounds = {}

    def rise(step):
        for name, clique in net.cliques.items():
            assert clique.b >= bounds.get(name, 0.0)
            assert clique.b > 0
            bounds[name] = clique.b

    predictions = case.play(net, rise)
    assert np.isfinite(predictions).all()


@settings_of(max_examples=30)
@given(case=cases())
def test_asking_changes_nothing(case):
    asked, other = case.twin(), case.twin()
    expected = case.play(other)

    def ask(step):
        for agent in asked.present:
            asked.predict(agent)

    np.testing.assert_array_equal(case.play(asked, ask), expected)


@settings_of(max_examples=30)
@given(case=cases(delays=False))
def test_ask_and_tell_plays_as_a_simulation_does(case):
    told, played = case.twin(), case.twin()
    expected, predictions = case.play(played), []
    for step in case.steps:
        if step[0] == "round":
            predictions.append(told.predict(step[1]))
        case.tell(told, step)
    np.testing.assert_array_equal(np.array(predictions), expected)


@pytest.mark.parametrize("law", [3, {"mean": 2.0}, {"edges": {("b", "c"): 4, ("c", "b"): 1}}])
def test_the_order_of_late_gradients_does_not_matter_for_sums(law):
    graph = path("a", "b", "c")
    on_time, late = (
        FieldNetwork(graph, 2, learner_of("FTRL"), delays={"gradients": law, "labels": labels})
        for labels in (0, {"mean": 3.0})
    )
    on_time.set_delays()
    rng = np.random.default_rng(2)
    for gradient in rng.uniform(-0.5, 0.5, (40, 2)):
        agent = "abc"[rng.integers(3)]
        for net in (on_time, late):
            net.round(agent, lambda _, told=gradient: told)
    assert late.post or late.labels
    while late.post or late.labels:
        late.end()
    for name, clique in late.cliques.items():
        other = on_time.cliques[name]
        np.testing.assert_allclose(clique.learner.total, other.learner.total, atol=ROUNDING)
        assert abs(clique.R - other.R) < ROUNDING
        assert other.A == 0
        assert clique.A > 0


@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("learner", LEARNERS)
def test_52_bits_are_plain(learner, rates):
    plain, coded = (
        taught(path(*range(4)), learner, dim=3, rates=rates, messages=messages)
        for messages in ({}, {"bits": 52})
    )
    for agent in range(4):
        np.testing.assert_allclose(plain.predict(agent), coded.predict(agent), atol=ROUNDING)
    same_records(plain, coded, 1e-12)


def test_a_late_gradient_gets_credit_for_what_came_in_between():
    net = FieldNetwork(
        path("a", "b"), 1, learner_of("FTRL"), rates="adaptive", delays={"gradients": 2}
    )
    for agent in "ab":
        net.update(agent, [0.5])
    clique = net.cliques["b"]
    assert (clique.R, clique.W, clique.A) == (0.5, 0.25, 0.0)  # b's own
    net.update("a", [0.5])  # at the end of this round the gradient of the first comes
    assert (clique.R, clique.W, clique.A) == (1.0, 1.0, 0.5)  # 2 w D = 2 (1/2) (1/2)


def test_a_late_label_gets_credit_in_the_own_clique_too():
    net = FieldNetwork(path("a"), 1, learner_of("FTRL"), rates="adaptive", delays={"labels": 1})
    clique, seen = net.cliques["a"], []
    for _ in range(3):
        net.round("a", lambda _: [0.5])
        seen.append((clique.R, clique.W))
    assert seen == [(0.0, 0.0), (1.0, 1.0), (2.0, 4.0)]  # 1 + 2 w D with D = 1


@pytest.mark.parametrize("delays", [{"gradients": 2}, {"labels": 2}])
def test_what_is_late_is_dropped_with_the_agent_and_not_with_the_edge(delays):
    def heard(*changes):
        net = FieldNetwork(path("a", "b", "c"), 1, learner_of("FTRL"), delays=delays)
        net.round("a", lambda _: [0.5])
        for change, *arguments in changes:
            getattr(net, change)(*arguments)
        for _ in range(2):
            net.round("c", lambda _: [0.0])
        return net.cliques["a"].learner.total[0], net.cliques["b"].learner.total[0]

    assert heard() == heard(("disconnect", "a", "b")) == (0.25, 0.25)
    assert heard(("leave", "b")) == (0.25, 0.0)
    assert heard(("leave", "a")) == ((0.0, 0.0) if "labels" in delays else (0.25, 0.25))
    assert heard(("leave", "b"), ("join", "b", ["c"])) == (0.25, 0.25)


BOUNDS = [
    ({}, [1 / 2, 1 / 2, 1 / 2]),
    ({"messages": {"partners": 1}}, [1 / 2, 1 / 2, 1 / 2]),
    ({"messages": {"every": 2}}, [1, 1, 1]),
    ({"delays": {"rows": 1}}, [1, 1, 1]),
    ({"delays": {"gradients": 1, "labels": 3}}, [1 / 2, 1 / 2, 1 / 2]),
    ({"messages": {"bits": 1}}, [2 / 3, 2 / 2, 2 / 3]),  # kappa = 2
    ({"weights": "given"}, [0.9, 0.5, 0.6]),
    ({"weights": "given", "messages": {"probability": 0.5}}, [1, 1, 1]),
    ({"weights": "given", "messages": {"partners": 1}}, [0.9, 1, 0.6]),
]


@pytest.mark.parametrize(("options", "expected"), BOUNDS)
def test_bounds_are_those_of_the_largest_weights(options, expected):
    given = {("a", "a"): 0.9, ("a", "b"): 0.1, ("c", "c"): 0.6, ("c", "b"): 0.4}
    given |= {("b", "a"): 0.3, ("b", "b"): 0.5, ("b", "c"): 0.2}
    options = options | ({"weights": given} if "weights" in options else {})
    net = FieldNetwork(path("a", "b", "c"), 4, learner_of("FTRL"), **options)
    assert [net.cliques[name].b for name in "abc"] == pytest.approx(expected, rel=1e-12)


def test_a_fresh_agent_announces_more_and_bounds_never_fall():
    net = FieldNetwork(path("a", "b", "c"), 1, learner_of("KT"))
    net.join("new", ["a", "b"])
    assert [net.cliques[name].b for name in ("a", "b", "new")] == [1 / 2, 1 / 2, 1 / 3]
    net.disconnect("new", "a")
    assert [net.cliques[name].b for name in ("a", "b", "new")] == [1 / 2, 1, 1 / 2]
    net.leave("new")
    assert [net.cliques[name].b for name in ("a", "b", "new")] == [1 / 2, 1, 1 / 2]


def test_late_rows_are_used_as_they_were_and_the_newest_wins():
    net = FieldNetwork(path("a", "b"), 1, learner_of("FTRL"), delays={"rows": 1})
    assert net.cliques["a"].b == 1.0  # alone when nothing has come yet
    net.update("b", [-0.5])  # alone: the answer of a is under way
    assert net.view("a").rows.keys() == {"a"}
    net.update("a", [0.0])
    net.update("a", [0.0])
    row = net.view("b").rows["a"]
    assert (row.n, row.stamp) == (0, 0.0)
    assert net.view("a").rows["b"].n == 0  # that of n = 1 comes at the end of the next round
    net.update("b", [0.0])
    assert net.view("a").rows["b"].n == 1


def test_a_budget_is_never_exceeded_and_silence_is_alone():
    net = taught(path("a", "b", "c"), {"name": "FTRL"}, rounds=40, messages={"budget": 13})
    assert net.messages == {"a": 12, "b": 12, "c": 12}
    assert list(net.view("b").rows) == ["b"]
    assert net.view("b").weights == {"b": 1.0}


def test_the_best_partners_are_those_with_better_rows():
    net = FieldNetwork(
        path("a", "b", "c"), 1, learner_of("FTRL"), messages={"partners": 1, "choose": "best"}
    )
    seen = []
    for _ in range(2):  # each neighbour once, as nothing is known of them
        seen += [j for j in net.view("b").rows if j != "b"]
        net.update("b", [0.1])
    assert sorted(seen) == ["a", "c"]
    net.scores = {("b", "a"): 1.0, ("b", "c"): -1.0}
    assert list(net.view("b").rows) == ["a", "b"]
    net.disconnect("a", "b")
    net.connect("a", "b")
    assert list(net.view("b").rows) == ["a", "b"]  # unknown again
    net.scores["b", "c"] = 5.0
    assert list(net.view("b").rows) == ["a", "b"]


@pytest.mark.parametrize(
    ("change", "arguments"),
    [
        ("connect", ("a", "b")),
        ("connect", ("a", "a")),
        ("connect", ("a", "x")),
        ("disconnect", ("a", "c")),
        ("join", ("a", ["b"])),
        ("join", ("x", ["y"])),
        ("join", ("x", ["a", "a"])),
        ("leave", ("x",)),
        ("predict", ("x",)),
    ],
)
def test_what_cannot_be_is_refused(change, arguments):
    net = FieldNetwork(path("a", "b", "c"), 1, learner_of("FTRL"))
    with pytest.raises(ValueError, match="must"):
        getattr(net, change)(*arguments)
    assert net.index.keys() == net.present == {"a", "b", "c"}
