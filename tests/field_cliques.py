"""Cliques whose rows, bounds and rates change, the obvious way: explicit matrices and sums.

Part of `field_oracle`. A learner has `points(beta)`, the matrix of its rows, `learn(row, gradient,
beta, bound)`, `grow()` for twice the slots, and `rescale(ratio)` for a larger bound.
"""

import functools
import math

import numpy as np

from exact_rows import minimiser
from oracle import (
    geometric_experts,
    interaction_matrix,
    interaction_norm,
    paper_experts,
    project,
)


class Hedge:
    """MT-FTRL with Hedge over variances."""

    def __init__(self, size, dim, experts="paper", free_last=False):
        self.gamma = np.zeros((size, dim))
        self.named, self.free_last = experts, free_last
        self.xis = self.variances()
        self.losses = np.zeros(len(self.xis))
        self.played = None

    def variances(self):
        size = len(self.gamma)
        if size == 1:
            return [0.0]
        if self.named == "paper":
            return paper_experts(size)
        return geometric_experts(size) if self.named == "geometric" else list(self.named)

    def experts(self, beta):
        """The experts' points, one after the other."""
        if self.played is None or self.played[0] != beta:
            size, points = len(self.gamma), []
            for place, xi in enumerate(self.xis):
                eta = size * math.sqrt(1 + xi * (size - 1)) / beta
                free = self.free_last and size > 1 and place == len(self.xis) - 1
                points.append(minimiser(eta * self.gamma, math.inf if free else xi))
            self.played = (beta, points)
        return self.played[1]

    def points(self, beta):
        exponents = -math.sqrt(math.log(len(self.losses))) / beta * self.losses
        p = np.exp(exponents - exponents.max())
        return np.tensordot(p / p.sum(), self.experts(beta), axes=1)

    def learn(self, row, gradient, beta, bound):
        self.losses += [x[row] @ gradient for x in self.experts(beta)]
        self.gamma[row] += gradient
        self.played = None

    def grow(self):
        """Twice the slots: a new expert goes on where an old one of at least its size was."""
        old, known, spread = self.xis, self.losses, len(self.gamma) - 1
        self.gamma = np.concatenate([self.gamma, np.zeros_like(self.gamma)])
        self.xis, self.played = self.variances(), None
        self.losses = np.zeros(len(self.xis))
        for place, xi in enumerate(self.xis):
            least = xi * (len(self.gamma) - 1) - 1e-12
            larger = [k for k in range(len(old)) if old[k] * spread >= least]
            self.losses[place] = known[larger[0] if larger else -1]

    def rescale(self, ratio):
        """Only the rate changes."""


class Coin:
    """Krichevsky-Trofimov: outcomes in units of the bound, and the wealth."""

    def __init__(self):
        self.tosses, self.outcomes, self.wealth = 0, 0.0, 1.0

    def bet(self):
        return -self.outcomes / (self.tosses + 1) * self.wealth

    def toss(self, outcome):
        assert abs(outcome) <= 1 + 1e-9
        self.wealth -= self.bet() * outcome
        self.outcomes += outcome
        self.tosses += 1

    def rescale(self, ratio):
        self.outcomes *= ratio
        self.wealth = ratio * self.wealth + 1 - ratio


class HedgeFreeKT:
    """MT-FTRL with KT; the unit of the coin is that of the first number of slots."""

    def __init__(self, size, dim):
        self.gamma = np.zeros((size, dim))
        self.unit = 1.0 if size == 1 else math.sqrt(size / 2)
        self.coin = Coin()

    def direction(self, beta):
        size = len(self.gamma)
        x = -math.sqrt(size) / beta * np.linalg.solve(interaction_matrix(size), self.gamma)
        return x / max(1.0, interaction_norm(x))

    def points(self, beta):
        return self.coin.bet() * self.direction(beta)

    def learn(self, row, gradient, beta, bound):
        self.coin.toss(self.unit * (self.direction(beta)[row] @ gradient) / bound)
        self.gamma[row] += gradient

    def grow(self):
        self.gamma = np.concatenate([self.gamma, np.zeros_like(self.gamma)])

    def rescale(self, ratio):
        self.coin.rescale(ratio)


class FTRL:
    """One common point for all rows, slots or not."""

    def __init__(self, size, dim):
        self.size, self.total = size, np.zeros(dim)

    def points(self, beta):
        return np.tile(project(-self.total / beta), (self.size, 1))

    def learn(self, row, gradient, beta, bound):
        self.total += gradient

    def grow(self):
        self.size *= 2

    def rescale(self, ratio):
        """Only the rate changes."""


class KT(FTRL):
    """KT with FTRL for the direction."""

    def __init__(self, size, dim):
        super().__init__(size, dim)
        self.coin = Coin()

    def points(self, beta):
        return self.coin.bet() * super().points(beta)

    def learn(self, row, gradient, beta, bound):
        self.coin.toss((project(-self.total / beta) @ gradient) / bound)
        super().learn(row, gradient, beta, bound)

    def rescale(self, ratio):
        self.coin.rescale(ratio)


LEARNERS = {"MTFTRL": Hedge, "MTFTRLKT": HedgeFreeKT, "FTRL": FTRL, "KT": KT}


def learner_of(name, **options):
    return functools.partial(LEARNERS[name], **options)


class Clique:
    """Slots for agents, a learner on them, and what decides its rate.

    `R` is the sum of the weights received, `W` that of their squares and the extra credit, `A` the
    extra credit alone, `b` the largest weight announced.
    """

    def __init__(self, members, dim, learner, adaptive):
        self.slots, self.doublings = len(members), 0
        self.rows = {name: slot for slot, name in enumerate(members)}
        self.learner, self.adaptive = learner(self.slots, dim), adaptive
        self.n, self.R, self.W, self.A, self.b = 0, 0.0, 0.0, 0.0, 0.0

    def admit(self, name):
        """The row of an agent: its old one, or the next vacant slot."""
        if name in self.rows:
            return
        if len(self.rows) == self.slots:
            self.learner.grow()
            self.slots, self.doublings = 2 * self.slots, self.doublings + 1
        self.rows[name] = len(self.rows)

    def announce(self, weight):
        """Weights up to this will come."""
        if weight > self.b:
            if self.b > 0:
                self.learner.rescale(self.b / weight)
            self.b = weight

    def beta(self):
        if self.adaptive:
            return math.sqrt(self.b**2 + self.W)
        return self.b * math.sqrt(1 + self.n)

    def row(self, name):
        return self.learner.points(self.beta())[self.rows[name]].copy()

    def learn(self, name, gradient, weight, stamp, power):
        """A gradient for the row that was read when the weights received were `stamp`."""
        assert weight * np.linalg.norm(gradient) <= self.b * (1 + 1e-9)
        self.learner.learn(self.rows[name], weight * gradient, self.beta(), self.b)
        extra = (power - 1) * weight**2 + 2 * weight * (self.R - stamp)
        self.A += extra
        self.W += weight**2 + extra
        self.R += weight
        self.n += 1

    def record(self):
        return {name: getattr(self, name) for name in ("W", "A", "R", "b", "slots", "doublings")}
