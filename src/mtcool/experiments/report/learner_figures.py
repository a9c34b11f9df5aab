"""Pictures of the chapter on the learner."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mtcool.experiments.learner.real_streams import ALONE, NAMES
from mtcool.experiments.report.figures import COLOURS, MARKERS, colours_of
from mtcool.experiments.report.results import Estimate
from mtcool.reports.figures import legend, note, panels, save, styled
from mtcool.types import Floats

LEARNER = "learner"


@dataclass(frozen=True)
class RegretLine:
    """One algorithm: its regret at each point of the figure."""

    name: str
    sigma: Floats
    regret: list[Estimate]
    colour: str | None = None
    """The one that it has in other figures."""


@styled
def draw_regrets(lines: Sequence[RegretLine], words: str, path: Path) -> None:
    """Regret against the mean local deviation of the tasks, on a logarithmic axis."""
    canvas, (axes,) = panels(6.6, 4.3)
    colours = colours_of([line.colour for line in lines])
    for line, colour, marker in zip(lines, colours, MARKERS, strict=False):
        order = np.argsort(line.sigma)
        x, mean = line.sigma[order], np.array([one.mean for one in line.regret])[order]
        error = np.array([one.error or 0.0 for one in line.regret])[order]
        axes.plot(
            x, mean, label=line.name, color=colour, marker=marker, markersize=4, linewidth=1.6
        )
        axes.fill_between(x, mean - error, mean + error, color=colour, alpha=0.2, linewidth=0)
    if min(one.mean for line in lines for one in line.regret) > 0.0:
        axes.set_yscale("log")
    axes.set_xlabel("mean local deviation of the tasks, σ̄")
    axes.set_ylabel("multitask regret")
    legend(canvas)
    note(canvas, words)
    save(canvas, path)


@styled
def draw_errors(found: Mapping[str, Mapping[str, Estimate]], path: Path) -> None:
    """Errors of all contestants relative to alone, a mark for each stream."""
    canvas, (axes,) = panels(6.6, 3.9)
    names = [name for name in NAMES if name != ALONE]
    for k, (stream, everybody) in enumerate(found.items()):
        base = everybody[ALONE].mean
        x = [everybody[name].mean / base for name in names]
        y = np.arange(len(names)) + 0.18 * (k - 0.5 * (len(found) - 1))
        axes.plot(x, y, MARKERS[k], color=COLOURS[3 + k], markersize=6, label=stream)
    axes.axvline(1.0, color="#7F7F7F", linewidth=1.0, linestyle="--")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.grid(axis="y", color="#eeeeee")
    axes.set_axisbelow(True)
    axes.set_xlabel("NMSE over that of alone")
    legend(canvas)
    note(canvas, "left of the dashed line: better than alone")
    save(canvas, path)
