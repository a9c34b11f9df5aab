"""How the time of an activation grows: linearly in degree times dimension, and not with N.

KT on random regular graphs with random linear losses. Degree and dimension vary on 2 000 agents.
The number of agents varies at degree 10 and d = 8: the arithmetic stays the same, but the state
outgrows the caches, so the floor (`kt_floor.py`: the same memory traffic) grows too.
"""

from collections.abc import Mapping

import numpy as np

from benchmarks import kt_floor
from benchmarks.networks import kt_network, unit_gradients
from benchmarks.result import Result, at_most
from benchmarks.timing import Run, fastest
from mtcool import Network, Stream, graphs, simulate

DEGREES, DIMS = (4, 8, 16, 32, 64), (1, 8, 32)


def run(quick: bool) -> list[Result]:
    """The exponent in degree and dimension; the factor from few agents to many."""
    return [*_in_degree_and_dimension(quick), *_in_agents(quick)]


def _in_degree_and_dimension(quick: bool) -> list[Result]:
    agents, rounds = (200, 10_000) if quick else (2_000, 20_000)
    contestants = {}
    for degree in DEGREES:
        graph = graphs.regular(agents, degree, seed=0)
        for dim in DIMS:
            stream = unit_gradients(graph, dim, rounds)
            contestants[degree, dim] = _simulation(kt_network(graph, dim), stream)
    best = fastest({key: lambda play=play: play for key, play in contestants.items()}, 5)
    per_activation = {key: seconds / rounds for key, seconds in best.items()}
    by_dim = {dim: _exponent(_only(per_activation, dim)) for dim in DIMS}
    each = ", ".join(f"{exponent:.2f} at d = {dim}" for dim, exponent in by_dim.items())
    name = f"Growth, N = {agents:,}, degree 4 to 64"
    return [
        Result(
            f"{name}: exponent in the degree",
            f"1 is linear; {each}",
            max(by_dim.values()),
            unit="",
            target=at_most(1.1),
        ),
        Result(
            f"{name}, d = 1 to 32: exponent in degree × d",
            f"1 is linear; {1e6 * per_activation[4, 1]:.2f} µs to "
            f"{1e6 * per_activation[64, 32]:.2f} µs an activation",
            _exponent({(degree + 1) * dim: s for (degree, dim), s in per_activation.items()}),
            unit="",
            target=at_most(1.1),
        ),
    ]


def _only(times: Mapping[tuple[int, int], float], dim: int) -> dict[float, float]:
    return {degree + 1: seconds for (degree, d), seconds in times.items() if d == dim}


def _exponent(times: Mapping[float, float]) -> float:
    """Least-squares slope of log seconds against log of the key."""
    return float(np.polyfit(np.log(list(times)), np.log(list(times.values())), deg=1)[0])


def _in_agents(quick: bool) -> list[Result]:
    sizes = (1_000, 10_000) if quick else (1_000, 10_000, 100_000, 1_000_000)
    rounds = 20_000 if quick else 200_000
    ours, floor = {}, {}
    for agents in sizes:
        graph = graphs.regular(agents, 10, seed=0)
        stream = unit_gradients(graph, 8, rounds)
        play = _simulation(kt_network(graph, 8), stream)
        touch = kt_floor.floor_run(kt_network(graph, 8), stream)
        contestants = {"mtcool": lambda play=play: play, "floor": lambda touch=touch: touch}
        best = fastest(contestants, 3)
        ours[agents], floor[agents] = best["mtcool"] / rounds, best["floor"] / rounds
    few, many = sizes[0], sizes[-1]
    times = ", ".join(f"{1e6 * ours[agents]:.2f} µs for {agents:,}" for agents in sizes)
    return [
        Result(
            f"Growth, degree 10, d = 8: an activation among {many:,} agents over {few:,}",
            f"{times}; the floor grows {floor[many] / floor[few]:.1f} times",
            ours[many] / ours[few],
        ),
        Result(
            f"Growth: time over the floor for {many:,} agents",
            f"same arrays and passes: {1e6 * floor[many]:.2f} µs an activation",
            ours[many] / floor[many],
            target=at_most(2.0),
        ),
    ]


def _simulation(network: Network, stream: Stream) -> Run:
    return lambda: simulate(network, stream, times=[len(stream)])
