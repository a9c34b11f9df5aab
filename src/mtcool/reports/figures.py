"""Figures of reports: one look, drawn by matplotlib; the same data give the same files."""

import functools
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.dates import AutoDateFormatter, AutoDateLocator
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from mtcool.files import write_whole
from mtcool.types import Floats, Given

P = ParamSpec("P")
R = TypeVar("R")

LOOK: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: small, searchable, and in any script
    "svg.hashsalt": "mtcool",  # names inside the file are not random
    "text.usetex": False,
}
BOTH = ("png", "svg")
"""PNG to look at, SVG for papers."""
GREY, GRID = "#555555", "#dddddd"


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Let a function draw in the look of the reports, whatever a matplotlibrc says."""

    @functools.wraps(draw)
    def in_our_look(*args: P.args, **options: P.kwargs) -> R:
        with rc_context(LOOK), warnings.catch_warnings():
            # A browser has fonts for scripts that the font of matplotlib lacks.
            warnings.filterwarnings("ignore", "Glyph .* missing from")
            return draw(*args, **options)

    return in_our_look


def panels(
    width: float, height: float, count: int = 1, columns: int = 1, **options: Given
) -> tuple[Figure, list[Axes]]:
    """A figure of this size in inches with so many panels, row by row.

    matplotlib finds where the panels are, unless `gridspec_kw` says it.
    """
    layout: Literal["constrained"] | None = None if "gridspec_kw" in options else "constrained"
    figure = Figure(figsize=(width, height), layout=layout)
    rows = -(-count // columns)
    grid = list(figure.subplots(rows, columns, squeeze=False, **options).ravel())
    for axes in grid[:count]:
        axes.spines[["top", "right"]].set_visible(False)
    for axes in grid[count:]:
        axes.set_visible(False)
    return figure, grid[:count]


def legend(figure: Figure, columns: int = 3, size: float = 9.0, **more: Given) -> None:
    """Name what has a label in any panel, once, above them all."""
    found = (axes.get_legend_handles_labels() for axes in figure.axes)
    named = {name: one for pairs in found for one, name in zip(*pairs, strict=True)}
    look: dict[str, Given] = {"ncols": columns, "frameon": False, "fontsize": size, **more}
    figure.legend(list(named.values()), list(named), loc="outside upper center", **look)


def note(figure: Figure, words: str) -> None:
    """Small words below the panels, on the right."""
    figure.supxlabel(words, x=0.995, ha="right", fontsize=7, color=GREY)


def write_plainly(axis: Axis, most: int | None = None) -> None:
    """Write the numbers of an axis without exponents, at most so many if that is given."""
    if most is not None:
        axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(lambda place, _: f"{place:,.10g}".replace("-", "\N{MINUS SIGN}"))


def write_dates(axis: Axis) -> None:
    """Write the dates of an axis as in tables: as much of each as is needed."""
    locator = AutoDateLocator(minticks=4, maxticks=8)  # type: ignore[no-untyped-call]
    written = AutoDateFormatter(locator)  # type: ignore[no-untyped-call]
    days, hours, minutes = "%Y-%m-%d", "%m-%d %H:%M", "%H:%M"
    written.scaled |= {365.0: "%Y", 30.0: "%Y-%m", 1.0: days, 1 / 24: hours, 1 / 1440: minutes}
    axis.set_major_locator(locator)
    axis.set_major_formatter(written)


def bars(axes: Axes, begin: Floats, end: Floats, **look: Given) -> None:
    """Straight lines, each from a row of `begin` to the same row of `end`, as one shape."""
    gap = np.full_like(begin, np.nan)
    axes.plot(*np.stack([begin, end, gap], axis=1).reshape(-1, 2).T, **look)


def save(figure: Figure, path: Path, kinds: Sequence[str] = BOTH) -> None:
    """Write the figure; `path` has no suffix."""
    for kind in kinds:
        options: dict[str, Given] = {"metadata": {"Date": None}} if kind == "svg" else {}
        fill = functools.partial(figure.savefig, format=kind, dpi=150, **options)
        write_whole(path.with_suffix(f".{kind}"), fill)
        figure.set_layout_engine("none")  # to find it takes long, and it is the same for all
