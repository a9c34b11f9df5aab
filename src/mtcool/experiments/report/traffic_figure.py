"""A picture of regret against what it costs in bytes or messages, with the frontier marked."""

import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from mtcool.experiments.files import spec
from mtcool.experiments.report.figures import (
    COLOURS,
    IN_A_ROW,
    MARKERS,
    WIDE,
    panel_grid,
    setting_words,
)
from mtcool.experiments.report.frontier import Spent, frontier, spent
from mtcool.experiments.report.results import Results
from mtcool.reports.figures import legend, note, save, styled, write_plainly

SILENT = "#D55E00"  # who sends nothing, as i-FTRL in all figures
MORE = ("#882255", "#999933")
"""Colours besides those of other figures: there are many families."""
PLACES = ((4, 4), (4, -9), (-12, -10))
"""Of the numbers at the marks, in points; families are often close to each other."""
MARK = "; grey: the frontier, the least regret for so much"


class Look(NamedTuple):
    """How a family of policies is drawn."""

    colour: str
    marker: str
    place: tuple[int, int]
    """Of the numbers, beside the marks."""


@styled
def draw_traffic(results: Results, figure: spec.Figure, path: Path) -> None:
    """Write the figure as PNG and SVG; `path` has no suffix."""
    panels = list(results.panels(figure))
    canvas, grid = panel_grid(len(panels), wide=7.2 if len(panels) == 1 else 5.4)
    every = [spent(results, points, figure.x) for _, points in panels]
    families = list(dict.fromkeys(one.family for found in every for one in found if _sends(one)))
    colours = [colour for colour in COLOURS + MORE if colour != SILENT]
    kinds = zip(*map(itertools.cycle, (colours, MARKERS, PLACES)), strict=False)
    looks = {family: Look(*kind) for family, kind in zip(families, kinds, strict=False)}
    for axes, (label, _), found in zip(grid, panels, every, strict=True):
        if label is not None and figure.panels is not None:
            axes.set_title(f"{results.title_of(figure.panels)} = {label}", fontsize=10)
        axes.set_xlabel(results.title_of(figure.x))
        axes.set_xscale("log")
        write_plainly(axes.xaxis)
        axes.xaxis.set_minor_formatter(NullFormatter())
        _frontier(axes, frontier(found))
        for family, look in looks.items():
            _family(axes, [one for one in found if one.family == family and _sends(one)], look)
        for one in found:
            if not _sends(one):
                _level(axes, one)
    for axes in grid[::IN_A_ROW]:
        axes.set_ylabel("multitask regret")
    _scale(grid, [one.regret.mean for found in every for one in found])
    if figure.title:
        canvas.suptitle(figure.title, fontsize=11)
    note(canvas, setting_words(results, figure) + MARK)
    legend(canvas, size=8)
    save(canvas, path)


def _sends(one: Spent) -> bool:
    return one.cost.mean > 0.0


def _scale(grid: Sequence[Axes], regret: Sequence[float]) -> None:
    """A logarithmic axis where the regret asks for it; panels share it."""
    if regret and min(regret) > 0 and max(regret) / min(regret) >= math.sqrt(WIDE):
        for axes in grid:
            axes.set_yscale("log")
            write_plainly(axes.yaxis)


def _frontier(axes: Axes, best: Sequence[Spent]) -> None:
    """The least regret that so much buys: it falls in steps, and goes on to both sides."""
    if not any(_sends(one) for one in best):
        return
    start = [one for one in best if not _sends(one)]
    cost = [one.cost.mean for one in best if _sends(one)]
    regret = [one.regret.mean for one in best if _sends(one)]
    if start:
        cost, regret = [cost[0] / 3.0, *cost], [start[-1].regret.mean, *regret]
    axes.step(
        [*cost, cost[-1] * 1.5],
        [*regret, regret[-1]],
        where="post",
        color="#CCCCCC",
        linewidth=5,
        solid_joinstyle="round",
        zorder=0,
    )


def _family(axes: Axes, policies: Sequence[Spent], look: Look) -> None:
    """Policies that differ in a number, joined by a thin line; errors in both directions."""
    if not policies:
        return
    ordered = sorted(policies, key=lambda one: one.cost.mean)
    axes.errorbar(
        [one.cost.mean for one in ordered],
        [one.regret.mean for one in ordered],
        yerr=[one.regret.error or 0.0 for one in ordered],
        xerr=[one.cost.error or 0.0 for one in ordered],
        color=look.colour,
        marker=look.marker,
        markersize=5,
        linewidth=0.7,
        elinewidth=1.2,
        capsize=2,
        label=ordered[0].family,
    )
    for one in ordered:
        axes.annotate(
            one.value,
            (one.cost.mean, one.regret.mean),
            xytext=look.place,
            textcoords="offset points",
            fontsize=7,
            color=look.colour,
        )


def _level(axes: Axes, one: Spent) -> None:
    """Who sends nothing, as a line to compare with."""
    mean, error = one.regret.mean, one.regret.error or 0.0
    axes.axhline(mean, color=SILENT, linestyle="--", linewidth=1.4, label=one.told)
    axes.axhspan(mean - error, mean + error, color=SILENT, alpha=0.15, linewidth=0)
