"""A first look at the paper's setting: MT-CO2OL against learning alone and learning as one.

The instance of Section 5 at one task variance: Erdos-Renyi graphs with 30 agents and p = .9,
quadratic losses around Gaussian tasks, uniform activations.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

import mtcool
from mtcool import validation
from mtcool.learners import KT, MTFTRLKT

Floats = NDArray[np.float64]

AGENTS, EDGE_PROBABILITY, SMOOTHNESS, DIM = 30, 0.9, 6.0, 1

# The paper's figures use the KT versions; the plain ones are what its theorems speak of.
ALGORITHMS: dict[str, Callable[..., mtcool.Network]] = {
    "MT-CO2OL (KT)": partial(mtcool.mt_co2ol, learner=MTFTRLKT()),
    "i-FTRL (KT)": partial(mtcool.i_ftrl, learner=KT()),
    "ST-FTRL (KT)": partial(mtcool.st_ftrl, learner=KT()),
    "MT-CO2OL (Hedge)": mtcool.mt_co2ol,
    "i-FTRL": mtcool.i_ftrl,
    "ST-FTRL": mtcool.st_ftrl,
}


@dataclass(frozen=True)
class Comparison:
    """Regret of every algorithm on every graph."""

    times: NDArray[np.int64]
    regret: dict[str, Floats]
    """For each algorithm an array (graphs, times)."""
    deviation: float
    """Mean local deviation sigma-bar of the tasks."""
    bound: float
    """The gradient bound L that the algorithms were given."""

    def final(self) -> dict[str, tuple[float, float | None]]:
        """Mean regret at the end and its standard error, for each algorithm."""
        return {name: mean_and_error(runs[:, -1]) for name, runs in self.regret.items()}


def compare(
    graphs: int, rounds: int, bound: float, *, seed: int, workers: int, progress: bool
) -> Comparison:
    """Run every algorithm on the same random graphs, tasks and streams.

    >>> comparison = compare(1, 100, 1.0, seed=0, workers=1, progress=False)
    >>> comparison.regret["i-FTRL"].shape == (1, len(comparison.times))
    True
    """
    rounds = validation.count("rounds", rounds)
    times = np.unique(np.geomspace(1, rounds, 60).round().astype(np.int64))

    def run(rng: np.random.Generator) -> tuple[float, dict[str, Floats]]:
        graph = mtcool.graphs.erdos_renyi(AGENTS, EDGE_PROBABILITY, seed=rng)
        tasks = mtcool.streams.gaussian_tasks(graph, DIM, SMOOTHNESS, seed=rng)
        stream = mtcool.streams.quadratic_stream(graph, tasks, rounds, seed=rng)
        regrets = {}
        for name, build in ALGORITHMS.items():
            network = build(graph, DIM, lipschitz=bound, on_excess="clip")
            trace = mtcool.simulate(network, stream, times=times)
            regrets[name] = cast(Floats, trace.regret)  # the stream has a comparator
        return mtcool.streams.mean_local_deviation(graph, tasks), regrets

    runs = mtcool.replicate(run, graphs, seed=seed, workers=workers, progress=progress)
    return Comparison(
        times=times,
        regret={name: np.stack([regrets[name] for _, regrets in runs]) for name in ALGORITHMS},
        deviation=float(np.mean([deviation for deviation, _ in runs])),
        bound=bound,
    )


def mean_and_error(values: Floats) -> tuple[float, float | None]:
    """Mean and standard error of independent values; the error of one value is not known.

    >>> mean_and_error(np.array([1.0, 3.0]))
    (2.0, 1.0)
    """
    count = len(values)
    error = float(np.std(values, ddof=1)) / count**0.5 if count > 1 else None
    return float(np.mean(values)), error
