"""What all pictures have in common: size, colours, and how they are written."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray
from PIL import Image

Floats: TypeAlias = NDArray[np.float64]

# Okabe and Ito's colours, which people with any kind of colour vision can tell apart.
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
PURPLE, YELLOW, SKY = "#CC79A7", "#E69F00", "#56B4E9"
BLACK, GREY, PALE = "#222222", "#6b6b6b", "#d9d9d9"

WIDTH = 7.0
"""Inches, of which a page shows about a hundred pixels each: 10 points are 14 pixels there."""
DOTS = 150


OWN = "how much of a task is its own (0: all are equal, 1: nothing in common)"
"""What the charts have at the bottom."""


def canvas(height: float) -> Figure:
    """An empty picture, white also on dark pages."""
    engine = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08)
    return Figure(figsize=(WIDTH, height), facecolor="white", layout=engine)


def write(figure: Figure, path: Path) -> None:
    """Write a picture in 256 colours; the same picture gives the same file."""
    dots = io.BytesIO()
    figure.savefig(dots, dpi=DOTS, metadata={"Software": None})
    with Image.open(dots) as image:
        few = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def plain(axes: Axes, x: str, y: str, title: str = "") -> None:
    """Label the axes, and leave out the lines that say nothing."""
    axes.set_xlabel(x, fontsize=9.5)
    axes.set_ylabel(y, fontsize=9.5)
    axes.set_title(title, fontsize=10.5)
    axes.tick_params(labelsize=8.5)
    axes.spines[["top", "right"]].set_visible(False)


def words_of(number: float, _: object = None) -> str:
    """A tick of a logarithmic axis as people write it."""
    return f"{number:,.10g}"


PAYS = LinearSegmentedColormap.from_list("pays", [BLUE, "#a9cfe6", "#f7f7f7", "#f2c19b", ORANGE])
"""From blue, where sharing pays, through white to orange, where it costs."""


def chart(
    axes: Axes, ratios: Floats, columns: Sequence[float], rows: Sequence[float], widest: float = 3.0
) -> None:
    """A table of ratios as colours and numbers, with a line where sharing makes no difference.

    Parameters
    ----------
    ratios
        What sharing pays over what learning alone pays, (rows, columns).
    columns, rows
        What stands at the axes, in even steps on the picture.
    widest
        The ratio, and one over it, at which colours end.
    """
    norm = LogNorm(1.0 / widest, widest)
    axes.imshow(ratios, cmap=PAYS, norm=norm, origin="lower", aspect="auto")
    for (row, column), ratio in np.ndenumerate(ratios):
        dark = abs(np.log(ratio)) > 0.8 * np.log(widest)
        axes.text(
            *(column, row, f"{ratio:.2f}"),
            **{"ha": "center", "va": "center", "fontsize": 8, "zorder": 5},
            color="white" if dark else BLACK,
            path_effects=[] if dark else [withStroke(linewidth=2.5, foreground="white")],
        )
    if ratios.min() < 1.0 < ratios.max():
        axes.contour(np.log(ratios), levels=[0.0], colors=[BLACK], linewidths=2.0)
    axes.set_xticks(range(len(columns)), [f"{value:g}" for value in columns])
    axes.set_yticks(range(len(rows)), [words_of(value) for value in rows])
    axes.tick_params(length=0)


def crossing(x: Sequence[float] | Floats, y: Sequence[float] | Floats) -> float:
    """The first place at which y, drawn through its points, becomes zero; NaN if it never does.

    Examples
    --------
    >>> crossing([0.0, 1.0, 2.0], [-3.0, -1.0, 1.0])
    1.5
    """
    xs, ys = np.asarray(x, np.float64), np.asarray(y, np.float64)
    changes = np.flatnonzero(np.sign(ys[:-1]) * np.sign(ys[1:]) <= 0)
    if changes.size == 0:
        return float("nan")
    k = int(changes[0])
    return float(xs[k] - ys[k] * (xs[k + 1] - xs[k]) / (ys[k + 1] - ys[k]))
