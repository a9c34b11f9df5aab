"""Tasks of which a known share is their own, and losses that lean to them."""

from __future__ import annotations

import numpy as np

from mtcool.streams import Stream, best_in_hindsight, linear

from .drawing import Floats


def partly_own(
    agents: int, dim: int, share: float, length: float, rng: np.random.Generator
) -> Floats:
    """Tasks of one length: a direction that all have in common, and one of each agent's own.

    Parameters
    ----------
    agents, dim
        How many tasks, and their dimension, at least two.
    share
        Length of the own part over that of the task: 0 if all tasks are equal, 1 if nothing is
        common. It is also, on average, the mean local deviation over the length.
    length
        Of every task.
    rng
        What is drawn is the same for all shares.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> np.linalg.norm(partly_own(5, 3, 0.5, 0.6, rng), axis=1).round(6).tolist()
    [0.6, 0.6, 0.6, 0.6, 0.6]
    """
    common = rng.standard_normal(dim)
    common /= np.linalg.norm(common)
    own = rng.standard_normal((agents, dim))
    own -= (own @ common)[:, np.newaxis] * common
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    return np.asarray(length * (np.sqrt(1.0 - share**2) * common + share * own))


def leaning(directions: Floats, rounds: int, drift: float, rng: np.random.Generator) -> Stream:
    """Linear losses whose gradients have length one and lean a little to the agent's direction.

    Parameters
    ----------
    directions
        A row of length one for each agent; all agents are active equally often, in turn.
    rounds
        Of each agent.
    drift
        How much gradients lean: 0 is pure noise.
    rng
        Draws the noise.

    Examples
    --------
    >>> stream = leaning(np.ones((3, 1)), rounds=4, drift=0.1, rng=np.random.default_rng(0))
    >>> len(stream), stream.lipschitz(radius=1.0)
    (12, 1.0)
    """
    agents, dim = directions.shape
    active = np.tile(np.arange(agents), rounds)
    rows = drift * directions[active] + rng.standard_normal((active.size, dim)) / np.sqrt(dim)
    losses = linear(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    return Stream(active, losses, best_in_hindsight(Stream(active, losses), 1.0))
