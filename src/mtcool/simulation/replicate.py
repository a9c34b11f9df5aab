"""Repeat a random experiment over independent seeds, on as many processes as asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from mtcool import validation
from mtcool.simulation.progress import progress_bar
from mtcool.simulation.workers import Call, parallel

R = TypeVar("R")


def replicate(
    experiment: Callable[[np.random.Generator], R],
    count: int,
    *,
    seed: int,
    workers: int = 1,
    progress: bool = False,
) -> list[R]:
    """Results of `experiment(generator)` for `count` independent generators, in order.

    Replicate k draws from the k-th child of `seed`: the results are the same for any number of
    workers, and the first ten of a hundred are those of ten. For that an experiment must change
    nothing outside of itself: make its networks inside the function.

    Parameters
    ----------
    experiment
        A function of a random generator; it returns the result of one replicate.
    count
        Number of replicates.
    seed
        A whole number; all randomness comes from it.
    workers
        Number of processes. With more than one, results must be picklable.
    progress
        Show a progress bar.

    Examples
    --------
    >>> replicate(lambda rng: int(rng.integers(100)), 3, seed=7)
    [30, 68, 39]
    """
    if not callable(experiment):
        raise ValueError(f"experiment must be a function of a generator, got {experiment!r}")
    count = validation.count("count", count)
    workers = validation.count("workers", workers)
    seed = validation.count("seed", seed, least=0)
    # The k-th child by its key: `spawn` would make all of them at once, however many.
    children = (np.random.SeedSequence(seed, spawn_key=(k,)) for k in range(count))
    jobs: Iterator[Call] = ((_run, (experiment, child), {}) for child in children)
    results: list[R] = []
    with progress_bar("replicates", count, progress) as advance:
        # No memory maps: they would hand large arrays of the experiment over as read-only.
        for result in parallel(min(workers, count), return_as="generator", max_nbytes=None)(jobs):
            results.append(result)
            advance(1)
    return results


def _run(experiment: Callable[[np.random.Generator], R], child: np.random.SeedSequence) -> R:
    return experiment(np.random.default_rng(child))
