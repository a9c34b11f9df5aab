"""Agents are known by name, in whatever order a graph, a stream or a list of edges has them."""

import networkx as nx
import numpy as np
import pytest

import mtcool
from mtcool.streams import Stream, best_in_hindsight, linear

NAMES = {
    "texts": ["roof", "yard", "gate", "barn", "mill"],
    "numbers": [3, 0, 4, 1, 2],
    "tuples": [(0, 1), (1, 0), (0, 0), (1, 1), (2, 0)],
}
ORDER = [2, 4, 0, 3, 1]  # where the stream has the network's agents
ROUNDS = 60


def path_of(names):
    return nx.path_graph(5) if names == range(5) else nx.path_graph(names)


def two_streams(names, comparator=True):
    """The same rounds twice: in the order of `names`, and in another one."""
    rng = np.random.default_rng(0)
    gradients = rng.uniform(-0.5, 0.5, (ROUNDS, 2))
    agents, tasks = rng.integers(5, size=ROUNDS), rng.normal(size=(5, 2))
    place = np.argsort(ORDER)
    shuffled = [names[i] for i in ORDER]
    one = Stream(agents, linear(gradients), tasks if comparator else None, list(names))
    other = Stream(place[agents], linear(gradients), tasks[ORDER] if comparator else None, shuffled)
    assert [name for name, _ in one] == [name for name, _ in other]
    return one, other


def same(one, other):
    for name, array in vars(one).items():
        np.testing.assert_array_equal(array, getattr(other, name))


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("per_agent", [False, True])
def test_a_stream_may_have_the_agents_in_any_order(kind, per_agent):
    """Losses, regrets, messages and activations are those of the agents of the same names."""
    names = NAMES[kind]
    one, other = two_streams(names)
    nets = [mtcool.i_ftrl(path_of(names), 2) for _ in range(2)]
    same(
        mtcool.simulate(nets[0], one, per_agent=per_agent),
        mtcool.simulate(nets[1], other, per_agent=per_agent),
    )
    for name in names:
        np.testing.assert_array_equal(nets[0].predict(name), nets[1].predict(name))


def test_simulation_by_name_is_ask_and_tell():
    simulated, told = (mtcool.i_ftrl(path_of(NAMES["texts"]), 2) for _ in range(2))
    _, stream = two_streams(NAMES["texts"])
    mtcool.simulate(simulated, stream)
    for name, loss in stream:
        told.update(name, loss.subgradient(told.predict(name)))
    for name in stream.labels:
        np.testing.assert_array_equal(simulated.predict(name), told.predict(name))


def test_a_given_comparator_is_in_the_order_of_the_stream():
    names = NAMES["texts"]
    one, other = two_streams(names, comparator=False)
    traces = [
        mtcool.simulate(
            mtcool.i_ftrl(path_of(names), 2), stream, comparator=best_in_hindsight(stream, 1.0)
        )
        for stream in (one, other)
    ]
    same(*traces)


def test_a_slice_keeps_its_names_in_their_order():
    one, other = two_streams(NAMES["numbers"])
    nets = [mtcool.i_ftrl(path_of(NAMES["numbers"]), 2) for _ in range(2)]
    same(mtcool.simulate(nets[0], one[10:40]), mtcool.simulate(nets[1], other[10:40]))


def test_labels_written_as_a_range_are_names():
    """Without labels, 0, 1, ... might be positions: that is refused (`test_contract.py`)."""
    network = mtcool.i_ftrl(path_of(NAMES["numbers"]), 1)
    stream = Stream([4], linear([[1.0]]), labels=range(5))
    for part in (stream, stream[:1]):
        mtcool.simulate(network, part)
    assert network.predict(4).any()
    assert not any(network.predict(name).any() for name in range(4))


def test_agents_that_the_stream_does_not_name_are_never_active():
    names = NAMES["texts"]
    stream = Stream([1, 0], linear([[0.5], [0.25]]), [[1.0], [2.0]], labels=["mill", "yard"])
    trace = mtcool.simulate(mtcool.i_ftrl(path_of(names), 1), stream)
    np.testing.assert_array_equal(trace.agent_activations, [0, 1, 0, 0, 1])
    np.testing.assert_array_equal(trace.agent_regret, [0.0, -1.0, 0.0, 0.0, -0.25])


