"""Lines, dots and words in an SVG file, which every browser draws."""

from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Literal, final

import numpy as np

from mtcool.files import write_whole
from mtcool.types import Floats

Anchor = Literal["start", "middle", "end"]
FONT = "DejaVu Sans, Verdana, Arial, sans-serif"


@final
class Canvas:
    """A drawing of so many points in width and height; y grows downwards.

    Examples
    --------
    >>> canvas = Canvas(100, 50)
    >>> canvas.line(np.array([[0, 0], [100, 50]]), "black")
    >>> canvas.text(50, 25, "a < b", anchor="middle")
    >>> "a &lt; b" in canvas.svg()
    True
    """

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self._shapes: list[str] = []

    def line(self, places: Floats, colour: str, width: float = 1.0) -> None:
        """A line through places, each of which is a row of x and y."""
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places.tolist())
        self._shapes.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width:g}" '
            'stroke-linejoin="round"/>'
        )

    def segments(
        self, begin: Floats, end: Floats, colour: str, width: float = 1.0, opacity: float = 1.0
    ) -> None:
        """Straight lines, each from a row of `begin` to the same row of `end`."""
        pairs = zip(begin.tolist(), end.tolist(), strict=True)
        self._strokes(
            (f"M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}" for (x, y), (u, v) in pairs),
            f'stroke="{colour}" stroke-width="{width:g}" stroke-opacity="{opacity:g}"',
        )

    def dots(self, places: Floats, colour: str, radius: float) -> None:
        """Filled dots; thousands of them are one shape."""
        self._strokes(
            (f"M{x:.1f} {y:.1f}h0" for x, y in places.tolist()),
            f'stroke="{colour}" stroke-width="{2 * radius:g}" stroke-linecap="round"',
        )

    def circle(self, x: float, y: float, radius: float, fill: str, edge: str, width: float) -> None:
        """A filled circle with an edge."""
        self._shapes.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{fill}" stroke="{edge}" '
            f'stroke-width="{width:g}"/>'
        )

    def rectangle(
        self, x: float, y: float, width: float, height: float, fill: str = "none", edge: str = ""
    ) -> None:
        """A rectangle from its upper left corner on."""
        self._shapes.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'fill="{fill}" stroke="{edge or "none"}"/>'
        )

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float = 10.0,
        anchor: Anchor = "start",
        upright: bool = False,
    ) -> None:
        """Words on a line that begins at, is centred at or ends at a place."""
        turned = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if upright else ""
        self._shapes.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}"{turned}>'
            f"{escape(printable(words))}</text>"
        )

    def svg(self) -> str:
        """The whole drawing."""
        size = f'width="{self.width:g}" height="{self.height:g}"'
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
                f'viewBox="0 0 {self.width:g} {self.height:g}" font-family="{FONT}">',
                '<rect width="100%" height="100%" fill="white"/>',
                *self._shapes,
                "</svg>\n",
            ]
        )

    def write(self, path: Path) -> None:
        """Write the drawing; the same drawing gives the same file."""
        write_whole(path, lambda file: file.write(self.svg().encode()))

    def _strokes(self, strokes: Iterable[str], look: str) -> None:
        drawn = "".join(strokes)
        if drawn:
            self._shapes.append(f'<path d="{drawn}" fill="none" {look}/>')


def printable(text: str) -> str:
    """The text without characters that no XML file may have.

    Examples
    --------
    >>> printable("bell\\x07")
    'bell\N{REPLACEMENT CHARACTER}'
    """
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def places(x: Floats, y: Floats) -> Floats:
    """Rows of x and y; a number stands for as many as the other has."""
    pairs: Floats = np.column_stack(np.broadcast_arrays(x, y))
    return pairs
