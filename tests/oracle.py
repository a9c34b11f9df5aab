"""The paper's algorithms written the obvious, slow way: NumPy, explicit matrices, cvxpy.

Written from the paper and the pinned definitions alone, so that agreement with the library means
something. A clique has `predict()`, the matrix of its rows, and `update(row, gradient)`; a network
has `predict(agent)` and `update(agent, gradient)`. Agents are 0, ..., N - 1.
"""

import contextlib
import functools
import math
import warnings
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

# Tolerances for Clarabel: the first for which it still reports "optimal" is used. A gap of 1e-9 in
# the objective leaves an error of up to 2e-5 in the rows.
TOLERANCES = (1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8)


# --- geometry ---------------------------------------------------------------------------------


def interaction_matrix(size):
    """A = (1 + N) I - 11'."""
    return (1 + size) * np.eye(size) - np.ones((size, size))


def interaction_norm(x):
    """|X|_A."""
    return math.sqrt(np.trace(x.T @ interaction_matrix(len(x)) @ x))


def variance(x):
    """sigma^2(X) of the rows; zero for a single one."""
    return ((x - x.mean(axis=0)) ** 2).sum() / max(len(x) - 1, 1)


def project(x):
    """Projection on the unit ball."""
    return x / max(1.0, np.linalg.norm(x))


# --- the experts' minimiser -------------------------------------------------------------------


@functools.cache
def _problem(size, dim, xi):
    x, linear = cp.Variable((size, dim)), cp.Parameter((size, dim))
    root = np.linalg.cholesky(interaction_matrix(size)).T
    deviation = x - np.full((size, size), 1 / size) @ x
    constraints = [cp.norm(x, axis=1) <= 1]
    if xi == 0:
        constraints.append(deviation == 0)
    elif xi < math.inf:
        constraints.append(cp.norm(deviation, "fro") <= math.sqrt(xi * (size - 1)))
    objective = cp.sum(cp.multiply(linear, x)) + cp.sum_squares(root @ x) / 2
    return cp.Problem(cp.Minimize(objective), constraints), x, linear


def minimiser(linear, xi):
    """argmin <linear, X> + |X|_A^2 / 2 over rows in the unit ball with sigma^2(X) <= xi."""
    size, dim = linear.shape
    problem, x, parameter = _problem(size, dim, xi if size > 1 else math.inf)
    parameter.value = linear
    for tolerance in TOLERANCES:
        names = ("tol_gap_abs", "tol_gap_rel", "tol_feas")
        with warnings.catch_warnings(), contextlib.suppress(cp.SolverError):
            warnings.simplefilter("ignore")  # of an inaccurate solution: it is tried again
            problem.solve(solver=cp.CLARABEL, **dict.fromkeys(names, tolerance))
            if problem.status == cp.OPTIMAL:
                return x.value
    raise RuntimeError(f"Clarabel does not solve {linear!r} with xi = {xi}")


# --- what runs on a clique --------------------------------------------------------------------


def paper_experts(size):
    """1/N, 2/N, ..., 1."""
    return [k / size for k in range(1, size + 1)]


def geometric_experts(size):
    """1, 1/2, 1/4, ... until at most 1/N."""
    experts = [1.0]
    while experts[-1] > 1 / size:
        experts.append(experts[-1] / 2)
    return experts[::-1]


class Hedge:
    """MT-FTRL with Hedge over variances (`alg:mt-ftrl`)."""

    def __init__(self, size, dim, rate, bound, experts=paper_experts, free_last=False):
        self.gamma = np.zeros((size, dim))
        self.rate, self.n = rate, 0
        xis = list(experts(size)) if size > 1 else [0.0]
        self.etas = [size * math.sqrt(1 + xi * (size - 1)) for xi in xis]  # times 1 / beta
        self.caps = [*xis[:-1], math.inf] if free_last else xis
        self.losses = np.zeros(len(xis))
        self.play()

    def play(self):
        """The experts' points, and Hedge's mixture of them."""
        beta = self.rate * math.sqrt(1 + self.n)
        pairs = zip(self.etas, self.caps, strict=True)
        self.experts = [minimiser(eta / beta * self.gamma, cap) for eta, cap in pairs]
        exponents = -math.sqrt(math.log(len(self.losses))) / beta * self.losses
        p = np.exp(exponents - exponents.max())
        self.mixture = np.tensordot(p / p.sum(), self.experts, axes=1)

    def predict(self):
        return self.mixture

    def update(self, row, gradient):
        self.losses += [x[row] @ gradient for x in self.experts]
        self.gamma[row] += gradient
        self.n += 1
        self.play()


