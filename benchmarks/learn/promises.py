"""A figure: share of hostile agents against the error of the honest ones, on schools.

Next to learning alone, and to the same learner without guard and accounts: that one runs in a
process of its own, with other constants and a compile cache that is thrown away.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np
import typer

from mtcool.learners.panel import constants
from mtcool.simulation.progress import progress_bar

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURE = Path(__file__).parents[2] / "docs" / "promises.png"
HOSTILE = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
UNLIMITED = 1e30
"""What sharing may cost without a guard."""


class Curve(NamedTuple):
    """Losses of the honest agents, for each share of hostile ones and each order."""

    learned: list[list[float]]
    alone: list[list[float]]


def main(
    write: Annotated[bool, typer.Option("--write", help="Write docs/promises.png.")] = False,
    unguarded: Annotated[
        bool, typer.Option("--unguarded", help="Print the losses without guard and accounts.")
    ] = False,
) -> None:
    """Measure what hostile agents do to the honest ones."""
    if unguarded:
        constants.CREDIT = constants.TRUST = UNLIMITED
        print(json.dumps(measure("unguarded")))
        return
    guarded, without = measure("guarded"), run_unguarded()
    for k, share in enumerate(HOSTILE):
        losses = guarded.learned[k], without.learned[k], guarded.alone[k]
        texts = [f"{np.mean(one):.3f} ± {error_of(one):.3f}" for one in losses]
        print(f"{share:.0%} hostile: {texts[0]}; unguarded {texts[1]}; alone {texts[2]}")
    if write:
        draw(guarded, without)


def measure(what: str) -> Curve:
    """Play schools in all orders with every share of hostile agents."""
    # Imported here: the compiled code takes the constants as they are now.
    from benchmarks.learn.attack import attack
    from benchmarks.learn.problem import ORDERS, problems

    curve = Curve([], [])
    with progress_bar(what, len(HOSTILE) * ORDERS, show=True) as advance:
        for share in HOSTILE:
            learned, alone = [], []
            for seed, problem in enumerate(problems("schools", False)):
                order = np.random.default_rng(seed).permutation(problem.graph.size)
                hostile = order < share * problem.graph.size
                played, honest = attack(problem, hostile, "gradients"), ~hostile[problem.agent]
                learned.append(problem.loss(played.prediction, honest))
                alone.append(problem.loss(played.alone, honest))
                advance(1)
            curve.learned.append(learned)
            curve.alone.append(alone)
    return curve


def run_unguarded() -> Curve:
    """The same without guard and accounts."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-m", "benchmarks.learn.promises", "--unguarded"]
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return Curve(*json.loads(done.stdout))


def error_of(losses: list[float]) -> float:
    """The standard error of their mean."""
    return float(np.std(losses, ddof=1) / np.sqrt(len(losses)))


def draw(guarded: Curve, unguarded: Curve) -> None:
    """Write the picture."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    curve(axes, unguarded.learned, "mtcool without guard and accounts", "#c44e52", "s")
    curve(axes, guarded.learned, "mtcool", "#4c72b0", "o")
    curve(axes, guarded.alone, "alone", "#555555", "")
    axes.set_xlabel("hostile agents, per cent of all")
    axes.set_ylabel("error of the honest agents (NMSE)")
    axes.set_title("Schools: five orders, bars are standard errors", fontsize=10)
    axes.set_ylim(bottom=0.0)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(PICTURE)


def curve(axes: "Axes", losses: list[list[float]], label: str, colour: str, marker: str) -> None:
    """One learner: means with standard errors."""
    percent = [100 * share for share in HOSTILE]
    means, errors = [np.mean(one) for one in losses], [error_of(one) for one in losses]
    style = "-" if marker else "--"
    axes.errorbar(
        percent, means, errors, label=label, color=colour, marker=marker, linestyle=style, capsize=3
    )


if __name__ == "__main__":
    typer.run(main)
