"""Claims about the forms in which rounds are played: all of them give the same bits."""

import copy
import pickle

import numpy as np

from mtcool.agents import Agent, encode
from mtcool.agents.private import PrivateAgent
from mtcool.network import Network
from mtcool.simulation import simulate
from mtcool.testing.checks import require, require_equal
from mtcool.testing.peers.trial import PeersTrial, all_predictions, content, play, tell

ROUNDS = 40


def simulation_plays_the_same_rounds(trial: PeersTrial) -> None:
    """`simulate` and `predict`, `update` give the same losses and the same state, to the bit."""
    fast, slow = trial.used(), trial.used()
    trace = simulate(fast, trial.stream(ROUNDS), times=range(1, ROUNDS + 1))
    paid = [loss(tell(slow, agent, loss))[0] for agent, loss in trial.rounds(ROUNDS)]
    by_agent = np.zeros(len(fast.graph.labels))
    for (agent, _), one in zip(trial.rounds(ROUNDS), paid, strict=True):
        by_agent[agent] += one
    require_equal(trace.agent_loss, by_agent, "simulate pays different losses")
    require(content(fast) == content(slow), "simulate leaves another state behind")


def agents_play_as_their_network_does(trial: PeersTrial) -> None:
    """Agents cut out of a network, with messages in between, predict the same, to the bit.

    Joined again, they are the network that has played the same rounds, and play on as it.
    """
    for seed in range(2):
        network = trial.used(seed)
        twin = copy.deepcopy(network)  # with a copy of the noise
        agents = twin.agents()
        for t, (agent, loss) in enumerate(trial.rounds(ROUNDS, seed)):
            wanted = tell(network, agent, loss)
            found = play(agents, agent, loss).prediction
            require_equal(found, wanted, f"in round {t} agent {agent} predicts something else")
        again = Network.from_agents(agents.values(), network.graph)
        found = all_predictions(again)
        require_equal(
            found, all_predictions(network), "joined again, agents predict something else"
        )
        same = content(again) == content(network)
        require(same, "joined again, agents have another state")
        require(again.settings == twin.settings, "joined again, the settings differ")
        if network.settings.algorithm.private:
            alone = {
                label: agent.account()
                for label, agent in agents.items()
                if isinstance(agent, PrivateAgent)
            }
            require(alone == network.ledger(), "the ledgers of agents and network differ")
            require(again.ledger() == network.ledger(), "joined again, the ledger differs")
        for agent, loss in trial.rounds(ROUNDS // 2, seed + 10):
            found, wanted = tell(again, agent, loss), tell(network, agent, loss)
            require_equal(found, wanted, "joined again, agents play on differently")


def pickled_agents_go_on(trial: PeersTrial) -> None:
    """A pickled agent, with noise of its own if it is private, plays on, to the bit.

    The functions of an algorithm's record must be those of a module, which others can import.
    """
    first, second = (
        {name: _with_own_noise(agent) for name, agent in trial.used().agents().items()}
        for _ in range(2)
    )
    for t, (agent, loss) in enumerate(trial.rounds(ROUNDS // 2)):
        if t % 5 == 0:
            second = pickle.loads(pickle.dumps(second))
        wanted = play(first, agent, loss).prediction
        found = play(second, agent, loss).prediction
        require_equal(found, wanted, "once pickled, agents learn something else")


def _with_own_noise(agent: Agent) -> Agent:
    return agent.with_noise(seed=1) if isinstance(agent, PrivateAgent) else agent


def messages_are_counted(trial: PeersTrial) -> None:
    """Messages and bytes of a trace are those that the agents send in the same rounds."""
    agents = trial.used().agents()
    sent = [play(agents, agent, loss).messages for agent, loss in trial.rounds(ROUNDS)]
    trace = simulate(trial.used(), trial.stream(ROUNDS), times=range(ROUNDS + 1))
    messages, size = trace.messages, trace.message_bytes
    if messages is None or size is None:
        raise AssertionError("mtcool.agents.traffic is not registered for these peers")
    numbers = np.cumsum([0, *(len(one) for one in sent)])
    sizes = np.cumsum([0, *(sum(len(encode(message)) for message in one) for one in sent)])
    require_equal(messages, numbers, "the trace counts other messages than agents send")
    require_equal(size, sizes, "the trace counts other bytes than agents send")


CLAIMS = (
    simulation_plays_the_same_rounds,
    agents_play_as_their_network_does,
    pickled_agents_go_on,
    messages_are_counted,
)
