"""Ready streams with known tasks, for experiments and tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from mtcool import memory
from mtcool.graphs import Graph, GraphLike, as_graph
from mtcool.seeds import Seed, generator
from mtcool.streams.activations import Agents, sequence, stochastic
from mtcool.streams.gaussian import gaussian_tasks
from mtcool.streams.hindsight import best_in_hindsight
from mtcool.streams.losses import Losses, Matrix, Vector, linear, norms, quadratic, rows_of
from mtcool.streams.regression import absolute, hinge, logistic, squared
from mtcool.streams.stream import Stream
from mtcool.validation import count, non_negative, one_of, probabilities

Regression = Literal["squared", "absolute", "logistic", "hinge"]

_MAKERS: Mapping[str, Callable[[Matrix, Vector], Losses]] = {
    "squared": squared,
    "absolute": absolute,
    "logistic": logistic,
    "hinge": hinge,
}


def quadratic_stream(
    graph: GraphLike,
    tasks: ArrayLike,
    rounds: int,
    seed: Seed,
    noise: float = 0.01,
    q: ArrayLike | None = None,
    agents: ArrayLike | None = None,
) -> Stream:
    """The stream of the paper's experiments: losses `|x - z_t|^2 / 2`, z_t ~ N(U_i, noise^2 I).

    Parameters
    ----------
    graph
        A networkx graph or a `Graph`; its labels name the agents of the stream.
    tasks
        A row U_i for each agent, which is also the comparator.
    rounds
        Length of the stream.
    seed
        A whole number, or a generator that the caller shares.
    noise
        Standard deviation of the targets around the task of the active agent i.
    q, agents
        Activations: independent with probabilities `q` (uniform if not given), or these `agents`.

    Examples
    --------
    >>> from mtcool.graphs import Graph
    >>> stream = quadratic_stream(Graph.from_edges([(0, 1)]), [[1.0], [2.0]], rounds=3, seed=0)
    >>> len(stream), stream.dim, stream.comparator.shape
    (3, 1, (2, 1))
    """
    graph, rng = as_graph(graph), generator(seed)
    noise = non_negative("noise", noise)
    comparator = _tasks(graph, tasks)
    active = _activations(graph, rounds, q, agents, comparator.shape[1])(rng)
    targets = comparator[active]
    targets += noise * rng.standard_normal(targets.shape)
    return Stream(active, quadratic(targets), comparator, graph.labels)


def linear_stream(
    graph: GraphLike,
    dim: int,
    rounds: int,
    seed: Seed,
    drift: float = 1.0,
    smoothness: float = 1.0,
    q: ArrayLike | None = None,
    agents: ArrayLike | None = None,
) -> Stream:
    """Linear losses whose gradients are random unit vectors that lean to the agent's direction.

    The gradient is `drift` v_i + e_t scaled to norm 1, with e_t ~ N(0, I / dim), and v_i the
    direction of row i of `gaussian_tasks(graph, dim, smoothness)`: neighbours lean alike when
    smoothness is large, and drift 0 is pure noise. The comparator is the best in hindsight on the
    unit ball.

    Parameters
    ----------
    graph, rounds, seed, q, agents
        As in `quadratic_stream`.
    dim
        Dimension of the gradients.
    drift, smoothness
        How much gradients lean to the agent's direction, and how alike neighbours' directions are.

    Examples
    --------
    >>> from mtcool.graphs import Graph
    >>> stream = linear_stream(Graph.from_edges([(0, 1)]), dim=3, rounds=5, seed=0)
    >>> round(stream.lipschitz(radius=1.0), 12)
    1.0
    """
    graph, rng = as_graph(graph), generator(seed)
    drift = non_negative("drift", drift)
    activate = _activations(graph, rounds, q, agents, count("dim", dim))
    directions = _unit(gaussian_tasks(graph, dim, smoothness, rng))
    active = activate(rng)
    gradients = drift * directions[active]
    gradients += rng.standard_normal(gradients.shape) / np.sqrt(gradients.shape[1])
    stream = Stream(active, linear(_unit(gradients)), labels=graph.labels)
    return Stream(stream.agents, stream.losses, best_in_hindsight(stream, 1.0), stream.labels)


def regression_stream(
    graph: GraphLike,
    tasks: ArrayLike,
    rounds: int,
    seed: Seed,
    kind: Regression = "squared",
    noise: float = 0.01,
    q: ArrayLike | None = None,
    agents: ArrayLike | None = None,
) -> Stream:
    """Generalised linear losses on features a_t, uniform on the unit sphere.

    With s_t ~ N(<a_t, U_i>, noise^2) for the active agent i, the target is s_t for the kinds
    "squared" and "absolute", the sign of s_t for "hinge", and for "logistic" the label 1 with
    probability 1 / (1 + exp(-s_t)), else -1. The comparator is `tasks`.

    Parameters
    ----------
    graph, tasks, rounds, seed, noise, q, agents
        As in `quadratic_stream`.
    kind
        "squared", "absolute", "logistic" or "hinge".

    Examples
    --------
    >>> from mtcool.graphs import Graph
    >>> pair = Graph.from_edges([(0, 1)])
    >>> stream = regression_stream(pair, [[1.0], [-1.0]], rounds=4, seed=0, kind="hinge")
    >>> sorted(set(stream.losses.rows[:, -1].tolist()))
    [-1.0, 1.0]
    """
    graph, rng = as_graph(graph), generator(seed)
    make = _MAKERS[one_of("kind", kind, tuple(_MAKERS))]
    noise = non_negative("noise", noise)
    comparator = _tasks(graph, tasks)
    active = _activations(graph, rounds, q, agents, comparator.shape[1])(rng)
    features = _unit(rng.standard_normal((active.size, comparator.shape[1])))
    target = np.einsum("td,td->t", features, comparator[active])
    target += noise * rng.standard_normal(active.size)
    if kind == "logistic":
        target += rng.logistic(size=active.size)  # its sign is then 1 with the said probability
    if kind in ("logistic", "hinge"):
        target = np.where(target < 0, -1.0, 1.0)
    return Stream(active, make(features, target), comparator, graph.labels)


def check_stream(rounds: int, dim: int, workers: int = 1) -> None:
    """Refuse streams that do not fit into memory, `workers` of them at a time."""
    name, value = ("rounds", rounds) if rounds >= dim else ("dim", dim)
    note = f" for {workers} workers" if workers > 1 else ""
    memory.require(name, value, workers * rounds * (16 + 16 * dim), note)


def _activations(
    graph: Graph, rounds: int, q: ArrayLike | None, agents: ArrayLike | None, dim: int
) -> Callable[[np.random.Generator], Agents]:
    """Checks now and draws later: a refused call must not use up a shared generator."""
    rounds = count("rounds", rounds)
    check_stream(rounds, dim)
    size = graph.size
    if agents is None:
        law = size if q is None else probabilities("q", q, size)
        return lambda rng: stochastic(rounds, law, rng)
    if q is not None:
        raise ValueError(f"q must be None when agents are given, got {q!r}")
    active = sequence(agents, size)
    if active.size != rounds:
        raise ValueError(f"agents must have {rounds} entries as rounds, got {active.size}")
    return lambda rng: active


def _tasks(graph: Graph, tasks: ArrayLike) -> Matrix:
    array = rows_of("tasks", tasks)
    if len(array) != graph.size:
        raise ValueError(f"tasks must have {graph.size} rows as the graph, got {len(array)}")
    return array


def _unit(array: Matrix) -> Matrix:
    return array / norms(array)[:, np.newaxis]
