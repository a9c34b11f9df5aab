"""A drawn figure on disk: PNG for looking, SVG for papers; the same data, the same files."""

from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure as Canvas


def save(canvas: Canvas, path: Path) -> None:
    """Write the figure as PNG and SVG; `path` has no suffix."""
    canvas.savefig(path.with_suffix(".png"), dpi=150)
    # Finding the layout takes most of the time, and it is the same for both.
    canvas.set_layout_engine("none")
    # No date and no random names inside.
    with rc_context({"svg.hashsalt": "mtcool"}):
        canvas.savefig(path.with_suffix(".svg"), metadata={"Date": None})
