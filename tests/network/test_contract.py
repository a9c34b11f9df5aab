"""The public contract of a network: what predict and update promise to other programs."""

import copy
import pickle
import warnings
from functools import partial

import networkx as nx
import numpy as np
import pytest

import mtcool
import mtcool.learners.mt_ftrl.mt_ftrl as mt_ftrl
from mtcool.axes import state_arrays
from mtcool.learners import FTRL, MTFTRL, MTFTRLKT
from mtcool.peers import exchange

MAKERS = {
    "dpmt_co2ol": partial(mtcool.dpmt_co2ol, privacy=mtcool.Privacy(20.0, 200), seed=0),
    "mt_co2ol": mtcool.mt_co2ol,
    "pairwise": mtcool.pairwise,
    "i_ftrl": mtcool.i_ftrl,
    "st_ftrl": mtcool.st_ftrl,
}
WHEEL = nx.wheel_graph(5)


def state(network):
    """The arrays of the learner's state as bytes, without what a prediction may write to."""
    return {
        name: array.tobytes()
        for name, array in state_arrays(network.peers.state)
        if not name.endswith(".model")
    }


def tell(network, agent, gradient):
    single_task = network.settings.algorithm.name == "st_ftrl"
    network.update(agent, (lambda x: gradient) if single_task else gradient)


def play(network, agents, seed=0, rounds=40):
    """Random gradients of norm 1 for random agents; returns the predictions."""
    rng = np.random.default_rng(seed)
    predictions = []
    for _ in range(rounds):
        agent = agents[rng.integers(len(agents))]
        gradient = rng.normal(size=network.settings.dim)
        predictions.append(network.predict(agent))
        tell(network, agent, gradient / np.linalg.norm(gradient))
    return np.array(predictions)


def test_a_clipped_gradient_is_shortened_in_a_copy():
    network = mtcool.i_ftrl(WHEEL, 2, on_excess="clip")
    gradient = np.array([3.0, 4.0])
    network.update(0, gradient)
    np.testing.assert_array_equal(gradient, [3.0, 4.0])


GRADIENTS = {
    "list": [1, 0],
    "tuple": (1.0, 0.0),
    "int": np.array([1, 0]),
    "float32": np.array([1, 0], np.float32),
    "read-only": np.broadcast_to(np.array([1.0, 0.0]), (2,)),
    "strided": np.array([1.0, 9.0, 0.0, 9.0])[::2],
    "reversed": np.array([0.0, 1.0])[::-1],
    "big-endian": np.array([1.0, 0.0], ">f8"),
    "matrix row": np.asfortranarray([[1.0, 0.0], [5.0, 6.0]])[0],
}


@pytest.mark.parametrize("kind", GRADIENTS)
@pytest.mark.parametrize("algorithm", ["i_ftrl", "st_ftrl", "dpmt_co2ol"])
def test_any_vector_of_numbers_is_a_gradient(algorithm, kind):
    network, plain = (MAKERS[algorithm](WHEEL, 2) for _ in range(2))
    tell(network, 0, GRADIENTS[kind])
    tell(plain, 0, np.array([1.0, 0.0]))
    assert state(network) == state(plain)


def test_predictions_scale_with_the_radius_and_not_with_the_gradients_unit():
    plain = mtcool.mt_co2ol(WHEEL, 2, learner=MTFTRLKT())
    scaled = mtcool.mt_co2ol(WHEEL, 2, learner=MTFTRLKT(), radius=4.0, lipschitz=8.0)
    rng = np.random.default_rng(0)
    for agent in rng.integers(5, size=30).tolist():
        gradient = rng.uniform(-0.5, 0.5, size=2)
        plain.update(agent, gradient)
        scaled.update(agent, 8.0 * gradient)
    for agent in WHEEL:
        np.testing.assert_array_equal(scaled.predict(agent), 4.0 * plain.predict(agent))


