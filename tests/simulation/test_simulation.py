"""Simulations: what is recorded and when, resuming, refused gradients, communication."""

import re

import msgspec
import networkx as nx
import numpy as np
import pytest

import mtcool
from mtcool.agents import encode
from mtcool.agents.traffic import name_sizes
from mtcool.axes import state_arrays
from mtcool.learners import FTRL, KT, MTFTRLKT
from mtcool.simulation.communication import communication
from mtcool.streams import Stream, quadratic
from mtcool.testing.peers.trial import play

WHEEL = mtcool.Graph.from_networkx(nx.wheel_graph(6))
ROUNDS = 700  # more than two chunks

# One compiled loop for every learner and kind of peers.
NETWORKS = {
    "mt_co2ol": lambda **kw: mtcool.mt_co2ol(WHEEL, 2, learner=MTFTRLKT(), **kw),
    "mt_co2ol, Hedge": lambda **kw: mtcool.mt_co2ol(WHEEL, 2, **kw),
    "pairwise": lambda **kw: mtcool.pairwise(WHEEL, 2, learner=MTFTRLKT(), **kw),
    "i_ftrl": lambda **kw: mtcool.i_ftrl(WHEEL, 2, **kw),
    "i_ftrl, KT": lambda **kw: mtcool.i_ftrl(WHEEL, 2, learner=KT(), **kw),
    "st_ftrl": lambda **kw: mtcool.st_ftrl(WHEEL, 2, **kw),
    "dpmt_co2ol": lambda **kw: private(**kw),
}


def private(on_excess="clip", **settings):
    """A private network, which always clips; two of them have the same noise."""
    assert on_excess == "clip"
    return mtcool.dpmt_co2ol(WHEEL, 2, mtcool.Privacy(20.0, ROUNDS), seed=0, **settings)


def make_stream(rounds=ROUNDS, seed=0, **settings):
    rng = np.random.default_rng(seed)
    targets = rng.normal(scale=0.3, size=(rounds, 2)).clip(-0.7, 0.7) + 0.1
    return Stream(rng.integers(6, size=rounds), quadratic(targets), **settings)


STREAM = make_stream(comparator=np.full((6, 2), 0.1))


def everything(network):
    """All arrays of the state as bytes, without the scratch that a prediction may write to."""
    return {
        name: array.tobytes()
        for name, array in state_arrays(network.peers.state)
        if not name.endswith(".model")
    }


def ask_and_tell(network, stream):
    """The losses that the network pays, agent by agent, played with predict and update."""
    losses = []
    for agent, loss in stream:
        losses.append(loss.value(network.predict(agent)))
        single_task = network.settings.algorithm.name == "st_ftrl"
        gradient = loss.subgradient if single_task else loss.subgradient(network.predict(agent))
        network.update(agent, gradient)
    return np.array(losses)


@pytest.fixture(params=NETWORKS)
def make(request):
    return lambda **settings: NETWORKS[request.param](**{"lipschitz": 4.0} | settings)


