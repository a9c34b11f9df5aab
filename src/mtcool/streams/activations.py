"""Who is active when: sequences of node indices, one for each round."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtcool import memory
from mtcool.seeds import Seed, generator
from mtcool.validation import count, numbers, probabilities

Agents: TypeAlias = NDArray[np.int64]


def stochastic(rounds: int, q: int | ArrayLike, seed: Seed) -> Agents:
    """Independent activations: agent i is active in a round with probability q_i.

    Parameters
    ----------
    rounds
        Length of the sequence.
    q
        The probabilities, or the number of agents for the uniform law.
    seed
        A whole number, or a generator that the caller shares.

    Examples
    --------
    >>> stochastic(4, [0.0, 1.0, 0.0], seed=0)
    array([1, 1, 1, 1])
    >>> stochastic(1000, 3, seed=0).max()
    np.int64(2)
    """
    rounds = _rounds(rounds)
    law = numbers("q", q)
    if law.ndim == 0:
        return generator(seed).integers(count("q", q), size=rounds)  # type: ignore[arg-type]
    return generator(seed).choice(law.size, size=rounds, p=probabilities("q", law, law.size))


def round_robin(rounds: int, n: int) -> Agents:
    """Agents 0, 1, ..., n - 1 in turn, again and again.

    Parameters
    ----------
    rounds
        Number of rounds.
    n
        Number of agents.

    Examples
    --------
    >>> round_robin(5, 3)
    array([0, 1, 2, 0, 1])
    """
    rounds, n = _rounds(rounds), count("n", n)
    return np.arange(rounds, dtype=np.int64) % min(n, rounds)


def bursts(rounds: int, n: int, length: int, seed: Seed) -> Agents:
    """One random agent is active for `length` rounds, then another one, and so on.

    Every agent other than the one whose burst ends is equally likely to be the next.

    Parameters
    ----------
    rounds
        Length of the sequence.
    n
        Number of agents.
    length
        Rounds of a burst.
    seed
        A whole number, or a generator that the caller shares.

    Examples
    --------
    >>> bursts(6, 2, length=2, seed=1)
    array([0, 0, 1, 1, 0, 0])
    """
    rounds, n = _rounds(rounds), count("n", n)
    length = min(count("length", length), rounds)
    rng = generator(seed)
    # A step of 1, ..., n - 1 around the circle of agents leads to any other agent.
    steps = rng.integers(1, max(n, 2), size=-(-rounds // length))
    steps[0] = rng.integers(n)
    return np.repeat(np.cumsum(steps) % n, length)[:rounds]


def sequence(agents: ArrayLike, n: int | None = None) -> Agents:
    """The given node indices, checked: whole numbers from 0 to n - 1.

    Without `n` the number of agents is not known, and any index from 0 on is accepted.

    Parameters
    ----------
    agents
        The active agent of each round, as a node index.
    n
        Number of agents, or None if it is not known.

    Examples
    --------
    >>> sequence([2, 0, 1], n=3)
    array([2, 0, 1])
    """
    if n is not None:
        n = count("n", n, least=0)
    try:
        array = np.asarray(agents)
    except ValueError:
        raise ValueError(f"agents must be a sequence of indices, got {agents!r}") from None
    if array.ndim != 1:
        raise ValueError(f"agents must be a sequence of indices, got shape {array.shape}")
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(
            "agents must be whole numbers, the indices of the agents in their labels, "
            f"got {array[0]!r} of type {array.dtype}"
        )
    wrong = array[(array < 0) | (array >= (np.inf if n is None else n))]
    if wrong.size:
        below = "" if n is None else f" and below {n}"
        raise ValueError(f"agents must be at least 0{below}, got {wrong[0]}")
    return np.ascontiguousarray(array, dtype=np.int64)


def _rounds(rounds: int) -> int:
    rounds = count("rounds", rounds)
    memory.require("rounds", rounds, 8 * rounds)
    return rounds
