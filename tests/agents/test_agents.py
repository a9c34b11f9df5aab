"""Agents as units: what they send, what they refuse, and the networks that they form.

That they play the same rounds as a network in one block is checked in `tests/peers`.
"""

from functools import partial

import numpy as np
import pytest

import mtcool
from mtcool.agents import Gradient, RowRequest, Rows, Sums
from mtcool.learners import FTRL, KT, MTFTRL, MTFTRLKT
from mtcool.streams import Loss, Quadratic
from mtcool.testing.peers.trial import play

STAR = mtcool.graphs.star(4)
HALF = Loss(Quadratic(), [0.5])


def cut(network):
    return network.agents()


@pytest.mark.parametrize("make", [mtcool.i_ftrl, partial(mtcool.i_ftrl, learner=KT())])
def test_agents_alone_send_nothing(make):
    agents = cut(make(STAR, 2))
    assert all(not agent.activate().requests for agent in agents.values())
    assert not agents[0].activate().learn([0.5, 0.5])


def test_one_expert_sends_gradients_alone():
    network = mtcool.dpmt_co2ol(
        STAR, 2, mtcool.Privacy(1.0, 9), learner=MTFTRL(experts=(0.5,)), seed=0
    )
    agents = cut(network)
    (answer,) = (agents[0].receive(r) for r in agents[3].activate().requests.values())
    assert len(answer.experts) == 0


def test_agents_may_have_any_names():
    graph = mtcool.Graph.from_edges([("a", ("b", 1)), (("b", 1), 2.5)], ["a", ("b", 1), 2.5])
    network = mtcool.mt_co2ol(graph, 1, learner=MTFTRLKT(), lipschitz=9.0)
    agents = cut(network)
    for name in ("a", ("b", 1), 2.5, "a"):
        x = network.predict(name)
        network.update(name, HALF.subgradient(x))
        np.testing.assert_array_equal(play(agents, name, HALF).prediction, x)