class Bets:
    """Krichevsky-Trofimov: the magnitude z, from the outcomes u of a coin."""

    def __init__(self):
        self.outcomes, self.bets = [], []

    def z(self):
        wealth = 1 - np.dot(self.bets, self.outcomes)
        return -sum(self.outcomes) / (len(self.outcomes) + 1) * wealth

    def add(self, u):
        self.bets.append(self.z())
        self.outcomes.append(u)


class HedgeFreeKT:
    """MT-FTRL with KT (`alg:mt-ftrl-kt`)."""

    def __init__(self, size, dim, rate, bound):
        self.gamma = np.zeros((size, dim))
        self.rate, self.bound, self.n = rate, bound, 0
        self.bets = Bets()

    def direction(self):
        size = len(self.gamma)
        beta = self.rate * math.sqrt(1 + self.n)
        x = -math.sqrt(size) / beta * np.linalg.inv(interaction_matrix(size)) @ self.gamma
        return x / max(1.0, interaction_norm(x))

    def predict(self):
        return self.bets.z() * self.direction()

    def update(self, row, gradient):
        size = len(self.gamma)
        unit = 1.0 if size == 1 else math.sqrt(size / 2)
        self.bets.add(unit * (self.direction()[row] @ gradient) / self.bound)
        self.gamma[row] += gradient
        self.n += 1


class FTRL:
    """FTRL on the unit ball; a clique of several rows learns one common point."""

    def __init__(self, size, dim, rate, bound):
        self.size, self.total = size, np.zeros(dim)
        self.rate, self.bound, self.n = rate, bound, 0

    def point(self):
        return project(-self.total / (self.rate * math.sqrt(1 + self.n)))

    def predict(self):
        return np.tile(self.point(), (self.size, 1))

    def update(self, row, gradient):
        self.total += gradient
        self.n += 1


class KT(FTRL):
    """KT with FTRL for the direction: MT-FTRL with KT for N = 1."""

    def __init__(self, size, dim, rate, bound):
        super().__init__(size, dim, rate, bound)
        self.bets = Bets()

    def predict(self):
        return self.bets.z() * super().predict()

    def update(self, row, gradient):
        self.bets.add((self.point() @ gradient) / self.bound)
        super().update(row, gradient)


class TwoPhase:
    """Zero until the clock reaches tau, then a learner with empirical frequencies."""

    def __init__(self, learner, dim, weights, tau):
        self.learner, self.dim, self.weights, self.tau = learner, dim, weights, tau
        self.seen, self.second = np.zeros(len(weights)), None

    def predict(self):
        if self.second is None:
            return np.zeros((len(self.weights), self.dim))
        return self.second.predict()

    def update(self, row, gradient):
        if self.second is not None:
            self.second.update(row, gradient)
            return
        self.seen[row] += 1
        if self.seen.sum() == self.tau:
            rate = stochastic_rate(self.seen, self.weights)
            self.second = self.learner(len(self.weights), self.dim, rate, max(self.weights))


# --- without a gradient bound -----------------------------------------------------------------


class LimitedBets:
    """KT in the units of the gradients, with an endowment for every growth of the longest."""

    def __init__(self, size):
        self.size, self.longest = size, 0.0
        self.outcomes, self.bets = [], []

    def limit(self):
        return math.sqrt(self.size * (1 + len(self.outcomes)))

    def wanted(self):
        if self.longest == 0.0:
            return 0.0
        wealth = self.longest - np.dot(self.bets, self.outcomes)
        fraction = -sum(self.outcomes) / self.longest / (len(self.outcomes) + 1)
        return fraction * wealth / self.longest

    def z(self):
        return max(-self.limit(), min(self.limit(), self.wanted()))

    def add(self, outcome):
        wanted = self.wanted()
        bolder = abs(wanted) > self.limit() and outcome * wanted < 0
        self.bets.append(wanted)
        self.outcomes.append(0.0 if bolder else outcome)


class Adaptive:
    """A clique in the units of the gradients; its steps are in units of the longest of them."""

    def __init__(self, learner, dim, weights):
        self.weights, self.longest = weights, 0.0
        self.learner = learner(len(weights), dim, max(weights), max(weights))
        if hasattr(self.learner, "bets"):
            self.learner.bets = LimitedBets(len(weights))

    def predict(self):
        return self.learner.predict() if self.longest > 0 else np.zeros(self.shape)

    @property
    def shape(self):
        return self.learner.predict().shape

    def update(self, row, gradient):
        norm = np.linalg.norm(gradient)
        if self.longest == 0.0:
            self.grow(norm)
        self.learner.update(row, self.weights[row] * gradient * min(1.0, self.longest / norm))
        self.grow(max(norm, self.longest))

    def grow(self, longest):
        self.longest, self.learner.rate = longest, max(self.weights) * longest
        if hasattr(self.learner, "bets"):
            self.learner.bets.longest = longest
        if hasattr(self.learner, "play"):
            self.learner.play()