LABELS = {
    "texts": ["roof", "yard", "gate", "barn", "mill"],
    "tuples": [(0, 0), (0, 1), (1, 0), (1, 1), ("a", None)],
    "frozensets": [frozenset(range(k)) for k in range(5)],
    "numbers in odd order": [3, 0, 4, 1, 2],
    "large and negative numbers": [-7, 10**30, 2, -(2**63), 5],
    "NumPy numbers": [np.int64(9), np.int64(0), np.float64(0.5), np.int32(4), np.int64(1)],
    "mixed": ["a", 1, 2.5, (3,), b"e"],
    "functions": [len, max, min, sum, abs],
    "truth values": [True, False, 2, 3, 4],
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("algorithm", MAKERS)
def test_agents_have_names_of_any_hashable_kind(algorithm, kind):
    names = LABELS[kind]
    graph = nx.Graph()
    graph.add_nodes_from(names)  # networkx keeps this order: it is the order of the agents
    graph.add_edges_from((names[u], names[v]) for u, v in WHEEL.edges)
    named, numbered = MAKERS[algorithm](graph, 2), MAKERS[algorithm](WHEEL, 2)
    np.testing.assert_array_equal(play(named, names), play(numbered, range(5)))
    assert state(named) == state(numbered)


@pytest.mark.parametrize("algorithm", MAKERS)
def test_a_networkx_graph_and_our_own_give_the_same(algorithm):
    theirs = MAKERS[algorithm](WHEEL, 2)
    ours = MAKERS[algorithm](mtcool.Graph.from_networkx(WHEEL), 2)
    np.testing.assert_array_equal(play(theirs, range(5)), play(ours, range(5)))


def test_self_loops_parallel_edges_and_edge_weights_change_nothing():
    graph = nx.MultiGraph(WHEEL)
    graph.add_edges_from([(0, 0), (0, 1), (0, 1)], weight=7.0)
    noisy, plain = mtcool.mt_co2ol(graph, 2), mtcool.mt_co2ol(WHEEL, 2)
    np.testing.assert_array_equal(play(noisy, range(5)), play(plain, range(5)))


def test_later_changes_of_the_users_graph_do_not_reach_the_network():
    graph = nx.wheel_graph(5)
    network, plain = mtcool.mt_co2ol(graph, 2), mtcool.mt_co2ol(WHEEL, 2)
    graph.remove_node(0)
    np.testing.assert_array_equal(play(network, range(5)), play(plain, range(5)))


def test_later_changes_of_the_users_weights_do_not_reach_the_network():
    weights = mtcool.graphs.uniform_weights(WHEEL).toarray()
    network = mtcool.mt_co2ol(WHEEL, 2, learner=MTFTRLKT(), weights=weights)
    plain = mtcool.mt_co2ol(WHEEL, 2, learner=MTFTRLKT())
    weights[:] = np.nan
    np.testing.assert_array_equal(play(network, range(5)), play(plain, range(5)))


def test_two_networks_of_one_graph_and_learner_do_not_share_anything():
    graph, learner = mtcool.graphs.ring(5), MTFTRLKT()
    one, other = (mtcool.mt_co2ol(graph, 2, learner=learner) for _ in range(2))
    play(one, range(5))
    assert not any(other.predict(agent).any() for agent in range(5))


def test_the_defaults_are_hedge_and_plain_ftrl():
    for make, default in [
        (mtcool.mt_co2ol, MTFTRL()),
        (mtcool.pairwise, MTFTRL()),
        (mtcool.i_ftrl, FTRL()),
        (mtcool.st_ftrl, FTRL()),
    ]:
        setup = make(WHEEL, 2).settings
        assert (setup.learner, setup.lipschitz, setup.radius) == (default, 1.0, 1.0)
        assert (setup.on_excess, setup.rates) == ("raise", "adversarial")
        assert setup.privacy is None
    setup = MAKERS["dpmt_co2ol"](WHEEL, 2).settings
    assert (setup.learner, setup.lipschitz, setup.radius) == (MTFTRL(), 1.0, 1.0)
    assert (setup.on_excess, setup.rates) == ("clip", "adversarial")
    assert setup.privacy.aggregator == mtcool.privacy.BinaryTree()


def test_neighbours_with_the_same_task_learn_it_together():
    """What the front page promises: agents follow their targets and help each other."""
    targets = {"roof": [0.5, 0.2], "yard": [0.5, 0.2], "gate": [0.5, 0.2]}
    net = mtcool.mt_co2ol(nx.complete_graph(list(targets)), dim=2, lipschitz=2.0)
    for _ in range(200):
        for agent in ("roof", "yard"):
            net.update(agent, net.predict(agent) - targets[agent])
    # "gate" was never active: what it knows, it knows from its neighbours.
    np.testing.assert_allclose(net.predict("roof"), targets["roof"], atol=0.1)
    np.testing.assert_allclose(net.predict("gate"), targets["gate"], atol=0.25)


def test_a_network_says_what_it_is():
    shown = repr(mtcool.mt_co2ol(WHEEL, 2, learner=MTFTRLKT()))
    assert shown == (
        "<mt_co2ol of 5 agents, dim=2, MTFTRLKT(), lipschitz=1.0, radius=1.0, rates='adversarial'>"
    )


def test_a_network_in_the_field_says_what_differs_from_the_paper():
    messages, delays = mtcool.Messages(every=2, bits=8), mtcool.Delays(gradients=5)
    shown = repr(mtcool.mt_co2ol(WHEEL, 1, messages=messages, delays=delays))
    assert f", messages=Messages(every=2, bits=8), delays={delays!r}>" in shown
    assert "messages" not in repr(mtcool.mt_co2ol(WHEEL, 1, delays=delays))


def test_a_copied_or_pickled_network_goes_on_as_the_original_and_can_be_saved(tmp_path):
    network = mtcool.mt_co2ol(mtcool.graphs.star(4), 2)
    network.update(1, [0.6, 0.8])
    for copied in (copy.deepcopy(network), pickle.loads(pickle.dumps(network))):
        copied.save(tmp_path / "copy.npz")
        for one in (copied, mtcool.load(tmp_path / "copy.npz")):
            assert (one.predict(0) == network.predict(0)).all()
            assert not one.weights.flags.writeable


def test_a_stream_without_names_is_refused_where_names_are_not_positions():
    network = mtcool.i_ftrl(nx.Graph([(2, 0), (0, 1)]), 1)
    stream = mtcool.Stream([0, 1, 2], mtcool.streams.linear(np.zeros((3, 1))))
    with pytest.raises(ValueError, match="stream must be labelled with the network's 3 agents"):
        mtcool.simulate(network, stream)


def test_tiny_gradients_leave_every_expert_alive():
    learner = mtcool.learners.MTFTRL(experts=(0.0, 0.5))
    network = mtcool.mt_co2ol(mtcool.graphs.complete(3), 1, learner=learner)
    for agent in (0, 1, 2):
        network.update(agent, [1e-158 * (agent + 1)])
    assert np.isfinite(network.peers.state.experts).all()


@pytest.mark.parametrize("variance", [1e-34, 1e-24, 1e-16, 1e-10])
def test_a_tiny_known_variance_plays_nearly_equal_rows(variance):
    learner = mtcool.learners.MTFTRL(experts=(variance,))
    graph = mtcool.graphs.complete(5)
    network = mtcool.mt_co2ol(graph, 2, learner=learner)
    equal = mtcool.mt_co2ol(graph, 2, learner=mtcool.learners.MTFTRL(experts=(0.0,)))
    rng = np.random.default_rng(0)
    for _ in range(20):
        gradient = rng.normal(size=2) + np.array([2.0, 0.0])
        gradient /= np.linalg.norm(gradient)
        agent = int(rng.integers(5))
        for one in (network, equal):
            one.update(agent, gradient)
        for i in range(5):
            gap = np.linalg.norm(network.predict(i) - equal.predict(i))
            assert gap <= 10.0 * variance**0.5 + 1e-9


@pytest.mark.parametrize("algorithm", [mtcool.i_ftrl, mtcool.st_ftrl])
def test_baselines_predict_with_their_own_model_alone(algorithm):
    network = algorithm(nx.star_graph(3), 1)
    np.testing.assert_array_equal(network.graph.matrix(network.weights).toarray(), np.eye(4))


def test_later_changes_of_the_users_arrays_do_not_reach_a_stream():
    agents, targets, tasks = np.array([0, 1]), np.ones((2, 1)), np.ones((2, 1))
    stream = mtcool.Stream(agents, mtcool.streams.quadratic(targets), tasks)
    agents[:], targets[:], tasks[:] = 1, 5.0, 5.0
    np.testing.assert_array_equal(stream.agents, [0, 1])
    np.testing.assert_array_equal(stream.losses.rows, np.ones((2, 1)))
    np.testing.assert_array_equal(stream.comparator, np.ones((2, 1)))


def hedge_pair(monkeypatch, at_once):
    """Two equal networks; the first one delivers updates in stretches of `at_once` cliques."""
    graph = mtcool.graphs.complete(5)
    monkeypatch.setattr(mt_ftrl, "EXPERTS_AT_ONCE", 5 * at_once)
    slow = mtcool.mt_co2ol(graph, 1, learner=MTFTRL())
    monkeypatch.undo()
    return slow, mtcool.mt_co2ol(graph, 1, learner=MTFTRL())


def test_an_interrupted_update_is_finished_before_anything_else(monkeypatch):
    slow, fast = hedge_pair(monkeypatch, at_once=2)
    receive, calls = exchange._receive, []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt  # as a signal handler does, before the call or after it
        return receive(*arguments)

    for gradient in (0.5, -1.0):
        calls.clear()
        monkeypatch.setattr(exchange, "_receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            slow.update(1, [gradient])
        monkeypatch.setattr(exchange, "_receive", receive)
        fast.update(1, [gradient])
        assert [slow.predict(i)[0] for i in range(5)] == [fast.predict(i)[0] for i in range(5)]
    with pytest.raises(ValueError, match="norm at most"):
        slow.update(1, [2.0])
    slow.update(2, [1.0])
    fast.update(2, [1.0])
    assert slow.predict(2) == fast.predict(2)


def test_a_slow_network_plays_the_same_rounds(monkeypatch):
    slow, fast = hedge_pair(monkeypatch, at_once=2)
    assert slow.is_slow
    assert not fast.is_slow
    stream = mtcool.Stream([0, 3, 3, 1], mtcool.streams.quadratic([[0.9], [-0.2], [0.4], [0.1]]))
    traces = [mtcool.simulate(net, stream, comparator=[[0.1]] * 5) for net in (slow, fast)]
    assert traces[0].loss.tobytes() == traces[1].loss.tobytes()
    assert traces[0].regret.tobytes() == traces[1].regret.tobytes()
    assert slow.predict(2) == fast.predict(2)
    steep = mtcool.Stream([0, 1], mtcool.streams.quadratic([[0.5], [9.0]]))
    with pytest.raises(ValueError, match="round 1 of agent 1"):
        mtcool.simulate(slow, steep)


def test_a_choice_that_will_be_slow_is_said_at_once():
    graph = mtcool.graphs.complete(1001)
    with pytest.warns(UserWarning, match=r"1,002,001 experts .*geometric.* moves 11,011"):
        mtcool.mt_co2ol(graph, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mtcool.mt_co2ol(graph, 2, learner=MTFTRL(experts="geometric"))
        mtcool.mt_co2ol(graph, 2, learner=mtcool.learners.MTFTRLKT())
