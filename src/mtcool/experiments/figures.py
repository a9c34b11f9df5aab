"""Pictures of the regret: against time, against a parameter, or between categories."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas
from numpy.typing import NDArray

from mtcool.experiments import spec
from mtcool.experiments.results import PointResults, Results

Floats = NDArray[np.float64]

# Okabe and Ito's colours, distinct for colour-blind readers; yellow is too pale for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#7F7F7F")
MARKERS = "osD^vP*X"
WIDE = 30.0  # a ratio that asks for a logarithmic axis


def draw(results: Results, figure: spec.Figure, path: Path) -> None:
    """Write the figure as PNG and SVG; `path` has no suffix."""
    panels = list(results.panels(figure))
    canvas = Canvas(figsize=(1.2 + 4.6 * len(panels), 4.3), layout="constrained")
    FigureCanvasAgg(canvas)
    grid = canvas.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    numeric = figure.x in ("time", "sigma") or _numbers(panels[0][1], figure.x) is not None
    for axes, (label, points) in zip(grid, panels, strict=True):
        if label is not None and figure.panels is not None:
            axes.set_title(f"{results.title_of(figure.panels)} = {label}", fontsize=10)
        axes.set_xlabel(results.title_of(figure.x))
        axes.spines[["top", "right"]].set_visible(False)
        (_lines if numeric else _categories)(axes, points, figure.x)
    grid[0].set_ylabel("multitask regret")
    _scale(grid, [values for _, points in panels for values in _heights(points, figure.x)])
    if numeric:
        canvas.draw_without_rendering()  # labels need to know where the curves are
        for axes, (_, points) in zip(grid, panels, strict=True):
            _label_ends(axes, points, figure.x)
    else:
        _legend(canvas, panels[0][1][0].names)
    if figure.title:
        canvas.suptitle(figure.title, fontsize=11)
    canvas.savefig(path.with_suffix(".png"), dpi=150)
    # No date and no random names inside: the same data, the same file.
    with rc_context({"svg.hashsalt": "mtcool"}):
        canvas.savefig(path.with_suffix(".svg"), metadata={"Date": None})


def _series(points: Sequence[PointResults], x: str, k: int) -> tuple[Floats, Floats, Floats]:
    """Positions, mean regret and standard error of algorithm k."""
    if x == "time":
        point = points[0]
        values = [point.curves[:, k, t] for t in range(len(point.times))]
        places = point.times.astype(float)
    else:
        values = [point.final[:, k] for point in points]
        numbers = _numbers(points, x)
        places = np.arange(len(points), dtype=float) if numbers is None else numbers
    means = np.array([v.mean() for v in values])
    errors = np.array([v.std(ddof=1) / np.sqrt(len(v)) if len(v) > 1 else 0.0 for v in values])
    order = np.argsort(places, kind="stable")
    return places[order], means[order], errors[order]


def _numbers(points: Sequence[PointResults], x: str) -> Floats | None:
    """The values of the axis as numbers, or None if they are names."""
    if x == "sigma":
        return np.array([point.sigma.mean() for point in points])
    try:
        return np.array([float(point.values[x]) for point in points])
    except ValueError:
        return None


def _heights(points: Sequence[PointResults], x: str) -> list[Floats]:
    return [_series(points, x, k)[1] for k in range(len(points[0].names))]


def _lines(axes: Axes, points: Sequence[PointResults], x: str) -> None:
    for k in range(len(points[0].names)):
        places, means, errors = _series(points, x, k)
        marker = "" if x == "time" else MARKERS[k % len(MARKERS)]
        axes.plot(places, means, color=_colour(k), linewidth=1.6, marker=marker, markersize=4)
        axes.fill_between(
            places, means - errors, means + errors, color=_colour(k), alpha=0.2, linewidth=0
        )
    if x != "time" and places.min() > 0 and places.max() / places.min() >= WIDE:
        axes.set_xscale("log")
    axes.margins(x=0.0 if x == "time" else 0.03)


def _categories(axes: Axes, points: Sequence[PointResults], x: str) -> None:
    count = len(points[0].names)
    for k in range(count):
        places, means, errors = _series(points, x, k)
        aside = 0.6 * ((k + 0.5) / count - 0.5)
        axes.errorbar(
            places + aside,
            means,
            errors,
            color=_colour(k),
            marker=MARKERS[k % len(MARKERS)],
            linestyle="none",
            markersize=6,
            capsize=2,
        )
    axes.set_xticks(range(len(points)), [point.values[x] for point in points])
    axes.set_xlim(-0.5, len(points) - 0.5)
    axes.grid(axis="y", alpha=0.3)


def _legend(canvas: Canvas, names: Sequence[str]) -> None:
    handles = [
        canvas.axes[0].plot(
            [], [], color=_colour(k), marker=MARKERS[k % len(MARKERS)], linestyle="none"
        )[0]
        for k in range(len(names))
    ]
    canvas.legend(
        handles,
        names,
        loc="outside upper center",
        ncols=min(len(names), 4),
        frameon=False,
        fontsize=9,
    )


def _scale(grid: Sequence[Axes], heights: Sequence[Floats]) -> None:
    """A logarithmic axis where the data ask for it; panels share it."""
    every = np.concatenate(list(heights))
    ends = np.array([values[-1] for values in heights])
    if ends.min() > 0 and np.ptp(np.log(ends)) >= np.log(WIDE) / 2:
        for axes in grid:
            axes.set_yscale("log")
        positive = every[every > 0]
        # A curve starts with the first rounds, whose regret tells little: do not give it the axis.
        grid[0].set_ylim(max(positive.min() / 1.5, ends.min() / 30), every.max() * 1.5)
    elif every.min() >= 0:
        grid[0].set_ylim(bottom=0.0)


def _colour(k: int) -> str:
    return COLOURS[k % len(COLOURS)]


def _label_ends(axes: Axes, points: Sequence[PointResults], x: str) -> None:
    """Name the curves at their right ends, moved apart where they would overlap."""
    names = points[0].names
    ends = [float(_series(points, x, k)[1][-1]) for k in range(len(names))]
    to_axes = axes.transAxes.inverted().transform
    right = axes.get_xlim()[1]
    heights = [float(to_axes(axes.transData.transform((right, end)))[1]) for end in ends]
    order = sorted(range(len(names)), key=heights.__getitem__)
    for k, height in zip(order, apart([heights[k] for k in order]), strict=True):
        axes.annotate(
            f"{names[k]}  {ends[k]:.3g}",
            (1.0, heights[k]),
            xycoords="axes fraction",
            xytext=(1.04, height),
            textcoords="axes fraction",
            va="center",
            color=_colour(k),
            fontsize=8,
            arrowprops={
                "arrowstyle": "-",
                "color": _colour(k),
                "linewidth": 0.6,
                "relpos": (0, 0.5),
            },
        )


def apart(heights: Sequence[float], gap: float = 0.055) -> list[float]:
    """Ascending heights moved at least `gap` apart, by least squares: labels that touch pool.

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
