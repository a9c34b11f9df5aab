"""Every check of peers catches the mistake that it is there for, and says what is wrong.

The mistakes are planted in the exchange of an i-FTRL network, or in what the agents are made of.
"""

import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import mtcool
from mtcool.agents.cliques import CliqueActivation, CliqueAgent
from mtcool.algorithms import Algorithm, make_network
from mtcool.learners import FTRL, MTFTRLKT
from mtcool.peers.assemble import clique_peers
from mtcool.peers.exchange import CliqueExchange
from mtcool.testing import check_peers, peers_checks

KEPT = np.zeros(2)


class Wrapped:
    """An exchange with one mistake."""

    def __init__(self, bug, peers, settings):
        self._bug, self._inner = bug, CliqueExchange(peers, settings)
        self._answer, self._gradient, self._told = np.zeros(settings.dim), None, 0

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def predict(self, agent, x):
        self._inner.predict(agent, x)
        if self._bug == "curious":
            self.peers.state.n[agent] += 1
        if self._bug == "zero":
            x[:] = 0.0

    def update(self, agent, gradient):
        if self._bug == "careless":
            gradient *= 0.5
        if self._bug == "keeps":
            late, self._gradient = self._gradient, gradient
            gradient = gradient if late is None else late
        if self._bug == "hasty":
            self.peers.state.n[agent] += 1
        self._inner.update(agent, gradient)
        if self._bug == "forgetful":  # what a copy does not know
            self._told += 1
            self.peers.state.total[agent] *= 1.0 / (1.0 + 0.01 * (self._told > 20))

    def settle(self):
        if self._bug == "fast":
            self.peers.state.n[0] += 1


def wrapped_exchange(bug, peers, settings, graph, noise):
    return Wrapped(bug, peers, settings)


def algorithm(bug):
    return Algorithm(
        name="planted",
        title="planted",
        learner=FTRL(),
        peers=clique_peers,
        exchange=partial(wrapped_exchange, bug),
        alone=True,
    )


CAUGHT = {
    "curious": ("predicting_changes_nothing", "predict changed the state|something else"),
    "zero": ("networks_learn", "all predictions are zero"),
    "careless": ("the_gradient_belongs_to_the_caller", "update changed the gradient"),
    "keeps": ("the_gradient_belongs_to_the_caller", "it raised ValueError|was learned"),
    "hasty": ("refused_input_changes_nothing", "update changed the state before it refused"),
    "fast": ("simulation_plays_the_same_rounds", "simulate pays different losses"),
    "forgetful": ("copies_go_on_as_the_network", "copied, it learns something else"),
}


def checks(made, **settings):
    return {check.name: check for check in peers_checks(made, **settings)}


@pytest.mark.parametrize("bug", CAUGHT)
def test_a_planted_mistake_is_caught_by_its_check(bug):
    name, words = CAUGHT[bug]
    said = re.escape("planted with dim=2, {} fails the check " + name) + f": (?s:.*)({words})"
    with pytest.raises(AssertionError, match=said + "(?s:.*)What must hold: "):
        checks(algorithm(bug))[name].run()


def test_without_a_mistake_all_checks_pass():
    check_peers(algorithm("none"))


def test_functions_that_workers_cannot_import_are_caught():
    local = replace(algorithm("none"), exchange=lambda *rest: wrapped_exchange("none", *rest))
    with pytest.raises(AssertionError, match=r"pickled_networks_go_on: it raised .*pickle"):
        checks(local)["pickled_networks_go_on"].run()


def test_a_prediction_that_is_not_new_is_caught(monkeypatch):
    monkeypatch.setattr(mtcool.Network, "predict", lambda network, agent: KEPT)
    with pytest.raises(AssertionError, match="predictions_belong_to_the_caller: writing into"):
        checks(algorithm("none"))["predictions_belong_to_the_caller"].run()


def test_input_that_is_not_refused_is_caught(monkeypatch):
    monkeypatch.setattr(CliqueExchange, "update", lambda exchange, agent, gradient: None)
    with pytest.raises(AssertionError, match="update took a gradient of another length"):
        checks(algorithm("none"))["refused_input_changes_nothing"].run()


def test_agents_that_learn_otherwise_are_caught(monkeypatch):
    learn = CliqueActivation.learn
    monkeypatch.setattr(
        CliqueActivation, "learn", lambda activation, gradient: learn(activation, 0.5 * gradient)
    )
    with pytest.raises(AssertionError, match=r"agents_play_as_.*in round .* predicts something"):
        checks(mtcool.i_ftrl)["agents_play_as_their_network_does"].run()


def test_agents_that_are_joined_wrongly_are_caught(monkeypatch):
    """Also in what does not show in the next prediction, such as the clocks of this learner."""
    join = mtcool.Network.from_agents

    def careless(agents, graph):
        network = join(agents, graph)
        network.peers.state.n[:] += 1
        return network

    monkeypatch.setattr(mtcool.Network, "from_agents", careless)
    with pytest.raises(AssertionError, match=r"agents_play_as_.*agents have another state"):
        checks(mtcool.mt_co2ol, learner=MTFTRLKT())["agents_play_as_their_network_does"].run()


def test_agents_that_forget_when_they_are_pickled_are_caught(monkeypatch):
    reduce = CliqueAgent.__reduce__

    def forgetful(agent):
        kind, given = reduce(agent)
        return kind, given[:5]

    monkeypatch.setattr(CliqueAgent, "__reduce__", forgetful)
    with pytest.raises(AssertionError, match=r"pickled_agents_go_on: once pickled, agents learn"):
        checks(mtcool.i_ftrl)["pickled_agents_go_on"].run()


def test_messages_that_are_not_counted_are_caught(monkeypatch):
    activate = CliqueAgent.activate

    def talkative(agent):
        activation = activate(agent)
        # It asks itself, too.
        activation.requests = {agent.name: mtcool.agents.RowRequest(agent.name)}
        return activation

    monkeypatch.setattr(CliqueAgent, "activate", talkative)
    with pytest.raises(AssertionError, match="the trace counts other messages than agents send"):
        checks(mtcool.i_ftrl)["messages_are_counted"].run()


def test_a_file_that_forgets_is_caught(monkeypatch):
    load = mtcool.load

    def forgetful(path, learner):
        network = load(path, learner)
        return make_network(network.settings.algorithm, network.graph, 2, lipschitz=9.0)

    monkeypatch.setattr("mtcool.testing.peers.copies.load", forgetful)
    with pytest.raises(AssertionError, match="saved and loaded, it predicts something else"):
        checks(mtcool.i_ftrl)["saved_networks_go_on"].run()
    known = dict(mtcool.algorithms.ALGORITHMS)
    with pytest.raises(AssertionError, match="saved and loaded, it predicts something else"):
        checks(algorithm("none"))["saved_networks_go_on"].run()  # which is not registered
    assert known == mtcool.algorithms.ALGORITHMS


def test_every_check_has_a_mistake():
    planted = {name for name, _ in CAUGHT.values()}
    besides = {
        "predictions_belong_to_the_caller",
        "agents_play_as_their_network_does",
        "messages_are_counted",
        "pickled_agents_go_on",
        "pickled_networks_go_on",
        "saved_networks_go_on",
    }
    assert planted | besides == set(checks(mtcool.i_ftrl))
