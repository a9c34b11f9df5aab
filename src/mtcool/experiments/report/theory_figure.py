"""A picture of the measured regret between the floor and the ceiling of the theory."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas

from mtcool.experiments.report.pictures import save
from mtcool.experiments.report.promises import PointPromises, Promise
from mtcool.experiments.report.theory_table import place_of

MOST = 24  # rows that one can still read
FLOOR, MEASURED, CEILING = "lower bound on the worst case", "measured", "bound of the theorem"


def draw_promises(points: Sequence[PointPromises], path: Path) -> bool:
    """Write the picture as PNG and SVG.

    Return False, and write no file, if no algorithm has a ceiling.
    """
    shown = _spread([point for point in points if _bounded(point)])
    rows = [(point, row) for point in shown for row in _bounded(point)]
    if not rows:
        return False
    canvas = Canvas(figsize=(8.4, 1.3 + 0.26 * len(rows)), layout="constrained")
    FigureCanvasAgg(canvas)
    axes = canvas.subplots()
    ceilings = [float(row.ceiling or 0.0) for _, row in rows]
    places = [max(row.measured, 1e-3) for _, row in rows]
    floors = [(y, row.floor) for y, (_, row) in enumerate(rows) if row.floor is not None]
    axes.hlines(range(len(rows)), places, ceilings, color="#BBBBBB", linewidth=1)
    tick: Any = {"marker": "|", "linestyle": "none", "markersize": 10, "markeredgewidth": 2}
    axes.plot([x for _, x in floors], [y for y, _ in floors], color="#009E73", label=FLOOR, **tick)
    axes.plot(places, range(len(rows)), "o", color="#0072B2", markersize=5, label=MEASURED)
    axes.plot(ceilings, range(len(rows)), color="#D55E00", label=CEILING, **tick)
    axes.set_xscale("log")
    labels = [f"{row.algorithm}, {place_of(point)}" for point, row in rows]
    axes.set_yticks(range(len(rows)), labels, fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("multitask regret: first replicate, or mean")
    axes.spines[["top", "right"]].set_visible(False)
    # Over the whole width, not over the axes alone: long labels leave the axes little space.
    canvas.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=8)
    save(canvas, path)
    return True


def _bounded(point: PointPromises) -> list[Promise]:
    return [row for row in point.rows if row.ceiling is not None]


def _spread(points: Sequence[PointPromises]) -> Sequence[PointPromises]:
    """Points evenly spread, with all their algorithms, if there are more than one can read."""
    rows = sum(len(_bounded(point)) for point in points)
    return points[:: -(-rows // MOST)] if rows else points
