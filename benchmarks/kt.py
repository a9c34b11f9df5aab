"""MT-CO2OL with the KT learner on the instance of the paper's experiments.

N = 30, p = .9, d = 1, T = 150 000: what every figure of the paper runs on. The peer is the same
algorithm in NumPy, vectorised over the neighbours (`numpy_kt.py`), on fewer rounds. The floor is a
compiled loop over the same arrays (`kt_floor.py`).
"""

import numpy as np

from benchmarks import kt_floor
from benchmarks.instance import ROUNDS, Instance, papers_instance
from benchmarks.numpy_kt import NumPyKT
from benchmarks.result import Result, at_least, at_most
from benchmarks.timing import Run, fastest
from mtcool import simulate
from mtcool.learners import MTFTRLKT


def run(quick: bool) -> list[Result]:
    """Speed-up over NumPy, and time over the floor."""
    instance = papers_instance(15_000 if quick else ROUNDS)
    short = instance.first(1_000 if quick else 5_000)
    agreement = _largest_difference(short)
    if not agreement <= 1e-10:
        raise ArithmeticError(f"NumPy and mtcool must agree to 1e-10, they differ by {agreement}")
    best = fastest(
        {
            "mtcool": lambda: _simulation(instance),
            "numpy": lambda: _in_numpy(short),
            "floor": lambda: kt_floor.floor_run(instance.network(MTFTRLKT()), instance.stream),
            "by hand": lambda: kt_floor.floor_run(
                instance.network(MTFTRLKT()), instance.stream, by_hand=True
            ),
        },
        repetitions=5 if quick else 10,
    )
    ours = best["mtcool"] / len(instance.stream)
    theirs = best["numpy"] / len(short.stream)
    per_message = {name: 1e9 * seconds / instance.messages for name, seconds in best.items()}
    return [
        Result(
            f"KT, {len(instance.stream):,} rounds in {best['mtcool']:.3f} s: speed-up",
            f"NumPy vectorised over the neighbours: {1e6 * theirs:.1f} µs a round, "
            f"mtcool {1e6 * ours:.2f} µs; predictions agree to {agreement:.0e}",
            theirs / ours,
            target=at_least(100.0),
        ),
        Result(
            f"KT, {per_message['mtcool']:.1f} ns per neighbour: time over the floor",
            f"same arrays and passes, one square root, one division: {per_message['floor']:.1f} ns",
            per_message["mtcool"] / per_message["floor"],
            target=at_most(2.0),
        ),
        Result(
            "KT: time over the floor by hand",
            "the floor for d = 1 alone, point and gradient in registers: "
            f"{per_message['by hand']:.1f} ns",
            per_message["mtcool"] / per_message["by hand"],
            target=at_most(2.0),
        ),
    ]


def _simulation(instance: Instance) -> Run:
    network = instance.network(MTFTRLKT())
    return lambda: simulate(network, instance.stream)


def _in_numpy(instance: Instance) -> Run:
    algorithm = NumPyKT(instance.graph, instance.stream.dim, instance.lipschitz)
    agents, targets = instance.stream.agents, instance.stream.losses.rows
    points = np.empty_like(targets)
    return lambda: algorithm.play(agents, targets, points)


def _largest_difference(instance: Instance) -> float:
    """Between NumPy's predictions and those of mtcool."""
    algorithm = NumPyKT(instance.graph, instance.stream.dim, instance.lipschitz)
    network = instance.network(MTFTRLKT())
    points = np.empty_like(instance.stream.losses.rows)
    algorithm.play(instance.stream.agents, instance.stream.losses.rows, points)
    largest = 0.0
    for point, (agent, loss) in zip(points, instance.stream, strict=True):
        x = network.predict(agent)
        network.update(agent, loss.subgradient(x))
        largest = max(largest, float(np.abs(x - point).max()))
    return largest
