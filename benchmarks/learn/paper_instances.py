"""The paper's instances: regret of the learner over the best of the paper's algorithms.

N = 30, Erdős-Rényi with p = .9, losses |x - z|^2 / 2 with z ~ N(U_i, .0001 I), U drawn with the
smoothness λ that gives each σ̄, T = 30,000, means over three graphs. i-FTRL, ST-FTRL and MT-CO2OL
are the KT versions and are told the true bound L of the gradients on the unit ball. The learner
is told nothing, has one model without features for each coordinate, whose target is that of z, and
predicts 0 at first as the others do. It uses that losses are quadratic: it is given z, where the
others are given x - z at the point that they played, and a mean of targets with so little noise is
known after one row. Alone does the same without neighbours, from the second row of an agent on, and
is as good here: what counts is the loss that is known, not the network.
"""

from typing import NamedTuple

import numpy as np

from benchmarks.instance import Instance
from benchmarks.learn.score import say
from benchmarks.result import Result, at_most
from mtcool import graphs, i_ftrl, simulate, st_ftrl, streams
from mtcool.experiments.learner.figure_two import play_quadratic, regret_of
from mtcool.learners import KT, MTFTRLKT

SMOOTHNESS = {
    1: (1e10, 300.0, 30.0, 6.0, 2.0, 0.5, 0.1, 0.03, 0.0),
    10: (1e10, 300.0, 30.0, 6.0, 2.0, 0.8, 0.4),
}
"""For each dimension the λ that take σ̄ from 0 to 1."""
ROUNDS, QUICK_ROUNDS, GRAPHS = 30_000, 1_000, 3
EVERYWHERE, MIDDLE = 1.2, 1 / 3


class Regrets(NamedTuple):
    """Regrets on one instance, or their means."""

    sigma: float
    i_ftrl: float
    st_ftrl: float
    mt_co2ol: float
    learned: float
    alone: float

    @property
    def best(self) -> float:
        """The least of the paper's algorithms."""
        return min(self.i_ftrl, self.st_ftrl, self.mt_co2ol)


def run(quick: bool) -> list[Result]:
    """Each dimension and smoothness; the middle is all but the first and the last."""
    return [
        _point(dim, smoothness, place in (0, len(grid) - 1), quick)
        for dim, grid in SMOOTHNESS.items()
        for place, smoothness in enumerate(grid)
    ]


def _point(dim: int, smoothness: float, at_the_end: bool, quick: bool) -> Result:
    say(f"paper's instances: d = {dim}, λ = {smoothness:g}")
    seeds = range(1 if quick else GRAPHS)
    found = [regrets(instance(dim, smoothness, seed, quick)) for seed in seeds]
    mean = Regrets(*np.mean(found, axis=0).tolist())
    return Result(
        f"Paper's instances, d = {dim}, σ̄ = {mean.sigma:.3f}: learner over the best of three",
        f"i-FTRL {mean.i_ftrl:.1f}, ST-FTRL {mean.st_ftrl:.1f}, MT-CO2OL {mean.mt_co2ol:.1f}; "
        f"learner {mean.learned:.2f}, alone {mean.alone:.2f}",
        mean.learned / mean.best,
        target=at_most(EVERYWHERE if at_the_end else MIDDLE),
    )


def instance(dim: int, smoothness: float, seed: int, quick: bool) -> Instance:
    """A graph and its stream."""
    graph = graphs.erdos_renyi(30, 0.9, seed=seed)
    tasks = streams.gaussian_tasks(graph, dim, smoothness, seed=100 + seed)
    rounds = QUICK_ROUNDS if quick else ROUNDS
    return Instance(graph, streams.quadratic_stream(graph, tasks, rounds, seed=200 + seed))


def regrets(given: Instance) -> Regrets:
    """Everybody's regret at the end of the stream."""
    graph, stream = given.graph, given.stream
    settings = {"learner": KT(), "lipschitz": given.lipschitz, "on_excess": "clip"}
    networks = (
        i_ftrl(graph, stream.dim, **settings),
        st_ftrl(graph, stream.dim, **settings),
        given.network(MTFTRLKT()),
    )
    papers = [float(simulate(network, stream).regret[-1]) for network in networks]
    sigma = streams.mean_local_deviation(graph, stream.comparator)
    played = play_quadratic(graph, stream)
    return Regrets(sigma, *papers, *(regret_of(points, stream) for points in played))
