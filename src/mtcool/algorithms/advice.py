"""Advice before private agents are set up: how much noise, and above which epsilon sharing pays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

import numpy as np

from mtcool import theory, validation
from mtcool.algorithms.dpmt_co2ol import noisy_bound
from mtcool.algorithms.making import make_settings
from mtcool.algorithms.published_noise import PublishedNoise, compare_mechanisms, published_noise
from mtcool.graphs import Graph, GraphLike, as_graph, edgeless, own_weights
from mtcool.learners import MTFTRL
from mtcool.peers.algorithm import Question, algorithm
from mtcool.privacy import AGGREGATORS, Privacy
from mtcool.types import Floats

EQUAL = MTFTRL(experts=(0.0,))
"""One expert that knows that all tasks are the same."""
LEAST, MOST = 1e-4, 1e6  # levels that noise is calibrated for; beyond them nobody would call it so


def mechanisms() -> int:
    """How many mechanisms `advise` has something to say about.

    Examples
    --------
    >>> mechanisms()
    9
    """
    laws = ("laplace", "gaussian")
    return sum(law in kind.laws for law in laws for kind in AGGREGATORS.values())


class Mechanism(NamedTuple):
    """What one mechanism needs and when it pays."""

    mechanism: str
    law: str
    noise: dict[str, float]
    """Standard deviation in each coordinate of a published sum, by grid of experts."""
    pays_above: float | None
    """The epsilon above which sharing has the smaller bound: infinity if none; None if unknown."""


def advise(
    graph: GraphLike, dim: int, horizon: int, *, epsilon: float = 1.0, delta: float = 1e-6
) -> Iterator[Mechanism]:
    """Noise of every mechanism, and the epsilon above which sharing beats learning alone.

    The noise is that of `mtcool.published_noise` at `epsilon`, in units of `lipschitz`. The other
    epsilon is where two bounds cross, in the best case of sharing: equal tasks that are known to be
    equal, linear losses, and agents that are active `horizon` times each (`theory.sharing_cutoff`).

    Parameters
    ----------
    graph, dim
        As in `mtcool.dpmt_co2ol`.
    horizon
        Activations of each agent.
    epsilon, delta
        The level that noise is shown for; delta is that of Gaussian noise.

    Examples
    --------
    >>> import mtcool
    >>> for one in advise(mtcool.graphs.complete(10), dim=1, horizon=10_000):
    ...     if one.mechanism in ("binary tree", "BLT"):
    ...         print(one.mechanism, one.law, round(one.noise["single"]), round(one.pays_above, 2))
    binary tree Laplace 148 0.61
    binary tree Gauss 118 0.46
    BLT Gauss 34 0.42
    """
    network, horizon = as_graph(graph), validation.count("horizon", horizon)
    kinds = {kind.title: kind for kind in AGGREGATORS.values()}
    rows = compare_mechanisms(network, dim, epsilon, horizon, delta)
    next(rows)  # the paper's calibration
    for (title, law), grids in groupby(rows, key=lambda row: (row.mechanism, row.law)):
        given = None if law == "Laplace" else delta
        level = Privacy(epsilon, horizon, delta=given, aggregator=kinds[title]())
        noise = {row.experts: row.gradients for row in grids}
        yield Mechanism(title, law, noise, _cutoff(network, dim, horizon, level))


def noiseless_gain(graph: GraphLike) -> float:
    """The bound of sharing over that of learning alone, without noise and in the same best case.

    From one on no epsilon makes sharing pay: without neighbours, or with very uneven ones.

    Parameters
    ----------
    graph
        As in `mtcool.dpmt_co2ol`; weights are uniform.

    Examples
    --------
    >>> import mtcool
    >>> round(noiseless_gain(mtcool.graphs.complete(100)), 2)
    0.17
    >>> noiseless_gain(mtcool.graphs.edgeless(3))
    1.0
    """
    network = as_graph(graph)
    tasks, counts = np.ones((network.size, 1)), np.ones(network.size)
    shared = theory.known_variances(network, tasks, counts)
    return shared.value / _alone(network, tasks, counts).value


def _alone(graph: Graph, tasks: Floats, counts: Floats) -> theory.Bound:
    return theory.known_variances(graph, tasks, counts, weights=own_weights(graph))


def _cutoff(graph: Graph, dim: int, horizon: int, level: Privacy) -> float | None:
    """Where the private bound falls below that of learning alone; None without a bound."""
    tasks, counts = np.zeros((graph.size, dim)), np.full(graph.size, float(horizon))
    tasks[:, 0] = 1.0
    settings = make_settings(algorithm("dpmt_co2ol"), graph, dim, learner=EQUAL, privacy=level)
    question = Question(graph, settings, "uniform", None, tasks, counts)

    def sharing(epsilon: float) -> theory.Bound | None:
        # With one expert nothing but gradients is sent, whose noise is the same on every graph.
        at = replace(level, epsilon=min(max(epsilon, LEAST), MOST))
        one = published_noise(edgeless(1), dim, at, learner=EQUAL)
        return noisy_bound(question, 0.0, PublishedNoise(*(np.repeat(n, graph.size) for n in one)))

    if sharing(1.0) is None:
        return None
    alone = _alone(graph, tasks, counts)
    return theory.sharing_cutoff(lambda epsilon: sharing(epsilon) or alone, alone)