def test_losses_regrets_and_activations_are_recorded_at_the_chosen_times(make):
    times = [0, 1, 255, 256, 257, 600]
    trace = mtcool.simulate(make(), STREAM, times=times, per_agent=True)
    losses = ask_and_tell(make(), STREAM)
    best = np.array([loss.value([0.1, 0.1]) for _, loss in STREAM])
    for k, time in enumerate(times):
        mine = np.arange(6) == STREAM.agents[:time, np.newaxis]
        np.testing.assert_array_equal(trace.agent_activations[k], mine.sum(0))
        np.testing.assert_allclose(trace.agent_loss[k], losses[:time] @ mine, rtol=1e-12)
        regret = (losses - best)[:time] @ mine
        np.testing.assert_allclose(trace.agent_regret[k], regret, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(trace.loss[k], losses[:time].sum(), rtol=1e-12)
        np.testing.assert_allclose(trace.regret[k], regret.sum(), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(trace.times, times)


def test_times_that_stop_early_still_play_all_rounds(make):
    early, full = make(), make()
    trace = mtcool.simulate(early, STREAM, times=[3])
    whole = mtcool.simulate(full, STREAM)
    assert everything(early) == everything(full)
    assert trace.agent_activations.sum() == ROUNDS
    np.testing.assert_array_equal(trace.agent_loss, whole.agent_loss)
    assert trace.loss.shape == (1,)
    assert trace.loss[0] < whole.loss[-1]


def test_where_it_is_recorded_does_not_change_the_numbers(make):
    often = mtcool.simulate(make(), STREAM, times=np.arange(1, ROUNDS + 1))
    once = mtcool.simulate(make(), STREAM, times=ROUNDS)
    assert often.loss[-1] == once.loss[0]
    assert often.regret[-1] == once.regret[0]


@pytest.mark.parametrize("per_agent", [False, True])
def test_arrays_of_agents_have_a_row_for_every_time_only_if_asked_for(per_agent):
    network = NETWORKS["i_ftrl"](lipschitz=4.0)
    trace = mtcool.simulate(network, STREAM, times=[10, 20, 30], per_agent=per_agent)
    shape = (3, 6) if per_agent else (6,)
    for array in (trace.agent_activations, trace.agent_loss, trace.agent_regret):
        assert array.shape == shape
    assert trace.agent_activations.dtype == np.int64
    total = 60 if per_agent else ROUNDS
    assert trace.agent_activations.sum() == total
    for array in (trace.loss, trace.regret, trace.messages, trace.message_bytes):
        assert array.shape == (3,)


def test_by_default_it_records_a_hundred_times_up_to_the_end():
    trace = mtcool.simulate(NETWORKS["i_ftrl"](lipschitz=4.0), STREAM)
    np.testing.assert_array_equal(trace.times, np.arange(7, ROUNDS + 1, 7))


@pytest.mark.parametrize("rounds", [1, 2, 7, 99, 101])
def test_short_streams_are_recorded_up_to_the_end(rounds):
    trace = mtcool.simulate(NETWORKS["i_ftrl"](lipschitz=4.0), STREAM[:rounds])
    assert trace.times[-1] == rounds
    assert (np.diff(trace.times) > 0).all()


def test_a_stream_without_rounds_changes_nothing():
    network = NETWORKS["i_ftrl"]()
    before = everything(network)
    trace = mtcool.simulate(network, STREAM[:0])
    assert everything(network) == before
    assert (trace.times[-1], trace.loss[-1], trace.regret[-1], trace.messages[-1]) == (0, 0, 0, 0)


def test_without_a_comparator_there_is_no_regret():
    stream = make_stream()
    trace = mtcool.simulate(NETWORKS["i_ftrl"](lipschitz=4.0), stream)
    assert trace.regret is None
    assert trace.agent_regret is None


def test_a_comparator_given_overrides_the_streams_own():
    tasks = np.random.default_rng(5).normal(size=(6, 2))
    given = mtcool.simulate(NETWORKS["i_ftrl"](lipschitz=4.0), STREAM, comparator=tasks.tolist())
    own = make_stream(comparator=tasks)
    np.testing.assert_array_equal(
        given.regret, mtcool.simulate(NETWORKS["i_ftrl"](lipschitz=4.0), own).regret
    )


def test_the_comparator_does_not_touch_the_learning(make):
    with_tasks, without = make(), make()
    mtcool.simulate(with_tasks, STREAM)
    mtcool.simulate(without, make_stream())
    assert everything(with_tasks) == everything(without)


def test_a_second_simulation_goes_on_from_the_state_of_the_first(make):
    twice, told = make(), make()
    mtcool.simulate(twice, STREAM[:100])
    second = mtcool.simulate(twice, STREAM[:100], times=100)
    ask_and_tell(told, STREAM[:100])
    losses = ask_and_tell(told, STREAM[:100])
    assert everything(twice) == everything(told)
    np.testing.assert_allclose(second.loss, losses.sum(), rtol=1e-12)


@pytest.mark.parametrize("k", [1, 255, 333, ROUNDS - 1])
def test_a_stream_in_two_parts_is_the_stream_in_one(make, k):
    parts, whole = make(), make()
    first, second = mtcool.simulate(parts, STREAM[:k]), mtcool.simulate(parts, STREAM[k:])
    trace = mtcool.simulate(whole, STREAM)
    assert everything(parts) == everything(whole)
    np.testing.assert_allclose(first.agent_loss + second.agent_loss, trace.agent_loss, rtol=1e-12)


def with_bad_round(t, bad=(30.0, 40.0)):
    stream = Stream(STREAM.agents, STREAM.losses, STREAM.comparator)
    stream.losses.rows[t] = bad  # later: a stream with such numbers is refused
    return stream


@pytest.mark.parametrize("t", [0, 1, 254, 255, 500, ROUNDS - 1])
@pytest.mark.parametrize("bad", [(30.0, 40.0), (np.nan, 0.0), (np.inf, 0.0), (1e200, 0.0)])
def test_a_refused_gradient_stops_and_keeps_the_rounds_before(make, t, bad):
    stopped, prefix = make(), make()
    if stopped.sanitiser is not None and np.isfinite(bad).all():
        bad = (1e200, np.inf)  # the others are clipped
    agent = int(STREAM.agents[t])
    words = f"stream has a gradient in round {t} of agent {agent}"
    with pytest.raises(ValueError, match=re.escape(words)):
        mtcool.simulate(stopped, with_bad_round(t, bad))
    mtcool.simulate(prefix, STREAM[:t])
    assert everything(stopped) == everything(prefix)


@pytest.mark.parametrize("make", [name for name in NETWORKS if name != "dpmt_co2ol"], indirect=True)
def test_after_a_refused_gradient_the_rest_can_be_played(make):
    network, plain = make(), make()
    with pytest.raises(ValueError, match="the network holds the 400 rounds before it"):
        mtcool.simulate(network, with_bad_round(400))
    mtcool.simulate(network, STREAM[400:])
    mtcool.simulate(plain, STREAM)
    assert everything(network) == everything(plain)


@pytest.mark.parametrize("labelled", [False, True])
def test_a_refused_gradient_names_the_agent_as_the_network_does(labelled):
    names = ["roof", "yard", "gate"]
    stream = Stream([0, 2], quadratic([[0.1], [9.0]]), labels=names if labelled else None)
    with pytest.raises(ValueError, match="round 1 of agent 'gate'"):
        mtcool.simulate(mtcool.i_ftrl(nx.path_graph(names), 1), stream)


@pytest.mark.parametrize("bad", [(30.0, 40.0), (1e200, -1e200)])
def test_clipping_plays_on_with_shortened_gradients(make, bad):
    simulated, told = (make(lipschitz=1.0, on_excess="clip") for _ in range(2))
    stream = with_bad_round(300, bad)
    mtcool.simulate(simulated, stream)
    ask_and_tell(told, stream)
    assert everything(simulated) == everything(told)


@pytest.mark.parametrize("bad", [(np.nan, 0.0), (np.inf, 0.0), (1e200, np.inf)])
def test_clipping_refuses_what_cannot_be_shortened(make, bad):
    with pytest.raises(ValueError, match="stream has a gradient in round 300"):
        mtcool.simulate(make(on_excess="clip"), with_bad_round(300, bad))


def test_agents_of_a_stream_without_names_are_node_indices():
    named = mtcool.i_ftrl(nx.path_graph(["c", "a", "b"]), 2, lipschitz=4.0)
    stream = Stream([0, 0, 1], quadratic(np.full((3, 2), 0.4)))
    mtcool.simulate(named, stream)
    assert named.predict("c").any()
    assert named.predict("a").any()
    assert not named.predict("b").any()


def test_a_stream_with_names_goes_to_the_agents_of_those_names():
    names = [(0, "a"), frozenset("b"), "c"]
    network = mtcool.i_ftrl(nx.path_graph(names), 2, lipschitz=4.0)
    mtcool.simulate(network, Stream([1], quadratic([[0.4, 0.4]]), labels=names))
    assert [network.predict(name).any() for name in names] == [False, True, False]


def counted_messages(network, agents, losses):
    """Play the rounds with agents and messages; count what travels, round by round."""
    units = {label: network.agent(label) for label in network.graph.labels}
    counts = [(0, 0)]
    for i, (_, loss) in zip(agents.tolist(), losses, strict=True):
        sent = play(units, i, loss).messages
        size = sum(len(encode(message)) for message in sent)
        counts.append((counts[-1][0] + len(sent), counts[-1][1] + size))
    return np.array(counts).T


@pytest.mark.parametrize("algorithm", ["mt_co2ol", "pairwise", "i_ftrl", "st_ftrl", "dpmt_co2ol"])
@pytest.mark.parametrize("weights", ["uniform", "delegation"])
def test_messages_and_bytes_are_those_that_agents_send_whatever_their_names(algorithm, weights):
    names = ["a", ("b", 2), 3, 4.5, "a long name", 70_000, 7, 8, 9, 10, 11, 12]
    rng = np.random.default_rng(len(weights))
    graph = mtcool.graphs.erdos_renyi(12, 0.3, seed=1)
    graph = mtcool.Graph(graph.ptr, graph.idx, names)
    matrix = graph.matrix(mtcool.graphs.entry_weights(graph, weights)).toarray()
    settings = {"learner": FTRL(), "weights": matrix, "lipschitz": 9.0}
    if algorithm in ("i_ftrl", "st_ftrl"):
        del settings["weights"]
    if algorithm == "dpmt_co2ol":
        settings |= {"learner": None, "privacy": mtcool.Privacy(1.0, 60), "seed": 0}
    network = getattr(mtcool, algorithm)(graph, 3, **settings)
    agents = rng.integers(12, size=30)
    stream = Stream(agents, quadratic(0.1 * rng.standard_normal((30, 3))), labels=names)
    want = counted_messages(network, np.array(names, object)[agents], stream)
    messages, size = communication(network, stream, np.arange(31))
    np.testing.assert_array_equal(messages, want[0])
    np.testing.assert_array_equal(size, want[1])


def test_numbers_as_names_have_as_many_bytes_as_they_need():
    some = [0, 127, 128, 255, 256, 65_535, 65_536]
    sizes = name_sizes(range(65_537))
    assert sizes[some].tolist() == [len(msgspec.msgpack.encode(number)) for number in some]


def test_the_trace_reports_the_communication_at_its_times():
    trace = mtcool.simulate(NETWORKS["mt_co2ol"](lipschitz=4.0), STREAM, times=[0, 5, 700])
    messages, size = communication(NETWORKS["mt_co2ol"](), STREAM, np.array([0, 5, 700]))
    np.testing.assert_array_equal(trace.messages, messages)
    np.testing.assert_array_equal(trace.message_bytes, size)
    assert messages[0] == 0


def test_progress_goes_to_standard_error_only(capfd):
    mtcool.simulate(NETWORKS["i_ftrl"](lipschitz=4.0), STREAM, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "simulate" in err


def test_without_progress_nothing_is_written(capfd):
    mtcool.simulate(NETWORKS["i_ftrl"](lipschitz=4.0), STREAM)
    assert capfd.readouterr() == ("", "")


def test_progress_does_not_change_the_numbers(make):
    shown, quiet = make(), make()
    one = mtcool.simulate(shown, STREAM, progress=True)
    other = mtcool.simulate(quiet, STREAM)
    assert everything(shown) == everything(quiet)
    np.testing.assert_array_equal(one.regret, other.regret)


def test_a_trace_cannot_be_changed_by_later_simulations():
    network = NETWORKS["i_ftrl"](lipschitz=4.0)
    trace = mtcool.simulate(network, STREAM)
    kept = {name: np.copy(array) for name, array in vars(trace).items()}
    mtcool.simulate(network, STREAM)
    for name, array in vars(trace).items():
        np.testing.assert_array_equal(array, kept[name])