REFUSED = {
    "a stranger": (RowRequest("nobody"), "sender must be a listener of agent 0, got 'nobody'"),
    "rows that nobody asked for": (Rows(1, np.zeros(2), np.zeros(0)), "message must be a request"),
    "a long gradient": (Gradient(1, 2.0, np.array([3.0, 4.0])), "norm at most 1, got norm 5.0"),
    "another dimension": (Gradient(1, 2.0, np.ones(3)), "gradient must have"),
    "a NaN": (Gradient(1, 2.0, np.array([np.nan, 0.0])), "gradient must be finite"),
    "a number between": (Gradient(1, 2.5, np.zeros(2)), "number must be a whole number"),
    "no number": (Gradient(1, np.nan, np.zeros(2)), "number must be finite"),
    "number zero": (Gradient(1, 0.0, np.zeros(2)), "number must be a whole number from 1"),
    "a number too large": (Gradient(1, 1e300, np.zeros(2)), "number must be a whole number"),
    "sums": (Sums(1, 2.0, np.zeros(2), np.zeros(0)), "message must be a request or a gradient"),
    "bytes": (b"hello", "message must be one of `mtcool.agents.messages`, got b'hello'"),
    "a table as sender": (RowRequest({}), "labels must be numbers, strings or tuples"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_bad_message_is_refused_and_changes_nothing(kind):
    agent = mtcool.mt_co2ol(STAR, 2, learner=MTFTRLKT()).agent(0)
    agent.receive(Gradient(1, 1.0, np.array([0.5, 0.1])))
    before = [array.tobytes() for array in agent.state]
    message, words = REFUSED[kind]
    with pytest.raises(ValueError, match=words):
        agent.receive(message)
    assert [array.tobytes() for array in agent.state] == before


def test_an_answer_that_is_missing_is_named():
    activation = mtcool.mt_co2ol(STAR, 2, learner=MTFTRLKT()).agent(3).activate()
    with pytest.raises(ValueError, match=r"answers must have one of agent 0, got \[\]"):
        activation.predict({})


def test_a_private_agent_stops_at_its_horizon():
    network = mtcool.dpmt_co2ol(STAR, 1, mtcool.Privacy(1.0, 2), seed=0)
    agents = cut(network)
    for _ in range(2):
        play(agents, 3, HALF)
    with pytest.raises(ValueError, match="horizon of agent 3 is 2 activations, of which 2 are"):
        play(agents, 3, HALF)


def test_agents_of_another_graph_form_no_network():
    network = mtcool.mt_co2ol(STAR, 1, learner=MTFTRLKT())
    agents = cut(network)
    with pytest.raises(ValueError, match=r"exactly those of the graph; missing: \[3\], unknown"):
        mtcool.Network.from_agents(list(agents.values())[:3], STAR)
    with pytest.raises(ValueError, match="graph must have the neighbours of agent"):
        mtcool.Network.from_agents(agents.values(), mtcool.graphs.edgeless(4))


def test_agents_that_do_not_belong_together_form_no_network():
    one, other = (mtcool.i_ftrl(STAR, 1, lipschitz=bound).agents() for bound in (1.0, 2.0))
    sharing = mtcool.mt_co2ol(STAR, 1, learner=FTRL()).agents()
    for strange in (other, sharing):
        with pytest.raises(ValueError, match="agents must have the same settings, got 3 with"):
            mtcool.Network.from_agents([*list(one.values())[:3], strange[3]], STAR)
    with pytest.raises(ValueError, match="agents must have different names, got 3 twice"):
        mtcool.Network.from_agents([*one.values(), one[3]], STAR)


def test_agents_that_contradict_each_other_form_no_network():
    """One of them comes from a network with other weights, or of another graph."""
    uniform = mtcool.mt_co2ol(STAR, 1, learner=FTRL()).agents()
    matrix = [[0.7, 0.1, 0.1, 0.1], [0.5, 0.5, 0, 0], [0.5, 0, 0.5, 0], [0.2, 0, 0, 0.8]]
    other = mtcool.mt_co2ol(STAR, 1, learner=FTRL(), weights=matrix).agents()
    with pytest.raises(
        ValueError,
        match=r"got 0, which knows 3 with weight 0\.5, and 3, which listens with 0\.2",
    ):
        mtcool.Network.from_agents([uniform[0], uniform[1], uniform[2], other[3]], STAR)
    ring = mtcool.mt_co2ol(mtcool.graphs.ring(4), 1, learner=FTRL()).agents()
    with pytest.raises(ValueError, match="agents must agree on their weights, got 0, which knows"):
        mtcool.Network.from_agents(
            [ring[0], *list(uniform.values())[1:]], mtcool.graphs.cliques([4])
        )
    single = mtcool.st_ftrl(STAR, 1, learner=FTRL()).agents()
    with pytest.raises(ValueError, match="neighbours of the graph, got 0, which does not know 2"):
        mtcool.Network.from_agents(
            [
                mtcool.st_ftrl(mtcool.graphs.ring(4), 1, learner=FTRL()).agent(0),
                single[1],
                single[2],
                single[3],
            ],
            STAR,
        )


def test_probabilities_of_all_agents_come_from_their_parts():
    q = np.array([0.1, 0.2, 0.3, 0.4])
    network = mtcool.mt_co2ol(STAR, 1, learner=MTFTRLKT(), rates="stochastic", q=q)
    agents = network.agents()
    assert agents[2].settings.q == (0.3,)
    again = mtcool.Network.from_agents(agents.values(), STAR)
    assert again.settings == network.settings
    np.testing.assert_array_equal(again.peers.state.rate, network.peers.state.rate)


def test_a_name_that_cannot_be_sent_is_refused():
    names = [frozenset(), "b"]
    network = mtcool.i_ftrl(mtcool.Graph.from_edges([tuple(names)], names), 1)
    with pytest.raises(ValueError, match=r"strings or tuples of them to be sent, got frozenset"):
        network.agent(names[0])


def test_peers_of_an_unknown_kind_are_not_cut_nor_joined():
    """Whoever brings a new kind registers both functions for it."""
    with pytest.raises(ValueError, match=r"peers must be of a kind that `mtcool\.agents\.cut`"):
        mtcool.agents.cut(object(), None, STAR, None, [0])
    with pytest.raises(ValueError, match=r"agents must be of a kind that `mtcool\.agents\.join`"):
        mtcool.agents.join(object(), STAR, [])
