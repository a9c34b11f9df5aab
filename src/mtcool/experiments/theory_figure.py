"""A picture of the measured regret between the floor and the ceiling of the theory."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas

from mtcool.experiments.promises import PointPromises
from mtcool.experiments.theory_table import place_of

MOST = 24  # rows that one can still read


def draw_promises(points: Sequence[PointPromises], path: Path) -> bool:
    """Write the picture as PNG and SVG; nothing, and False, if no algorithm has a ceiling."""
    rows = [(point, row) for point in points for row in point.rows if row.ceiling is not None]
    if not rows:
        return False
    # Evenly spread over the points if there are more than one can read.
    rows = rows[:: -(-len(rows) // MOST)]
    canvas = Canvas(figsize=(8.4, 1.2 + 0.26 * len(rows)), layout="constrained")
    FigureCanvasAgg(canvas)
    axes = canvas.subplots()
    for y, (_, row) in enumerate(rows):
        measured, ceiling = max(row.measured, 1e-3), float(row.ceiling or 0.0)
        axes.plot([measured, ceiling], [y, y], color="#BBBBBB", linewidth=1)
        axes.plot(ceiling, y, "|", color="#D55E00", markersize=10, markeredgewidth=2)
        axes.plot(measured, y, "o", color="#0072B2", markersize=5)
        if row.floor is not None:
            axes.plot(row.floor, y, "|", color="#009E73", markersize=10, markeredgewidth=2)
    axes.set_xscale("log")
    labels = [f"{row.algorithm}, {place_of(point)}" for point, row in rows]
    axes.set_yticks(range(len(rows)), labels, fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("multitask regret of the first replicate")
    title = "measured (dots), the theorem's bound (red), the lower bound on the worst case (green)"
    axes.set_title(title, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    canvas.savefig(path.with_suffix(".png"), dpi=150)
    with rc_context({"svg.hashsalt": "mtcool"}):
        canvas.savefig(path.with_suffix(".svg"), metadata={"Date": None})
    return True