# --- learning rates ---------------------------------------------------------------------------


def stochastic_rate(q, weights):
    """sqrt(sum_i (q_i / Q_j) w_ij^2) over the rows of a clique."""
    q, weights = np.asarray(q), np.asarray(weights)
    return math.sqrt((q / q.sum() * weights**2).sum())


def first_phase(agents, q_min, horizon):
    """tau, with the 12 of the proof."""
    return math.ceil(12 / q_min * math.log(2 * agents**2 * horizon))


@dataclass(frozen=True)
class Adversarial:
    """beta = max_i w_ij sqrt(1 + n_j)."""

    def clique(self, learner, dim, rows, weights):
        return learner(len(rows), dim, max(weights), max(weights))


@dataclass(frozen=True)
class Stochastic:
    """beta from known activation probabilities."""

    q: tuple[float, ...]

    def clique(self, learner, dim, rows, weights):
        rate = stochastic_rate([self.q[i] for i in rows], weights)
        return learner(len(rows), dim, rate, max(weights))


@dataclass(frozen=True)
class Estimated:
    """beta from probabilities estimated in a first phase."""

    tau: int

    def clique(self, learner, dim, rows, weights):
        return TwoPhase(learner, dim, np.array(weights), self.tau)


class SquaredWeights:
    """A clique that adds up the squares of the weights it is given, and sets beta by them."""

    def __init__(self, learner, dim, weights):
        self.weights, self.received = weights, []
        self.learner = learner(len(weights), dim, max(weights), max(weights))

    def predict(self):
        return self.learner.predict()

    def update(self, row, gradient):
        self.learner.update(row, gradient)
        self.received.append(self.weights[row] ** 2)
        beta = math.sqrt(max(self.weights) ** 2 + sum(self.received))
        self.learner.rate = beta / math.sqrt(1 + self.learner.n)  # it multiplies by its clock
        if hasattr(self.learner, "play"):
            self.learner.play()


@dataclass(frozen=True)
class FromWeights:
    """beta^2 = b^2 + the sum of the squared weights received."""

    def clique(self, learner, dim, rows, weights):
        return SquaredWeights(learner, dim, weights)


# --- networks ---------------------------------------------------------------------------------


def neighbourhood(graph, i):
    """Closed neighbourhood, ascending."""
    return sorted({i, *graph.neighbors(i)})


def uniform(graph):
    """w_ij = 1 / N_i."""
    return proportional(graph, np.ones(len(graph)))


def proportional(graph, q):
    """w_ij = q_j / Q_i."""
    weights = np.zeros((len(graph), len(graph)))
    for i in graph:
        for j in neighbourhood(graph, i):
            weights[i, j] = q[j] / sum(q[k] for k in neighbourhood(graph, i))
    return weights


def delegation(graph, dominating_set):
    """w_ij = 1 for j the smallest index of N_i in the dominating set."""
    weights = np.zeros((len(graph), len(graph)))
    for i in graph:
        weights[i, min(set(neighbourhood(graph, i)) & set(dominating_set))] = 1.0
    return weights


class CliqueNetwork:
    """Agents who average what cliques hold for them.

    `cliques` is a list of {agent: weight}; rows of weight zero are removed.
    """

    def __init__(self, cliques, learner, dim, rates, lipschitz, radius):
        self.lipschitz, self.radius, self.dim = lipschitz, radius, dim
        self.rows, self.weights, self.cliques = [], [], []
        for members in cliques:
            rows = sorted(i for i, w in members.items() if w > 0)
            if rows:
                weights = [members[i] for i in rows]
                self.rows.append(rows)
                self.weights.append(weights)
                self.cliques.append(rates.clique(learner, dim, rows, weights))

    def listened(self, agent):
        """(clique, row, weight) of every clique with a row for the agent."""
        for rows, weights, clique in zip(self.rows, self.weights, self.cliques, strict=True):
            if agent in rows:
                row = rows.index(agent)
                yield clique, row, weights[row]

    def predict(self, agent):
        parts = (w * clique.predict()[row] for clique, row, w in self.listened(agent))
        return self.radius * sum(parts, np.zeros(self.dim))

    def update(self, agent, gradient):
        for clique, row, w in self.listened(agent):
            clique.update(row, w * np.asarray(gradient) / self.lipschitz)


