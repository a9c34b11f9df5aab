"""Agents that are copied or sent away: they go on to the bit, and no two share noise."""

import copy
import functools
import pickle

import numpy as np
import pytest

import mtcool
from mtcool.agents import kernels
from mtcool.learners import MTFTRLKT
from mtcool.streams import Loss, Quadratic
from mtcool.testing.peers.trial import play

RING = mtcool.graphs.ring(4)


def private(**options):
    return mtcool.dpmt_co2ol(RING, 1, mtcool.Privacy(1.0, 15, **options), seed=0)


def noise_of(agent):
    """What is published for a gradient of zero: noise, and nothing else."""
    activation = agent.activate()
    activation.predict({to: mtcool.agents.Rows(to, np.zeros(1), experts()) for to in (1, 3, 0, 2)})
    return {sums.total.tobytes() for sums in activation.learn([0.0]).values()}


@functools.cache
def experts():
    """Of any agent, for all rows: making a private network compiles, which no import should do."""
    return private().agent(0).rows(0).experts


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_an_agent_that_shares_its_noise_is_not_copied(copied):
    """The difference of what two such copies publish would have no noise."""
    with pytest.raises(ValueError, match="agent 2 must have noise of its own to be copied"):
        copied(private().agent(2))


def test_agents_of_one_seed_have_independent_noise():
    agents = [agent.with_noise(seed=7) for agent in private().agents().values()]
    sent = [pickle.loads(pickle.dumps(agent)) for agent in agents]
    assert len(set.union(*(noise_of(agent) for agent in sent))) == len(agents)


def test_the_seed_of_an_agent_repeats_its_noise():
    net = private()
    assert noise_of(net.agent(1).with_noise(7)) == noise_of(net.agent(1).with_noise(7))
    assert noise_of(net.agent(1).with_noise(7)) != noise_of(net.agent(1).with_noise(8))
    assert noise_of(net.agent(1).with_noise()) != noise_of(net.agent(1).with_noise())
    with pytest.raises(ValueError, match="seed must be a whole number"):
        net.agent(1).with_noise(-1)


def test_a_seed_given_again_does_not_repeat_noise_that_is_out():
    agent = private().agent(1).with_noise(7)
    draws = [agent.sanitiser.noise.draw("laplace", np.ones(3)).tobytes()]
    noise_of(agent)
    again = agent.with_noise(7)
    draws.append(again.sanitiser.noise.draw("laplace", np.ones(3)).tobytes())
    assert draws[0] != draws[1]


def arrays(state):
    for field in state:
        if hasattr(field, "_fields"):
            yield from arrays(field)
        elif isinstance(field, np.ndarray):
            yield field


def agents_of(kind):
    if kind == "private":
        return {name: agent.with_noise(1) for name, agent in private().agents().items()}
    if kind == "single task":
        return mtcool.st_ftrl(RING, 1, lipschitz=9.0).agents()
    options = {"rates": "estimated", "q_min": 0.25, "horizon": 1, "lipschitz": 9.0}
    return mtcool.mt_co2ol(RING, 1, learner=MTFTRLKT(), **options).agents()


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda agents: pickle.loads(pickle.dumps(agents))]
)
@pytest.mark.parametrize("kind", ["plain", "single task", "private"])
def test_a_copy_runs_the_code_that_is_compiled(kind, copied):
    """Arrays that are not read-only where ours are would have another type."""
    first, second = agents_of(kind), agents_of(kind)
    loss = Loss(Quadratic(), [0.5])
    for agents in (first, second):
        play(agents, 0, loss)
    names = ("read_row", "learn_row", "read_experts", "tell_one", "release_one")
    compiled = {name: len(getattr(kernels, name).signatures) for name in names}
    second = copied(second)
    for name, agent in second.items():
        found, wanted = ([a.flags.writeable for a in arrays(x.state)] for x in (agent, first[name]))
        assert found == wanted
    for name in (0, 1, 0):
        found, wanted = (play(agents, name, loss).prediction for agents in (second, first))
        assert found.tobytes() == wanted.tobytes()
    assert compiled == {name: len(getattr(kernels, name).signatures) for name in names}


def test_an_agent_does_not_grow_with_its_network():
    """Nobody carries the levels, horizons and probabilities of all others."""
    sizes = []
    for count in (10, 1000):
        ring = mtcool.graphs.ring(count)
        levels = mtcool.Privacy(np.linspace(1.0, 2.0, count), np.arange(20, 20 + count))
        net = mtcool.dpmt_co2ol(ring, 1, levels, seed=0)
        agent = net.agent(3)
        assert agent.settings.privacy.horizon == (23,)
        rates = mtcool.mt_co2ol(
            ring, 1, learner=MTFTRLKT(), rates="stochastic", q=np.full(count, 1.0 / count)
        ).agent(3)
        sizes.append(len(pickle.dumps(agent.with_noise(1))) + len(pickle.dumps(rates)))
    assert sizes[1] - sizes[0] < 100


def test_agents_that_were_joined_and_cut_again_repeat_no_noise():
    """The network goes on with a stream that no agent has, whatever seed agents get again."""
    options = {"aggregator": mtcool.privacy.PerGradient()}
    agents = [agent.with_noise(seed=7) for agent in private(**options).agents().values()]
    joined = mtcool.Network.from_agents(agents, RING)
    joined.update(1, [0.0])
    published = joined.agent(1).aggregator.published[0]
    again = joined.agent(0).with_noise(seed=7)
    assert np.frombuffer(min(noise_of(again)))[0] != published
    twin = mtcool.Network.from_agents(agents, RING)
    twin.update(1, [0.0])
    assert twin.agent(1).aggregator.published[0] == published  # from the same agents, the same


def test_a_forked_process_gets_no_noise_of_its_own(monkeypatch):
    agent = private().agent(0)
    monkeypatch.setattr("os.getpid", lambda: -1)
    with pytest.raises(ValueError, match="must be drawn by the process that made or loaded"):
        agent.with_noise(seed=3)
