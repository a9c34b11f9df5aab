"""A picture of the measured regret between the floor and the ceiling of the theory."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mtcool.experiments.report.promises import PointPromises, Promise
from mtcool.experiments.report.theory_table import ALL, place_of
from mtcool.reports.figures import legend, panels, save, styled

MOST = 24  # rows that one can still read
FLOOR, MEASURED, CEILING = "lower bound on the worst case", "measured", "bound of the theorem"


@styled
def draw_promises(points: Sequence[PointPromises], path: Path) -> bool:
    """Write the picture as PNG and SVG; what is the same at all points has one row.

    Return False, and write no file, if no algorithm has a ceiling.
    """
    same = _same(points)
    shown = _spread([[(place_of(point), row) for row in _bounded(point, same)] for point in points])
    rows = [*((ALL, row) for row in same.values()), *(row for point in shown for row in point)]
    if not rows:
        return False
    canvas, (axes,) = panels(8.4, 1.3 + 0.26 * len(rows))
    ceilings = [float(row.ceiling or 0.0) for _, row in rows]
    places = [max(row.measured, 1e-3) for _, row in rows]
    floors = [(y, row.floor) for y, (_, row) in enumerate(rows) if row.floor is not None]
    axes.hlines(range(len(rows)), places, ceilings, color="#BBBBBB", linewidth=1)
    tick: Any = {"marker": "|", "linestyle": "none", "markersize": 10, "markeredgewidth": 2}
    axes.plot([x for _, x in floors], [y for y, _ in floors], color="#009E73", label=FLOOR, **tick)
    axes.plot(places, range(len(rows)), "o", color="#0072B2", markersize=5, label=MEASURED)
    axes.plot(ceilings, range(len(rows)), color="#D55E00", label=CEILING, **tick)
    axes.set_xscale("log")
    labels = [f"{row.algorithm}, {place}" for place, row in rows]
    axes.set_yticks(range(len(rows)), labels, fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("multitask regret: first replicate, or mean")
    # Over the whole width, not over the axes alone: long labels leave the axes little space.
    legend(canvas, size=8)
    save(canvas, path)
    return True


def _same(points: Sequence[PointPromises]) -> dict[str, Promise]:
    """Algorithms that nothing of a sweep matters to, with their row."""
    if len(points) == 1:
        return {}
    found: dict[str, set[Promise]] = {}
    for point in points:
        for row in point.rows:
            found.setdefault(row.algorithm, set()).add(row)
    alike = {name: rows.pop() for name, rows in found.items() if len(rows) == 1}
    return {name: row for name, row in alike.items() if row.ceiling is not None}


def _bounded(point: PointPromises, same: Mapping[str, Promise]) -> list[Promise]:
    return [row for row in point.rows if row.ceiling is not None and row.algorithm not in same]


def _spread(points: Sequence[list[tuple[str, Promise]]]) -> Sequence[list[tuple[str, Promise]]]:
    """Points evenly spread, with all their algorithms, if there are more than one can read."""
    bounded = [rows for rows in points if rows]
    return bounded[:: max(1, -(-sum(map(len, bounded)) // MOST))]