def mt_co2ol(graph, weights, learner, dim, rates=None, lipschitz=1.0, radius=1.0):
    """MT-CO2OL (`alg:global_alg`): one clique for each closed neighbourhood."""
    cliques = [{i: weights[i, j] for i in neighbourhood(graph, j)} for j in sorted(graph)]
    return CliqueNetwork(cliques, learner, dim, rates or Adversarial(), lipschitz, radius)


def pairwise(graph, weights, learner, dim, rates=None, lipschitz=1.0, radius=1.0):
    """The failing approach (`sec:fail`): one clique for each edge and one for each agent."""
    cliques = [{i: weights[i, i]} for i in graph]
    cliques += [{i: weights[i, j], j: weights[j, i]} for i, j in graph.edges]
    return CliqueNetwork(cliques, learner, dim, rates or Adversarial(), lipschitz, radius)


def i_ftrl(graph, learner, dim, lipschitz=1.0, radius=1.0):
    """i-FTRL: everybody alone."""
    cliques = [{i: 1.0} for i in graph]
    return CliqueNetwork(cliques, learner, dim, Adversarial(), lipschitz, radius)


class SingleTaskNetwork:
    """ST-FTRL: everybody in the neighbourhood learns from the loss at the own point."""

    def __init__(self, graph, learner, dim, lipschitz=1.0, radius=1.0):
        self.graph, self.lipschitz, self.radius = graph, lipschitz, radius
        self.points = [learner(1, dim, 1.0, 1.0) for _ in graph]

    def predict(self, agent):
        return self.radius * self.points[agent].predict()[0]

    def update(self, agent, subgradient):
        for j in neighbourhood(self.graph, agent):
            self.points[j].update(0, subgradient(self.predict(j)) / self.lipschitz)


# --- privacy ----------------------------------------------------------------------------------


class PrivateHedge(Hedge):
    """DPMT-FTRL (`alg:mt-ftrl-DP`): told noisy sums of gradients and of products."""

    def __init__(self, size, dim, rate, bound, **options):
        super().__init__(size, dim, rate, bound, **options)
        self.products = np.zeros((size, len(self.losses)))

    def tell(self, row, total, products, active=True):
        self.gamma[row] = total
        if len(self.losses) > 1:
            self.products[row] = products
        self.losses = self.products.sum(axis=0)
        self.n += active

    def channels(self):
        """Products that a row's agent sends: none for a single expert."""
        return len(self.losses) if len(self.losses) > 1 else 0


class TreeBasedAgg:
    """The completed tree as published: the exact sum, and the noise of the nodes that make it up.

    `padding` holds the noise that completes a sum, `levels` vectors of it.
    """

    def __init__(self, levels, padding):
        self.levels, self.padding, self.t = levels, padding, 0
        self.total = np.zeros(padding.shape[1])
        self.node = np.zeros_like(padding)

    def published(self):
        bits = [b for b in range(self.levels) if self.t >> b & 1]
        missing = self.levels - len(bits)
        return self.total + self.node[bits].sum(axis=0) + self.padding[:missing].sum(axis=0)

    def add(self, leaf, noise):
        self.t += 1
        self.total = self.total + leaf
        height = (self.t & -self.t).bit_length() - 1
        self.node[height] = noise
        return self.published()


class PrivateNetwork(CliqueNetwork):
    """DPMT-CO2OL (`alg:DOPE_learning`) with completed trees and given noise."""

    def __init__(self, cliques, learner, dim, levels, padding, lipschitz=1.0):
        super().__init__(cliques, learner, dim, Adversarial(), lipschitz, 1.0)
        self.trees = [TreeBasedAgg(levels, own) for own in padding]
        for agent, tree in enumerate(self.trees):
            self.publish(agent, tree.published(), active=False)
        for clique in self.cliques:
            clique.play()

    def publish(self, agent, sums, active=True):
        place = self.dim
        for clique, row, w in self.listened(agent):
            count = clique.channels()
            clique.tell(row, w * sums[: self.dim], sums[place : place + count], active)
            place += count

    def update(self, agent, gradient, noise):
        g = project(np.asarray(gradient) / self.lipschitz)
        leaf = [*g]
        for clique, row, w in self.listened(agent):
            if clique.channels():
                leaf += [w * (project(x[row]) @ g) for x in clique.experts]
        self.publish(agent, self.trees[agent].add(np.array(leaf), noise))
        for clique, _, _ in self.listened(agent):
            clique.play()