def test_a_refused_gradient_names_the_agent_of_the_stream():
    stream = Stream([0, 1], linear([[0.5], [9.0]]), labels=["mill", "yard"])
    with pytest.raises(ValueError, match="round 1 of agent 'yard'"):
        mtcool.simulate(mtcool.i_ftrl(path_of(NAMES["texts"]), 1), stream)


def test_a_label_that_the_network_does_not_have_is_named():
    names = ["roof", "yard", "gate", "barn", "well"]
    network = mtcool.i_ftrl(path_of(NAMES["texts"]), 1)
    with pytest.raises(ValueError, match="network only, got 'well', which is none of its"):
        mtcool.simulate(network, Stream([0], linear([[0.5]]), labels=names))
    assert not network.predict("roof").any()


TEXTS = {
    "list": list,
    "array": np.array,
    "objects": lambda names: np.array(names, object),
    "tuple": tuple,
}


@pytest.mark.parametrize("kind", TEXTS)
def test_a_stream_takes_the_active_agents_by_name(kind):
    column = TEXTS[kind](["mill", "roof", "mill", "gate"])
    losses = linear([[0.1], [0.2], [0.3], [0.4]])
    found = Stream(column, losses)
    assert found.labels == ("mill", "roof", "gate")
    assert all(type(name) is str for name in found.labels)
    given = Stream(column, losses, [[0.0]] * 5, labels=NAMES["texts"])
    np.testing.assert_array_equal(given.agents, [4, 0, 4, 2])
    traces = [
        mtcool.simulate(mtcool.i_ftrl(path_of(NAMES["texts"]), 1), stream, comparator=tasks)
        for stream, tasks in ((found, np.zeros((3, 1))), (given, None))
    ]
    same(*traces)


@pytest.mark.parametrize(
    ("agents", "settings", "words"),
    [
        (["mill", "well"], {"labels": NAMES["texts"]}, "agents must be among the labels, got 'wel"),
        (["mill", float("nan")], {}, "agents must be strings if labels are not given, got nan"),
        (["mill", ["roof"]], {"labels": NAMES["texts"]}, "among the labels, got \\['roof'\\]"),
        (["mill", ["roof"]], {}, "strings if labels are not given, got \\['roof'\\]"),
        (["mill", "roof"], {"comparator": [[0.0], [0.0]]}, "labels must be given for the order of"),
    ],
)
def test_names_that_are_not_clear_are_refused(agents, settings, words):
    with pytest.raises(ValueError, match=words):
        Stream(agents, linear([[0.1], [0.2]]), **settings)


@pytest.mark.parametrize("kind", [list, iter, np.array, lambda e: np.array(e, object)])
def test_edges_may_be_pairs_of_names(kind):
    edges = [("yard", "roof"), ("roof", "gate"), ("gate", "yard"), ("roof", "yard")]
    graph = mtcool.Graph.from_edges(kind(edges))
    assert graph.labels == ("yard", "roof", "gate")
    assert all(type(name) is str for name in graph.labels)
    want = mtcool.Graph.from_edges(edges, labels=["yard", "roof", "gate"])
    np.testing.assert_array_equal(graph.idx, want.idx)


def test_two_graphs_of_the_same_names_serve_one_stream():
    """A graph from an edge list and a stream from a table, each in the order of its file."""
    edges = [("mill", "barn"), ("gate", "roof"), ("barn", "gate"), ("yard", "roof")]
    graph = mtcool.Graph.from_edges(edges)
    moved = mtcool.Graph.from_edges(edges, labels=NAMES["texts"])
    _, stream = two_streams(NAMES["texts"])
    traces = [mtcool.simulate(mtcool.i_ftrl(g, 2), stream) for g in (graph, moved)]
    assert traces[0].regret[-1] == pytest.approx(traces[1].regret[-1], rel=1e-12)
    for i, name in enumerate(graph.labels):
        assert traces[0].agent_loss[i] == traces[1].agent_loss[moved.index(name)]
