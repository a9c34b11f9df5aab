"""Small panels side by side: bounds along the runs, and the agents one by one."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator, NullFormatter

from mtcool.experiments.report.bound_curves import BoundCurve
from mtcool.experiments.report.figures import colours_of
from mtcool.experiments.report.results import Results
from mtcool.reports.figures import note, panels, save, styled, write_plainly
from mtcool.types import Floats

IN_A_ROW, MOST = 3, 9
LOWEST = 1e-3  # of a logarithmic axis, relative to the largest bound


@styled
def draw_bound_curves(
    results: Results, curves: Sequence[tuple[dict[str, str], list[BoundCurve]]], path: Path
) -> bool:
    """Draw regret (solid) and bounds (dashed) over time; one panel if all would be the same.

    Return False, and write no file, if there are no curves.
    """
    if not curves:
        return False
    shown = [(_place(results, values), algorithms) for values, algorithms in curves]
    if len(shown) > 1 and all(_alike(algorithms, shown[0][1]) for _, algorithms in shown):
        shown = [("the same at all points", shown[0][1])]
    canvas, grid = _grid(len(shown), in_a_row=2)
    looks = _looks(results)
    for axes, (place, algorithms) in zip(grid, shown, strict=True):
        for one in algorithms:
            colour = looks[one.algorithm]
            positive = np.where(one.measured > 0.0, one.measured, np.nan)
            axes.plot(one.times, positive, color=colour, label=one.algorithm)
            style = (0, (1, 2)) if one.whole_run else "--"
            axes.plot(one.times, one.bound, color=colour, linestyle=style, linewidth=1.2)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())
        most = max(float(np.nanmax(one.bound)) for one in algorithms)
        axes.set_ylim(bottom=max(axes.get_ylim()[0], LOWEST * most), top=2.0 * most)
        axes.set_title(place, fontsize=9)
        axes.set_xlabel("rounds")
        axes.legend(frameon=False, fontsize=7, loc="lower right")
    grid[0].set_ylabel("multitask regret")
    whole = any(one.whole_run for _, algorithms in curves for one in algorithms)
    words = "full: measured; dashed: bound" + ("; dotted: bound of the whole run" if whole else "")
    note(canvas, words)
    save(canvas, path)
    return True


def _alike(some: Sequence[BoundCurve], others: Sequence[BoundCurve]) -> bool:
    return len(some) == len(others) and all(
        one.algorithm == other.algorithm
        and np.array_equal(one.measured, other.measured)
        and np.array_equal(one.bound, other.bound, equal_nan=True)
        for one, other in zip(some, others, strict=True)
    )


@styled
def draw_agents(results: Results, path: Path) -> bool:
    """Draw the regret of every agent over time.

    Return False, and write no file, if there are too many agents.
    """
    points = [k for k, point in enumerate(results.points) if len(point.agent_times)]
    names = results.points[0].names[:MOST]
    # The first and the last point, if all algorithms fit in twice.
    both = points and 2 * len(names) <= MOST
    chosen = dict.fromkeys((points[0], points[-1]) if both else points[:1])
    shown = [(k, name) for k in chosen for name in names]
    if not shown:
        return False
    canvas, grid = _grid(len(shown), in_a_row=min(len(names), IN_A_ROW))
    looks = _looks(results)
    for axes, (k, name) in zip(grid, shown, strict=True):
        point = results.points[k]
        curves = np.nanmean(point.agent_curves(name), axis=0)
        _agents(axes, point.agent_times.astype(float), curves, looks[name], results.agent_names(k))
        place = _place(results, point.values)
        axes.set_title(f"{name}\n{place}" if place else name, fontsize=9)
        axes.set_xlabel("rounds")
    for k in chosen:  # the shown of a point share their axis
        row = [axes for axes, panel in zip(grid, shown, strict=True) if panel[0] == k]
        lowest, highest = zip(*(axes.get_ylim() for axes in row), strict=True)
        for axes in row:
            axes.set_ylim(min(*lowest, 0.0), max(highest))
        row[0].set_ylabel("regret of each agent")
    save(canvas, path)
    return True


def _agents(axes: Axes, times: Floats, curves: Floats, colour: str, names: Sequence[str]) -> None:
    """A thin line for each agent; the one with the most regret is named."""
    axes.plot(times, curves, color=colour, linewidth=0.6, alpha=0.45)
    worst = int(np.argmax(curves[-1]))
    axes.plot(
        times,
        curves[:, worst],
        color=colour,
        linewidth=1.6,
        label=f"agent {names[worst]}, the most",
    )
    axes.plot(times, np.median(curves, axis=1), "k--", linewidth=1.0, label="median")
    axes.legend(frameon=False, fontsize=7, loc="upper left")
    write_plainly(axes.xaxis)
    axes.xaxis.set_major_locator(MaxNLocator(3))


def _grid(count: int, in_a_row: int) -> tuple[Canvas, list[Axes]]:
    columns = min(count, in_a_row)
    rows = -(-count // columns)
    width, height = 1.0 + 3.2 * columns, 0.6 + 2.8 * rows
    # All panels have labels of the same size: places in inches, where matplotlib would measure
    # every letter to find them, which takes longer than drawing.
    places = {
        "left": 0.75 / width,
        "right": 1.0 - 0.15 / width,
        "bottom": 0.75 / height,
        "top": 1.0 - 0.45 / height,
        "wspace": 0.25,
        "hspace": 0.5,
    }
    return panels(width, height, count, columns, gridspec_kw=places)


def _looks(results: Results) -> dict[str, str]:
    """The colour of every algorithm, as in the other figures."""
    names = results.points[0].names
    wanted = [results.record_of(name).colour for name in names]
    return dict(zip(names, colours_of(wanted), strict=True))


def _place(results: Results, values: dict[str, str]) -> str:
    return ", ".join(f"{results.title_of(key)} = {value}" for key, value in values.items())
