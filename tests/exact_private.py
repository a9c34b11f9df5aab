"""Private agents, the obvious, slow way, to rounding.

Written from the definitions: explicit rows, a list of all leaves that an agent ever had, trees that
know which leaves their nodes cover. The noise of every node is given.
"""

import math

import numpy as np

import oracle
from exact_rows import minimiser


class Sums:
    """The completed binary tree over the leaves of one agent."""

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


class ExactPrivateNetwork:
    """DPMT-CO2OL with completed trees.

    `graph` has the neighbours of agents 0, 1, ...; `weights` a weight for every agent and clique;
    `padding` the noise before the first round, agent after agent; `q` how often agents are active,
    for stochastic rates.
    """

    def __init__(self, graph, dim, experts, weights, most, padding, q=None):
        self.graph, self.dim, self.weights = graph, dim, weights
        around = [sorted({i, *near}) for i, near in enumerate(graph)]
        self.around = around
        self.cliques = [Clique(around[j], dim, experts, self.rate(j, q)) for j in range(len(graph))]
        widths = [dim + sum(self.cliques[j].numbers for j in near) for near in around]
        levels = math.floor(math.log2(most)) + 1
        ends = np.cumsum([levels * width for width in widths])
        *parts, rest = np.split(padding, ends)
        assert len(rest) == 0
        self.trees = [Sums(most, own.reshape(levels, -1)) for own in parts]
        for i in range(len(graph)):
            self.publish(i)

    def rate(self, j, q):
        """Root of the mean square of the weights that a clique receives; their bound without q."""
        received = [self.weights[i][j] for i in self.around[j]]
        if q is None:
            return max(received)
        active = [q[i] for i in self.around[j]]
        return math.sqrt(np.average(np.square(received), weights=active))

    def predict(self, i):
        return sum(self.weights[i][j] * self.cliques[j].row(i) for j in self.around[i])

    def update(self, i, gradient, noise):
        """One round; gradients are at most one long, or clipped."""
        rows = {j: self.cliques[j].expert_rows(i) for j in self.around[i]}
        self.trees[i].add(self.leaf(i, gradient, rows), noise)
        for j in self.around[i]:
            self.cliques[j].n += 1
        self.publish(i)

    def leaf(self, i, gradient, rows):
        """The clipped gradient, and its products with the clipped rows of all experts."""
        g = oracle.project(np.asarray(gradient, float))
        leaf = [*g]
        for j in self.around[i]:
            if self.cliques[j].numbers:
                leaf += [self.weights[i][j] * (oracle.project(x) @ g) for x in rows[j]]
        return leaf

    def publish(self, i):
        """Tell all cliques what there is to know of an agent."""
        for j, (sums, products) in self.told(i).items():
            self.cliques[j].sums[i], self.cliques[j].products[i] = sums, products

    def told(self, i):
        """Sums and products for each clique that knows an agent."""
        sums, place, told = self.trees[i].published(), self.dim, {}
        for j in self.around[i]:
            end = place + self.cliques[j].numbers
            told[j] = self.weights[i][j] * sums[: self.dim], sums[place:end]
            place = end
        return told
