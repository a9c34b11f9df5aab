"""The learners of a pass see the same stream as they would see alone."""

import networkx as nx
import numpy as np
import pytest

from mtcool.graphs import Graph
from mtcool.learn.model import Model
from mtcool.learn.reading.progressive import Progressive
from mtcool.learn.reading.tables import Batch
from mtcool.learn.running.run import EVERYBODY, Pass, shuffle

NAMES = ("a", "b", "c", "d", "e", "f")
GRAPH = Graph.from_networkx(nx.path_graph(NAMES[:5]))


def batch(rows=200, seed=0):
    """Rows of six agents, five of them in the graph, with targets that arrive late."""
    rng = np.random.default_rng(seed)
    agents = np.array(NAMES, dtype=object)[rng.integers(6, size=rows)]
    features = rng.normal(size=(rows, 2))
    target = features @ [1.0, -1.0] + rng.normal(size=rows)
    time = np.arange(rows) // 5 * 1.0
    return Batch(np.arange(rows), agents, features, target, time, time + rng.integers(3, size=rows))


def cut(rows, size):
    for start in range(0, len(rows.line), size):
        yield Batch(*(column[start : start + size] for column in rows))


def played(rows, size, network=GRAPH):
    play = Pass(network, "regression", "gradients")
    answers = [play.play(part) for part in cut(rows, size)]
    return play, [np.concatenate(column) for column in zip(*answers, strict=True)]


def test_each_learner_plays_as_if_it_were_the_only_one():
    rows = batch()
    play, answers = played(rows, 200)
    chunk = Progressive().push(rows)
    everybody = np.full(200, EVERYBODY, dtype=object)
    for model, agents, found in (
        (Model(GRAPH), rows.agents, answers[3]),
        (Model(None), everybody, answers[5]),
    ):
        index = model.index(agents)
        alone = model.play(index, chunk.features, chunk.target, chunk.events)
        np.testing.assert_array_equal(alone.prediction, found)
    assert play.strangers() == ("f",)


@pytest.mark.parametrize("size", [1, 7, 64])
def test_answers_do_not_depend_on_how_the_stream_is_cut(size):
    rows = batch()
    for one, other in zip(played(rows, 200)[1], played(rows, size)[1], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("size", [1, 7, 64])
def test_agents_that_appear_later_join_at_their_first_row_however_the_stream_is_cut(size):
    rows = batch()
    names = np.array(NAMES, dtype=object)
    agents = names[np.arange(200) % np.minimum(2 + np.arange(200) // 30, 6)]
    rows = rows._replace(agents=agents)
    whole, parts = played(rows, 200, "complete"), played(rows, size, "complete")
    for one, other in zip(whole[1], parts[1], strict=True):
        np.testing.assert_array_equal(one, other)
    assert whole[0].learned.agents == parts[0].learned.agents


def test_first_rows_are_those_before_a_target_of_their_agent_was_learned():
    rows = batch(80)
    play, _ = played(rows, 9)
    known = dict.fromkeys(NAMES, np.inf)
    for name, time in zip(rows.agents, rows.arrives, strict=True):
        known[name] = min(known[name], time)
    # A target that arrives at a time is learned from after all predictions of that time.
    first = np.array([t <= known[name] for name, t in zip(rows.agents, rows.time, strict=True)])
    cold, warm_first = play.evaluation.counts[:, 1].sum(), play.evaluation.counts[:, 2].sum()
    assert cold + warm_first == first.sum()
    assert warm_first > 0


def test_a_shuffled_graph_has_the_same_shape_and_other_neighbours():
    graph = Graph.from_networkx(nx.path_graph(20))
    shuffled = shuffle(graph)
    assert sorted(shuffled.labels) == sorted(graph.labels)
    np.testing.assert_array_equal(shuffled.neighbourhood_sizes, graph.neighbourhood_sizes)
    edges, others = (set(map(frozenset, g.to_networkx().edges)) for g in (graph, shuffled))
    assert len(edges & others) < len(edges) / 2
    assert shuffle(graph).labels == shuffled.labels


@pytest.mark.parametrize("network", ["complete", None])
def test_without_a_graph_nothing_is_shuffled(network):
    play, _ = played(batch(50), 50, network)
    assert play.shuffled is None
    assert play.evaluation.names == ("learned", "alone", "pooled")
    assert play.strangers() == ()


def test_no_answer_depends_on_who_else_is_asked_for():
    play, _ = played(batch(), 200, "complete")
    known = batch(12, seed=1)
    names = np.array([*NAMES, *"uvwxyz"], dtype=object)
    asked = known._replace(agents=names)
    together = play.answer(asked).prediction
    for k in range(12):
        single = play.answer(Batch(*(column[k : k + 1] for column in asked)))
        assert single.prediction[0] == together[k]
    assert len(play.learned.agents) == 6


def test_answers_without_learning_change_nothing():
    rows = batch()
    play, _ = played(rows, 200)
    once, again = play.answer(batch(10, seed=1)), play.answer(batch(10, seed=1))
    np.testing.assert_array_equal(once.prediction, again.prediction)
    assert np.isfinite(once.prediction).all()
