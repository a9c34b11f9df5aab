"""The sequences behind the lower bounds (`thm:lower-bound`), for any algorithm to run on.

Gradients are random signs on the line: whatever an algorithm plays, its expected loss is zero, and
the best tasks in hindsight gain. The bounds hold for the mean over seeds.
"""

import numpy as np

from mtcool.graphs import Graph, GraphLike, as_graph, circulant, k_independence_number
from mtcool.seeds import Seed, generator
from mtcool.streams.activations import Agents
from mtcool.streams.losses import Matrix, Vector, linear
from mtcool.streams.stream import Stream
from mtcool.streams.synthetic import check_stream
from mtcool.validation import count, non_negative


def twice_independent(
    graph: GraphLike, rounds: int, seed: Seed, time_limit: float = 60.0
) -> Stream:
    """Agents of a largest twice independent set, one after the other, each with the same signs.

    No two of them have a common neighbour, so none learns from another. Against the comparator that
    is the same for all agents, regret is at least sqrt(alpha_2(G) T) / 2 (in the mean over seeds).
    Agents play T / alpha_2 rounds each, rounded down.

    Parameters
    ----------
    graph
        A networkx graph or a `Graph`.
    rounds
        Most rounds to be played.
    seed
        A whole number, or a generator that the caller shares.
    time_limit
        Seconds for finding the set.

    Examples
    --------
    >>> from mtcool.graphs import ring
    >>> stream = twice_independent(ring(6), rounds=10, seed=0)
    >>> np.unique_counts(stream.agents).counts
    array([5, 5])
    """
    network, rng, rounds = as_graph(graph), generator(seed), _rounds(rounds)
    chosen = k_independence_number(network, 2, time_limit=time_limit).witness
    each = rounds // chosen.size
    if each == 0:
        raise ValueError(f"rounds must be at least {chosen.size}, one for each agent, got {rounds}")
    signs = rng.choice([-1.0, 1.0], size=each)
    best = -np.sign(signs.sum()) or 1.0
    tasks = np.full((network.size, 1), float(best))
    losses = linear(np.tile(signs, chosen.size)[:, np.newaxis])
    return Stream(np.repeat(chosen, each), losses, tasks, network.labels)


def multitask_adversary(graph: GraphLike, variance: float, rounds: int, seed: Seed) -> Stream:
    """Agents in turn, independent signs; the comparator has variance at most nu^2 = `variance`.

    Its rows lean to the common direction of all gradients and, as far as the variance allows, to
    the direction of the agent's own. Regret is at least sqrt(2) / 4 sqrt(1 + nu^2 (N - 1)) sqrt(T)
    for every algorithm, even with free communication (in the mean over seeds), from T = N on and
    for nu^2 up to N / (N - 1), the most that rows in the ball have.

    Parameters
    ----------
    graph
        A networkx graph or a `Graph`.
    variance
        nu^2.
    rounds
        T.
    seed
        A whole number, or a generator that the caller shares.

    Examples
    --------
    >>> from mtcool.graphs import complete
    >>> stream = multitask_adversary(complete(4), variance=0.25, rounds=100, seed=0)
    >>> stream.comparator.var(ddof=1) <= 0.25
    np.True_
    """
    network, rng = as_graph(graph), generator(seed)
    agents = np.arange(_rounds(rounds), dtype=np.int64) % network.size
    signs = rng.choice([-1.0, 1.0], size=agents.size)
    tasks = np.zeros((network.size, 1))
    tasks[:] = _best_within(_sums(agents, signs, network.size), variance)
    return Stream(agents, linear(signs[:, np.newaxis]), tasks, network.labels)


def regular_family(
    degree: int, groups: int, variance: float, rounds: int, seed: Seed
) -> tuple[Graph, Stream]:
    """A K-regular graph on which neighbourhoods far apart are played one after the other.

    The graph is a ring lattice of (2 K + 1) `groups` agents, K = `degree` even. Every (2 K + 1)-th
    agent is the centre of a group, its neighbourhood; groups are at distance 3 and learn nothing
    from each other. In each the agents take turns as in `multitask_adversary`. Regret is at least
    sqrt(1 + K sigma_min^2) sqrt(N T / K) / 5 (in the mean over seeds).

    Parameters
    ----------
    degree, groups
        K, and the number of groups.
    variance
        nu^2 in every group.
    rounds
        T.
    seed
        A whole number, or a generator that the caller shares.

    Examples
    --------
    >>> graph, stream = regular_family(degree=2, groups=2, variance=0.5, rounds=12, seed=0)
    >>> graph, np.unique(stream.agents)
    (Graph(10 agents, 10 edges), array([0, 1, 4, 5, 6, 9]))
    """
    degree, groups = count("degree", degree, least=2), count("groups", groups, least=2)
    if degree % 2:
        raise ValueError(f"degree must be even, got {degree}")
    rng, each = generator(seed), _rounds(rounds) // groups
    if each <= degree:
        least = groups * (degree + 1)
        raise ValueError(f"rounds must be at least {least}, one for each agent, got {rounds}")
    graph = circulant((2 * degree + 1) * groups, degree)
    tasks = np.zeros((graph.size, 1))
    agents, signs = [], []
    for centre in range(0, graph.size, 2 * degree + 1):
        members = graph.neighbours(centre).astype(np.int64)
        agents.append(members[np.arange(each) % members.size])
        signs.append(rng.choice([-1.0, 1.0], size=each))
        sums = _sums(agents[-1], signs[-1], graph.size)[members]
        tasks[members] = _best_within(sums, variance)
    losses = linear(np.concatenate(signs)[:, np.newaxis])
    return graph, Stream(np.concatenate(agents), losses, tasks, graph.labels)


def _rounds(rounds: int) -> int:
    rounds = count("rounds", rounds)
    check_stream(rounds, dim=1)
    return rounds


def _sums(agents: Agents, signs: Vector, size: int) -> Vector:
    """Gradient sum of every agent."""
    return np.asarray(np.bincount(agents, weights=signs, minlength=size), np.float64)


def _best_within(sums: Vector, variance: float) -> Matrix:
    """Rows in [-1, 1] of variance at most nu^2 that gain from the sums: a common and an own part.

    The own parts are +-b, b^2 N / (N - 1) <= nu^2, the common one is +-(1 - b).
    """
    n = sums.size
    limit = np.sqrt(non_negative("variance", variance) * (n - 1) / n) if n > 1 else 0.0
    shares = np.linspace(0.0, min(1.0, float(limit)), 101)
    common, own = abs(sums.sum()), (sums * np.sign(sums - sums.mean())).sum()
    b = shares[np.argmax((1.0 - shares) * common + shares * own)]
    rows = -(1.0 - b) * np.sign(sums.sum()) - b * np.sign(sums - sums.mean())
    return np.asarray(rows[:, np.newaxis], np.float64)
