"""Pictures of the regret: against time, against a parameter, or between categories."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from mtcool.experiments.files import spec
from mtcool.experiments.report.cutoff import Payoff, payoffs
from mtcool.experiments.report.results import PointResults, Results, numbers_of
from mtcool.reports.figures import legend, note, panels, save, styled, write_plainly
from mtcool.reports.numbers import short
from mtcool.types import Floats

# Okabe and Ito's colours, distinct for colour-blind readers; yellow is too pale for lines. An
# algorithm has the colour of its record in all figures; other variants of it, and algorithms
# without a colour, take those that are free, the first three before those of other records.
COLOURS = (
    "#56B4E9",
    "#E69F00",
    "#7F7F7F",
    "#0072B2",
    "#D55E00",
    "#000000",
    "#009E73",
    "#CC79A7",
)
MARKERS = "osD^vP*X"
WIDE = 30.0  # a ratio that asks for a logarithmic axis
IN_A_ROW = 2
CUTOFF = "; ringed: where sharing starts or ceases to pay"


@dataclass(frozen=True)
class Series:
    """One algorithm in one panel."""

    name: str
    colour: str
    marker: str
    x: Floats
    mean: Floats
    error: Floats
    flat: bool
    """The axis does not change it: a line to compare with."""


@styled
def draw(results: Results, figure: spec.Figure, path: Path) -> None:
    """Write the figure as PNG and SVG; `path` has no suffix."""
    chosen = list(results.panels(figure))
    categories = None if _is_numeric(chosen[0][1], figure.x) else _names(chosen[0][1], figure.x)
    lines = [_series(results, points, figure.x) for _, points in chosen]
    canvas, grid = panel_grid(len(chosen))
    marked = False
    for axes, (label, points), series in zip(grid, chosen, lines, strict=True):
        if label is not None and figure.panels is not None:
            axes.set_title(f"{results.title_of(figure.panels)} = {label}", fontsize=10)
        axes.set_xlabel(results.title_of(figure.x))
        if categories is None:
            _lines(axes, series, figure.x)
            marked |= _mark_cutoffs(axes, series, list(payoffs(points, figure.x, results)))
        else:
            _dots(axes, series, categories)
    for axes in grid[::IN_A_ROW]:
        axes.set_ylabel("multitask regret")
    _scale(grid, [one for series in lines for one in series], figure.x == "time")
    note(canvas, setting_words(results, figure) + (CUTOFF if marked else ""))
    if figure.title:
        canvas.suptitle(figure.title, fontsize=11)
    if categories is None:
        canvas.draw_without_rendering()  # labels need to know where the curves are
        for axes, series in zip(grid, lines, strict=True):
            _label_ends(axes, series)
    else:
        legend(canvas, min(len(lines[0]), 4))
    save(canvas, path)


def panel_grid(count: int, wide: float = 4.8) -> tuple[Canvas, list[Axes]]:
    """An empty figure with so many panels, so wide in inches, which share the axis of regret."""
    rows, width = -(-count // IN_A_ROW), min(count, IN_A_ROW)
    return panels(1.2 + wide * width, 0.4 + 3.9 * rows, count, width, sharey=True)


def setting_words(results: Results, figure: spec.Figure) -> str:
    """The settings that the curves do not show: d, L, T and the number of replicates."""
    point = results.experiment.points[0]
    swept = {sweep.parameter for sweep in results.experiment.head.sweep}
    given = [a for a in point.algorithm if f"algorithm.{a.name}.lipschitz" not in swept]
    bounds = sorted({(one.lipschitz == "adaptive", one.lipschitz, one.bound) for one in given})
    words = [f"{len(results.points[0].cells)} replicates"]
    if "tasks.dim" not in swept:
        words.append(f"d = {point.tasks.dim}")
    if bounds and "algorithm.lipschitz" not in swept:
        words.append("L = " + ", ".join(bound for _, _, bound in bounds))
    if "rounds" not in swept and figure.x != "time":
        words.append(f"T = {point.rounds:,}")
    return ", ".join(words)


def _is_numeric(points: Sequence[PointResults], x: str) -> bool:
    return x == "time" or numbers_of(points, x) is not None


def _names(points: Sequence[PointResults], x: str) -> list[str]:
    return [point.values[x] for point in points]


def _series(results: Results, points: Sequence[PointResults], x: str) -> list[Series]:
    """What to draw of every algorithm, ascending in x."""
    if x == "time":
        places = points[0].times.astype(np.float64)
        values = np.moveaxis(points[0].curves, 2, 0)
    else:
        numbers = numbers_of(points, x)
        places = np.arange(len(points), dtype=np.float64) if numbers is None else numbers
        values = np.array([point.final for point in points])
    order = np.argsort(places, kind="stable")
    places, values = places[order], values[order]
    count = values.shape[1]
    means = values.mean(axis=1)
    errors = values.std(axis=1, ddof=1) / np.sqrt(count) if count > 1 else np.zeros_like(means)
    names = points[0].names
    colours = colours_of([results.record_of(name).colour for name in names])
    return [
        Series(
            name,
            colours[k],
            MARKERS[k % len(MARKERS)],
            places,
            means[:, k],
            errors[:, k],
            flat=not results.depends(name, x),
        )
        for k, name in enumerate(names)
    ]


def colours_of(wanted: Sequence[str | None]) -> list[str]:
    """A colour for every algorithm; the first that asks for one gets it."""
    spare = itertools.cycle([colour for colour in COLOURS if colour not in wanted] or COLOURS)
    return [
        next(spare) if colour is None or colour in wanted[:k] else colour
        for k, colour in enumerate(wanted)
    ]


def _lines(axes: Axes, series: Sequence[Series], axis: str) -> None:
    for one in series:
        marker = "" if axis == "time" or one.flat else one.marker
        style = "--" if one.flat else "-"
        axes.plot(
            one.x, one.mean, style, color=one.colour, linewidth=1.6, marker=marker, markersize=4
        )
        axes.fill_between(
            one.x,
            one.mean - one.error,
            one.mean + one.error,
            color=one.colour,
            alpha=0.2,
            linewidth=0,
        )
    x = series[0].x
    if axis not in ("time", "sigma") and x.min() > 0 and x.max() / x.min() >= WIDE:
        axes.set_xscale("log")
        write_plainly(axes.xaxis)
    else:
        write_plainly(axes.xaxis, 5)
    axes.margins(x=0.0 if axis == "time" else 0.03)


def _mark_cutoffs(axes: Axes, series: Sequence[Series], found: Sequence[Payoff]) -> bool:
    """Ring the places where an algorithm's curve crosses that of learning alone."""
    looks = {one.name: one for one in series}
    marks = [(looks[payoff.name], mark) for payoff in found for mark in payoff.marks()]
    for look, (x, y) in marks:
        axes.plot(x, y, "o", markersize=11, markerfacecolor="white", color=look.colour)
        axes.plot(x, y, look.marker, markersize=5, color=look.colour)
    return bool(marks)


