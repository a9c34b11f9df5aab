"""Private agents whose messages are late or lost, against the obvious implementation."""

import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.privacy.test_private_oracle import GRAPHS, random_weights, twins

import mtcool
from field_messages import (
    DELAY_GRADIENT,
    DELAY_ROW,
    LOST_GRADIENT,
    LOST_ROW,
    draw,
)
from mtcool import Delay, Delays, Privacy
from support.private_carrier import PrivateCarrier


class LateNetwork:
    """Plays an `ExactPrivateNetwork` with messages that arrive at the ends of rounds, or never."""

    def __init__(self, net, seed, gradients, rows, lost):
        self.net, self.seed = net, int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
        self.gradients, self.rows, self.lost = gradients, rows, lost
        self.clock, self.post, self.begun = 0, [], [0] * len(net.graph)
        self.answers, self.newest = {}, {}

    def arrives(self, kinds, law, i, j, n):
        """Rounds that a message takes, or None."""
        lost, late = kinds
        if draw(self.seed, lost, i, j, n, 0) < self.lost:
            return None
        return int(law[0] - law[1] * np.log1p(-draw(self.seed, late, i, j, n, 0)))

    def put(self, wait, take):
        if wait == 0:
            take()
        elif wait is not None:
            self.post.append((self.clock + wait, take))

    def keep_answer(self, i, j, n, answer):
        if self.answers.get((i, j), (-1,))[0] < n:
            self.answers[i, j] = (n, *answer)

    def keep_sums(self, i, j, number, sums, products):
        if self.newest.get((i, j), 0) < number:
            self.newest[i, j] = number
            self.net.cliques[j].sums[i], self.net.cliques[j].products[i] = sums, products
            self.net.cliques[j].n += 1

    def begin(self, i):
        """The prediction, and the rows that the agent has seen for it."""
        net, n = self.net, self.begun[i]
        others = set(net.around[i]) - {i}
        for j in others:
            answer = net.cliques[j].row(i), net.cliques[j].expert_rows(i)
            wait = self.arrives((LOST_ROW, DELAY_ROW), self.rows, i, j, n)
            self.put(wait, lambda j=j, answer=answer: self.keep_answer(i, j, n, answer))
        seen = {i: (net.cliques[i].row(i), net.cliques[i].expert_rows(i))}
        for j in others:
            zeros = np.zeros(net.dim), [np.zeros(net.dim)] * len(net.cliques[j].xis)
            seen[j] = self.answers.get((i, j), (-1, *zeros))[1:]
        return sum(net.weights[i][j] * model for j, (model, _) in seen.items()), seen

    def update(self, i, seen, gradient, noise):
        net, n = self.net, self.begun[i]
        net.trees[i].add(net.leaf(i, gradient, {j: rows for j, (_, rows) in seen.items()}), noise)
        told, number = net.told(i), len(net.trees[i].leaves)
        net.cliques[i].sums[i], net.cliques[i].products[i] = told[i]
        net.cliques[i].n += 1
        for j in set(net.around[i]) - {i}:
            wait = self.arrives((LOST_GRADIENT, DELAY_GRADIENT), self.gradients, i, j, n)
            self.put(wait, lambda j=j: self.keep_sums(i, j, number, *told[j]))
        self.begun[i] += 1
        due = [take for when, take in self.post if when <= self.clock]
        self.post = [(when, take) for when, take in self.post if when > self.clock]
        for take in due:
            take()
        self.clock += 1


laws = st.tuples(st.integers(0, 3), st.sampled_from([0.0, 0.0, 1.5]))


@settings(
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=25,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(
    graph=st.sampled_from(sorted(GRAPHS)),
    experts=st.sampled_from(["paper", (0.3,)]),
    sums=laws,
    rows=laws,
    lost=st.sampled_from([0.0, 0.3]),
    seed=st.integers(0, 1000),
)
def test_late_and_lost_messages_equal_the_oracle(graph, experts, sums, rows, lost, seed):
    rng = np.random.default_rng(seed)
    size, dim = len(GRAPHS[graph]), 2
    weights = random_weights(GRAPHS[graph], rng)
    net, slow, noise = twins(GRAPHS[graph], dim, 100.0, 20, experts, weights)
    delays = Delays(gradients=Delay(*sums), rows=Delay(*rows), lost=lost)
    ours = PrivateCarrier(net.agents().values(), delays, seed=seed + 1)
    theirs = LateNetwork(slow, seed + 1, sums, rows, lost)
    for _ in range(16):
        agent, target = int(rng.integers(size)), 2.0 * rng.standard_normal(dim)
        x, seen = theirs.begin(agent)
        found = ours.round(agent, lambda x, target=target: x - target)
        np.testing.assert_allclose(found, x, atol=1e-9)
        theirs.update(agent, seen, found - target, noise.drawn[-1])


STAR = nx.star_graph(3)


def made(horizon=15, **options):
    return mtcool.dpmt_co2ol(STAR, 1, Privacy(1.0, horizon), seed=0, **options)


def test_messages_that_all_arrive_at_once_play_as_the_network_does():
    net, twin = made(), made()
    carrier = PrivateCarrier(twin.agents().values())
    for agent in (0, 3, 0, 1, 0, 3, 3):
        wanted = net.predict(agent)
        net.update(agent, [0.5])
        np.testing.assert_array_equal(carrier.update(agent, [0.5]), wanted)
    assert carrier.under_way == 0
    again = mtcool.Network.from_agents(carrier.agents.values(), STAR)
    np.testing.assert_array_equal(again.predict(0), net.predict(0))


def test_a_lost_sum_is_made_up_for_by_the_next():
    carrier = PrivateCarrier(made().agents().values(), Delays(lost=0.5))
    agents, listener = carrier.agents, carrier.agents[0]
    row, heard = listener.clique.rows[3], []
    for _ in range(15):
        carrier.update(3, [0.5])
        heard.append(listener.heard[3])
        if heard[-1] == agents[3].released:
            whole = listener.clique.weights[3] * agents[3].published[:1]
            np.testing.assert_allclose(listener.state.base.gradients[row], whole, rtol=1e-12)
    assert heard == sorted(heard)
    assert 3 < len(set(heard)) < 12  # some were lost, others came


def test_levels_are_spent_by_publishing_whatever_arrives():
    late = PrivateCarrier(made().agents().values(), Delays(gradients=9, rows=4, lost=0.4))
    net = made()
    for agent in (0, 1, 0, 2):
        late.update(agent, [0.5])
        net.update(agent, [0.5])
    assert {name: agent.account() for name, agent in late.agents.items()} == net.ledger()


def test_what_is_refused_changes_nothing():
    carrier = PrivateCarrier(made(horizon=2).agents().values(), Delays(labels=3))
    agent = carrier.agents[3].with_noise(seed=1)
    carrier.agents[3] = agent
    before = pickle.dumps(agent)
    with pytest.raises(ValueError, match="gradient"):
        carrier.update(3, [np.nan])
    assert (pickle.dumps(agent), carrier.clock, carrier.under_way) == (before, 0, 0)
    for _ in range(2):
        carrier.round(3, lambda x: x)
    with pytest.raises(ValueError, match="horizon of agent 3 is 2 activations, of which 2 are"):
        carrier.round(3, lambda x: x)  # whose labels are under way
    assert carrier.under_way == 2
