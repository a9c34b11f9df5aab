"""Messages that come late, twice or in another order; agents that are asked too often."""

import itertools

import numpy as np
import pytest

import mtcool
from mtcool.agents import Gradient, LossShared, Sums
from mtcool.axes import state_arrays
from mtcool.learners import FTRL, MTFTRLKT
from mtcool.streams import Loss, Quadratic
from mtcool.testing.peers.trial import play

STAR = mtcool.graphs.star(4)
GRADIENTS = [Gradient(1, float(n), np.array([0.1 * n, 0.2])) for n in (1, 2, 3)]


def content(agent):
    known = [array.tobytes() for _, array in state_arrays(agent.state)]
    return known + [a.tobytes() for a in getattr(agent, "aggregator", ()) if hasattr(a, "tobytes")]


def plain():
    return mtcool.mt_co2ol(STAR, 2, learner=MTFTRLKT()).agent(0)


def private(seed=0, horizon=15):
    return mtcool.dpmt_co2ol(STAR, 1, mtcool.Privacy(1.0, horizon), seed=seed)


@pytest.mark.parametrize("order", list(itertools.permutations(GRADIENTS)))
def test_every_gradient_is_learned_once_in_any_order(order):
    once, again = plain(), plain()
    for message in order:
        once.receive(message)
        again.receive(message)
        before = content(again)
        for late in order[: order.index(message) + 1]:
            again.receive(late)
        assert content(again) == before
    assert content(again) == content(once)
    assert again.state.n[0] == 3


def test_a_loss_is_learned_once():
    agent = mtcool.st_ftrl(STAR, 1, lipschitz=9.0).agent(0)
    message = LossShared(1, 1.0, "quadratic", [], np.array([0.5]))
    agent.receive(message)
    before = content(agent)
    agent.receive(message)
    assert content(agent) == before
    assert agent.state.n[0] == 1


def sums_of(agents, name):
    """The sums that an agent publishes for agent 0 in two rounds."""
    for _ in range(2):
        activation = agents[name].activate()
        asked = activation.requests.items()
        activation.predict({to: agents[to].receive(request) for to, request in asked})
        yield activation.learn([0.5])[0]


def test_only_newer_sums_replace_older_ones():
    agents = private().agents()
    agent = agents[0]
    old, new = sums_of(agents, 3)
    assert (old.number, new.number) == (1.0, 2.0)
    agent.receive(new)
    before, count = content(agent), int(agent.state.base.n[0])
    for late in (new, old, new):
        agent.receive(late)
    assert content(agent) == before
    assert agent.state.base.n[0] == count


def test_sums_from_before_the_cut_are_old():
    network = private()
    (message, _) = sums_of(network.agents(), 3)
    network.update(3, [0.5])
    agent = network.agent(0)
    before = content(agent)
    agent.receive(message)
    assert content(agent) == before


def test_an_answer_is_that_of_the_agent_that_was_asked():
    path = mtcool.graphs.ring(4)
    agents = mtcool.mt_co2ol(path, 1, learner=MTFTRLKT()).agents()
    activation = agents[0].activate()
    answers = {to: agents[to].receive(request) for to, request in activation.requests.items()}
    one, other = answers
    with pytest.raises(ValueError, match=f"answer of agent {one} must be its rows"):
        activation.predict({one: answers[other], other: answers[one]})
    with pytest.raises(ValueError, match="must be its rows"):
        activation.predict({one: activation.requests[one], other: answers[other]})


def test_a_message_cannot_poison_an_agent():
    """The receiver knows the weight; sums are as large as sums can be."""
    assert "weight" not in Gradient.__struct_fields__ + Sums.__struct_fields__
    agent = private().agent(0)
    (count,) = {int(b - a) for a, b in itertools.pairwise(agent.state.first)}
    before = content(agent)
    for total, product in ((1e300, 0.0), (0.0, -1e300), (np.inf, 0.0), (0.0, np.nan)):
        message = Sums(1, 1.0, np.array([total]), np.full(count, product))
        with pytest.raises(ValueError, match=r"(total|products) must be (at most 1e\+140|finite)"):
            agent.receive(message)
    assert content(agent) == before


def test_an_activation_learns_once():
    network, loss = mtcool.i_ftrl(STAR, 1), Loss(Quadratic(), [0.5])
    single = mtcool.st_ftrl(STAR, 1, lipschitz=9.0)
    for agent, told in ((network.agent(3), [0.5]), (single.agent(3), loss)):
        activation = agent.activate()
        activation.learn(told)
        before = content(agent)
        with pytest.raises(ValueError, match="learn must be called once in an activation"):
            activation.learn(told)
        assert content(agent) == before


def test_a_private_activation_spends_its_budget_once():
    agents = private().agents()
    activation = agents[3].activate()
    activation.predict({0: agents[0].receive(activation.requests[0])})
    with pytest.raises(ValueError, match="gradient must be finite"):
        activation.learn([np.inf])
    assert agents[3].account().released == 0
    activation.learn([0.5])
    before, noise = content(agents[3]), agents[3].sanitiser.noise.state()
    with pytest.raises(ValueError, match="learn must be called once in an activation"):
        activation.learn([0.5])
    assert content(agents[3]) == before
    assert agents[3].sanitiser.noise.state() == noise
    assert agents[3].account().released == 1


def test_noise_of_a_release_that_failed_is_given_back(monkeypatch):
    agents = private().agents()
    activation = agents[3].activate()
    activation.predict({0: agents[0].receive(activation.requests[0])})
    noise = agents[3].sanitiser.noise.state()
    monkeypatch.setattr("mtcool.agents.private.release_one", lambda *given: False)
    with pytest.raises(AssertionError):
        activation.learn([0.5])
    assert agents[3].sanitiser.noise.state() == noise


def test_all_agents_at_once_are_those_one_by_one():
    network = mtcool.mt_co2ol(STAR, 1, learner=FTRL())
    network.update(3, [0.5])
    for name, agent in network.agents().items():
        one = network.agent(name)
        assert content(agent) == content(one)
        assert (agent.links, agent.cliques) == (one.links, one.cliques)


def test_rounds_with_copies_of_every_message_are_the_same_rounds():
    """Whoever carries the messages may deliver all of them twice."""
    network = mtcool.mt_co2ol(STAR, 1, learner=MTFTRLKT(), lipschitz=9.0)
    once, twice = network.agents(), network.agents()
    for name in (0, 3, 1, 0, 3):
        loss = Loss(Quadratic(), [0.5])
        play(once, name, loss)
        activation = twice[name].activate()
        asked = activation.requests.items()
        x = activation.predict({to: twice[to].receive(request) for to, request in asked})
        for to, message in activation.learn(loss.subgradient(x)).items():
            twice[to].receive(message)
            twice[to].receive(message)
    assert [content(agent) for agent in once.values()] == [content(a) for a in twice.values()]


def test_a_message_that_comes_back_to_its_sender_is_refused():
    """The agent has learned from it when it sent it."""
    agent = mtcool.mt_co2ol(mtcool.graphs.star(4), 1, learner=MTFTRLKT()).agent(0)
    (message, *_) = agent.activate().learn([0.5]).values()
    before = agent.state.total.copy()
    with pytest.raises(ValueError, match="sender must be another agent, got 0"):
        agent.receive(message)
    np.testing.assert_array_equal(agent.state.total, before)
