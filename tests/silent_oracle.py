"""Private agents that are silent in some rounds, the obvious, slow way.

Written from the definitions: explicit rows, a list of all leaves that an agent ever had, trees that
know which leaves their nodes cover. The noise of every node is given.
"""

import math

import numpy as np

import oracle
from exact_rows import minimiser
from field_messages import SPEAK, draw


class Sums:
    """The completed binary tree over the leaves of one agent and one kind of its rounds."""

    def __init__(self, most, padding):
        self.levels = math.floor(math.log2(most)) + 1
        assert padding.shape[0] == self.levels
        self.padding, self.leaves, self.nodes = padding, [], {}

    def add(self, leaf, noise):
        """The next leaf; the noise is that of the node that it completes."""
        self.leaves.append(np.array(leaf))
        t = len(self.leaves)
        length = t & -t
        self.nodes[t - length, t] = sum(self.leaves[t - length : t]) + noise

    def published(self):
        total, t, terms = np.zeros(self.padding.shape[1]), len(self.leaves), 0
        while t > 0:
            length = t & -t
            total = total + self.nodes[t - length, t]
            t, terms = t - length, terms + 1
        return total + self.padding[: self.levels - terms].sum(axis=0)


class Clique:
    """MT-FTRL with Hedge that is told sums: `sums[i]` of gradients, `products[i]` by expert."""

    def __init__(self, members, dim, experts, rate):
        self.members, self.rate, self.n = members, rate, 0
        self.xis = experts(len(members)) if len(members) > 1 else [0.0]
        self.sums = {i: np.zeros(dim) for i in members}
        self.products = {i: np.zeros(self.numbers) for i in members}

    @property
    def numbers(self):
        """Products that a row's agent publishes: none for a single expert."""
        return len(self.xis) if len(self.xis) > 1 else 0

    def beta(self):
        return self.rate * math.sqrt(1 + self.n)

    def expert_rows(self, i):
        size, row = len(self.members), self.members.index(i)
        gamma = np.array([self.sums[k] for k in self.members])
        etas = [size * math.sqrt(1 + xi * (size - 1)) / self.beta() for xi in self.xis]
        pairs = zip(etas, self.xis, strict=True)
        return [minimiser(eta * gamma, xi)[row] for eta, xi in pairs]

    def row(self, i):
        losses = np.zeros(len(self.xis))
        if self.numbers:
            losses = sum(self.products.values())
        exponents = -math.sqrt(math.log(len(self.xis))) / self.beta() * losses
        p = np.exp(exponents - exponents.max())
        return (p / p.sum()) @ np.array(self.expert_rows(i))


class SilentNetwork:
    """DPMT-CO2OL with silent rounds and completed trees.

    `graph` has the neighbours of agents 0, 1, ...; `weights` a weight for every agent and clique;
    `bytes_of` what a round of each agent costs in which it talks; `padding` the noise before the
    first round, channel after channel; `q` how often agents are active, for stochastic rates.
    """

    def __init__(
        self, graph, dim, experts, weights, messages, seed, most, bytes_of, padding, q=None
    ):
        self.graph, self.dim, self.weights, self.rules = graph, dim, weights, messages
        self.seed = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
        self.bytes_of = bytes_of
        around = [sorted({i, *near}) for i, near in enumerate(graph)]
        self.around = around
        self.cliques = [Clique(around[j], dim, experts, self.rate(j, q)) for j in range(len(graph))]
        widths = [dim + sum(self.cliques[j].numbers for j in near) for near in around]
        self.limits = [self.often(i, most) for i in range(len(graph))]
        padding = iter(padding)
        self.talked = [
            Sums(limit, self.take(padding, limit, width))
            for limit, width in zip(self.limits, widths, strict=True)
        ]
        self.alone = [
            Sums(most, self.take(padding, most, dim + self.cliques[i].numbers)) if near else None
            for i, near in enumerate(graph)
        ]
        assert next(padding, None) is None
        for i in range(len(graph)):
            self.publish(i)

    @staticmethod
    def take(numbers, most, width):
        levels = math.floor(math.log2(most)) + 1
        return np.array([[next(numbers) for _ in range(width)] for _ in range(levels)])

    def often(self, i, most):
        """How often an agent may talk."""
        if not self.graph[i]:
            return most
        often = [math.ceil(most / self.rules.get("every", 1))]
        if "budget" in self.rules:
            often.append(self.rules["budget"] // (3 * len(self.graph[i])))
        if "budget_bytes" in self.rules:
            often.append(self.rules["budget_bytes"] // self.bytes_of[i])
        return max(1, min(often))

    def rate(self, j, q):
        """Root of the mean square of the weights that a clique receives; their bound without q."""
        if q is None:
            return 1.0 if self.graph[j] else self.weights[j][j]
        share = self.rules.get("probability", 1.0) / self.rules.get("every", 1)
        mass = square = 0.0
        for i in self.around[j]:
            talks = share if self.graph[i] else 1.0
            mass += talks * q[i]
            square += talks * q[i] * self.weights[i][j] ** 2
        if self.graph[j]:
            mass += (1 - share) * q[j]
            square += (1 - share) * q[j]
        return math.sqrt(square / mass)

    def rounds(self, i):
        return len(self.talked[i].leaves) + (len(self.alone[i].leaves) if self.alone[i] else 0)

    def talks(self, i):
        """Whether an agent talks in its next round."""
        if not self.graph[i]:
            return True
        n, next_one = self.rounds(i), len(self.talked[i].leaves) + 1
        return (
            n % self.rules.get("every", 1) == 0
            and draw(self.seed, SPEAK, i, 0, n, 0) < self.rules.get("probability", 1.0)
            and 3 * len(self.graph[i]) * next_one <= self.rules.get("budget", math.inf)
            and self.bytes_of[i] * next_one <= self.rules.get("budget_bytes", math.inf)
            and next_one <= self.limits[i]
        )

    def predict(self, i):
        if not self.talks(i):
            return self.cliques[i].row(i)
        return sum(self.weights[i][j] * self.cliques[j].row(i) for j in self.around[i])

    def update(self, i, gradient, noise):
        """One round; gradients are at most one long, or clipped. Returns whether it talked."""
        g, talks = oracle.project(np.asarray(gradient, float)), self.talks(i)
        heard = {j: self.weights[i][j] for j in self.around[i]} if talks else {i: 1.0}
        leaf = [*g]
        for j, w in heard.items():
            if self.cliques[j].numbers:
                leaf += [w * (oracle.project(x) @ g) for x in self.cliques[j].expert_rows(i)]
        (self.talked if talks else self.alone)[i].add(leaf, noise)
        for j in heard:
            self.cliques[j].n += 1
        self.publish(i)
        return talks

    def publish(self, i):
        """Tell all cliques what there is to know of an agent."""
        for j, (sums, products) in self.told(i).items():
            self.cliques[j].sums[i], self.cliques[j].products[i] = sums, products

    def told(self, i):
        """Sums and products for each clique that knows an agent: its own knows both kinds."""
        sums, place, told = self.talked[i].published(), self.dim, {}
        for j in self.around[i]:
            end = place + self.cliques[j].numbers
            told[j] = self.weights[i][j] * sums[: self.dim], sums[place:end]
            place = end
        if self.alone[i]:
            alone, (total, products) = self.alone[i].published(), told[i]
            told[i] = total + alone[: self.dim], products + alone[self.dim :]
        return told