def _dots(axes: Axes, series: Sequence[Series], categories: Sequence[str]) -> None:
    for k, one in enumerate(series):
        axes.errorbar(
            one.x + 0.6 * ((k + 0.5) / len(series) - 0.5),
            one.mean,
            one.error,
            color=one.colour,
            marker=one.marker,
            linestyle="none",
            capsize=2,
            label=one.name,
        )
    axes.set_xticks(range(len(categories)), categories)
    axes.set_xlim(-0.5, len(categories) - 0.5)
    axes.grid(axis="y", alpha=0.3)


def _scale(grid: Sequence[Axes], series: Sequence[Series], over_time: bool) -> None:
    """A logarithmic axis where the data ask for it; panels share it.

    Over time the ends of the curves decide: all of them start in the first rounds, near zero.
    """
    every = np.concatenate([one.mean for one in series])
    telling = np.array([one.mean[-1] for one in series]) if over_time else every
    if telling.min() > 0 and telling.max() / telling.min() >= np.sqrt(WIDE):
        for axes in grid:
            axes.set_yscale("log")
        lowest = telling.min() / (WIDE if over_time else 1.5)
        grid[0].set_ylim(lowest, every.max() * 1.5)
    elif every.min() >= 0:
        grid[0].set_ylim(bottom=0.0)


def _label_ends(axes: Axes, series: Sequence[Series]) -> None:
    """Name the curves at their right ends, moved apart where they would overlap."""
    to_axes, to_display = axes.transAxes.inverted().transform, axes.transData.transform
    right = axes.get_xlim()[1]
    heights = [float(to_axes(to_display((right, one.mean[-1])))[1]) for one in series]
    order = sorted(range(len(series)), key=heights.__getitem__)
    for k, height in zip(order, apart([heights[k] for k in order]), strict=True):
        colour = series[k].colour
        axes.annotate(
            f"{series[k].name}  {short(series[k].mean[-1])}",
            (1.0, heights[k]),
            xycoords="axes fraction",
            xytext=(1.04, height),
            textcoords="axes fraction",
            va="center",
            color=colour,
            fontsize=8,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.6,
                "relpos": (0, 0.5),
            },
        )


def apart(heights: Sequence[float], gap: float = 0.055) -> list[float]:
    """Move ascending heights at least `gap` apart, by least squares.

    Examples
    --------
    >>> apart([0.5, 0.5], gap=0.1)
    [0.45, 0.55]
    """
    pools: list[list[float]] = []  # of heights, each lowered by its rank times the gap
    for rank, height in enumerate(heights):
        pools.append([height - rank * gap])
        while len(pools) > 1 and np.mean(pools[-2]) > np.mean(pools[-1]):
            last = pools.pop()
            pools[-1].extend(last)
    lowered = [float(np.mean(pool)) for pool in pools for _ in pool]
    return [round(height + rank * gap, 12) for rank, height in enumerate(lowered)]
