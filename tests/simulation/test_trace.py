"""Traces: names of the agents, clipped gradients, single rounds, and tables of all that."""

import sys

import networkx as nx
import numpy as np
import pytest

import mtcool
from mtcool import memory
from mtcool.learners import KT
from mtcool.streams import Stream, quadratic

NAMES = ["gate", "mill", "port"]
PATH = nx.path_graph(NAMES)
TARGETS = np.array([[0.1], [3.0], [0.2], [-4.0], [0.1], [2.5]])
AGENTS = ["gate", "mill", "mill", "port", "gate", "mill"]
STREAM = Stream(AGENTS, quadratic(TARGETS), np.array([[0.1], [0.2], [0.3]]), NAMES)


def i_ftrl(**settings):
    return mtcool.i_ftrl(PATH, 1, learner=KT(), on_excess="clip", **settings)


def trace_of(network=None, **settings):
    return mtcool.simulate(network or i_ftrl(), STREAM, **settings)


def test_agents_have_their_names():
    assert list(trace_of().agents) == NAMES


def test_clipped_gradients_are_counted_by_time_and_by_agent():
    trace = trace_of(times=[1, 2, 4, 6], per_agent=True)
    assert trace.clipped.tolist() == [0, 1, 2, 3]
    assert trace.agent_clipped.tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 1], [0, 2, 1]]
    assert trace_of().agent_clipped.tolist() == [0, 2, 1]


def test_gradients_that_are_short_enough_are_not_counted():
    assert trace_of(i_ftrl(lipschitz=10.0)).clipped[-1] == 0
    exactly = Stream([0], quadratic([[1.0]]))
    assert mtcool.simulate(i_ftrl(), exactly).clipped[-1] == 0
    raising = mtcool.i_ftrl(PATH, 1, learner=KT(), lipschitz=10.0)
    assert trace_of(raising).clipped[-1] == 0


def test_with_st_ftrl_the_gradient_at_every_neighbours_point_counts():
    network = mtcool.st_ftrl(PATH, 1, learner=KT(), on_excess="clip")
    assert trace_of(network).agent_clipped.tolist() == [0, 3 + 3, 2]


def test_private_networks_count_too():
    network = mtcool.dpmt_co2ol(PATH, 2, mtcool.Privacy(1e6, 10), seed=0)
    plane = Stream(AGENTS, quadratic(np.hstack((TARGETS, 0.0 * TARGETS))), labels=NAMES)
    assert mtcool.simulate(network, plane).agent_clipped.tolist() == [0, 2, 1]


def test_rounds_are_those_of_ask_and_tell():
    told, points, paid = i_ftrl(), [], []
    for agent, loss in STREAM:
        points.append(told.predict(agent))
        value, gradient = loss(points[-1])
        paid.append(value)
        told.update(agent, gradient)
    trace = trace_of(per_round=True, times=[3])
    assert trace.predictions.tobytes() == np.array(points).tobytes()
    assert trace.round_loss.tobytes() == np.array(paid).tobytes()
    assert [trace.agents[k] for k in trace.round_agents] == AGENTS
    np.testing.assert_allclose(trace.round_regret[:3].sum(), trace.regret[-1], rtol=1e-12)


def test_a_slow_network_records_the_same(monkeypatch):
    fast = trace_of(per_round=True)
    monkeypatch.setattr(mtcool.Network, "is_slow", True)
    slow = trace_of(per_round=True)
    for name in ("predictions", "round_loss", "round_regret", "agent_clipped", "clipped"):
        assert getattr(slow, name).tobytes() == getattr(fast, name).tobytes()


def test_nothing_is_recorded_of_single_rounds_unless_asked_for():
    trace = trace_of()
    assert trace.predictions is None
    assert trace.round_loss is None
    assert trace.round_regret is None
    assert trace.round_agents is None


def test_rounds_that_do_not_fit_into_memory_are_one_sentence_and_change_nothing(monkeypatch):
    network = i_ftrl()
    monkeypatch.setattr(memory, "available", lambda: 100)
    with pytest.raises(ValueError, match=r"per_round must fit into memory, .* for 6 rounds"):
        trace_of(network, per_round=True)
    with pytest.raises(ValueError, match="times must fit into memory, got 6"):
        trace_of(network, per_agent=True)
    assert network.predict("mill") == 0.0
    trace_of(network)


@pytest.mark.parametrize("per_agent", [False, True])
def test_tables_of_times_and_agents(per_agent):
    trace = trace_of(times=[2, 4], per_agent=per_agent)
    times = trace.to_frame()
    assert times.columns.tolist() == [
        "round",
        "loss",
        "regret",
        "messages",
        "message_bytes",
        "clipped",
    ]
    assert times["round"].tolist() == [2, 4]
    assert times["regret"].tolist() == trace.regret.tolist()
    agents = trace.to_frame("agent")
    assert agents["agent"].tolist() == NAMES * (2 if per_agent else 1)
    assert agents["round"].tolist() == ([2] * 3 + [4] * 3 if per_agent else [6] * 3)
    assert agents["loss"].tolist() == trace.agent_loss.ravel().tolist()
    assert agents["clipped"].tolist() == trace.agent_clipped.ravel().tolist()


def test_a_table_of_rounds_has_totals_and_predictions():
    trace = trace_of(per_round=True)
    rounds = trace.to_frame("round")
    assert rounds["round"].tolist() == [1, 2, 3, 4, 5, 6]
    assert rounds["agent"].tolist() == AGENTS
    assert rounds["prediction_0"].tolist() == trace.predictions[:, 0].tolist()
    assert rounds["total_regret"].iloc[-1] == pytest.approx(trace.regret[-1], rel=1e-12)


def test_tables_have_no_regret_without_a_comparator():
    graph = mtcool.graphs.edgeless(2)
    trace = mtcool.simulate(mtcool.i_ftrl(graph, 1), Stream([1, 0], quadratic([[0.5], [0.5]])))
    assert "regret" not in trace.to_frame()
    assert trace.to_frame("agent")["agent"].tolist() == [0, 1]


def test_a_table_of_what_was_not_recorded_is_refused():
    with pytest.raises(ValueError, match="per_round=True"):
        trace_of().to_frame("round")
    with pytest.raises(ValueError, match="row must be one of time, agent, round, got 'rounds'"):
        trace_of().to_frame("rounds")


def test_without_pandas_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "mtcool\[pandas\]"'):
        trace_of().to_frame()


def test_replicates_return_whole_traces():
    def experiment(rng):
        stream = Stream([0, 1], quadratic(rng.normal(size=(2, 1))))
        return mtcool.simulate(i_ftrl(), stream, per_round=True)

    traces = mtcool.replicate(experiment, 2, seed=0)
    assert [list(trace.agents) for trace in traces] == [NAMES, NAMES]
    assert not np.array_equal(traces[0].round_loss, traces[1].round_loss)
