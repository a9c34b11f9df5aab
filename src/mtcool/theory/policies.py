"""What cliques receive on average under a policy of messages, before a run."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.graphs import GraphLike, as_graph
from mtcool.theory.received import Received


def policy_weights(
    graph: GraphLike,
    q: ArrayLike,
    rounds: int,
    *,
    every: int = 1,
    probability: float = 1.0,
    partners: int | None = None,
) -> Received:
    """The mean of what cliques receive from agents that speak seldom, or to few.

    Weights are uniform over those that an agent talks to, itself included; a silent agent has
    weight one on itself. Means are over the activations, `probability`, and who is chosen.

    Parameters
    ----------
    graph, q, rounds
        See `mtcool.theory`.
    every
        An agent speaks in its first activation and in every so many-th after it.
    probability
        With which it then speaks.
    partners
        To how many neighbours, chosen at random; None: to all.

    Examples
    --------
    >>> from mtcool.graphs import complete
    >>> from mtcool.theory import changing
    >>> law = complete(4), [0.25] * 4, 10_000
    >>> for policy in ({}, {"partners": 1}, {"every": 10}):
    ...     run = policy_weights(*law, **policy)
    ...     print(run.squares.round(1)[0], round(changing(run, [[0.0]] * 4).value))
    625.0 447
    1250.0 632
    2312.2 860
    """
    network, rounds = as_graph(graph), validation.count("rounds", rounds)
    law = validation.probabilities("q", q, network.size)
    every = validation.count("every", every)
    if not 0.0 <= validation.finite("probability", probability) <= 1.0:
        raise ValueError(f"probability must be between 0 and 1, got {probability!r}")
    degree = network.neighbourhood_sizes.astype(np.float64) - 1.0
    most = np.inf if partners is None else validation.count("partners", partners)
    asked = np.minimum(degree, most)
    speaks = probability * np.array([_beginnings(rounds, float(p), every) for p in law])
    share = 1.0 / (asked + 1.0)
    own = speaks * share**2 + (rounds * law - speaks)
    told = speaks * share**2 * asked / np.maximum(degree, 1.0)  # what each neighbour can expect
    largest = share if every == 1 and probability == 1.0 else np.ones(network.size)
    members = np.split(network.idx.astype(np.int64), network.ptr[1:-1])
    others = [rows[rows != j] for j, rows in enumerate(members)]
    return Received(
        members=[rows.tolist() for rows in members],
        slots=degree + 1.0,
        bound=np.maximum(largest, [share[rows].max(initial=0.0) for rows in others]),
        squares=own + [told[rows].sum() for rows in others],
        in_expectation=True,
    )


def _beginnings(rounds: int, p: float, every: int) -> float:
    """Mean of ceil(n / every) for binomial n, by the law of n modulo `every`."""
    if every >= rounds:
        return 1.0 - (1.0 - p) ** rounds
    turns = np.exp(2j * math.pi * np.arange(every) / every)
    shares = np.fft.fft((1.0 - p + p * turns) ** rounds).real / every  # of the remainders
    missing = -np.arange(every) % every
    return float((rounds * p + shares @ missing) / every)
