"""Names beside dots, each where it hides neither a dot nor another name."""

from typing import final

from mtcool.learn.report.canvas import Anchor, Canvas
from mtcool.types import Floats

SIZE = 8.5
"""Of the names, in points."""
SIDES: tuple[tuple[float, float, Anchor], ...] = (
    (0, -1, "middle"),
    (0, 1, "middle"),
    (1, 0, "start"),
    (-1, 0, "end"),
    (0.7, -0.7, "start"),
    (0.7, 0.7, "start"),
    (-0.7, -0.7, "end"),
    (-0.7, 0.7, "end"),
)
"""Where a name may stand, the best place first: to the right, downwards, and its end at the dot."""
START = {"start": 0.0, "middle": 0.5, "end": 1.0}


@final
class Labels:
    """Names that were written on a canvas, and the dots that they keep away from."""

    def __init__(self, canvas: Canvas, dots: Floats, radius: float) -> None:
        self._canvas, self._radius = canvas, radius
        self._taken = [(x - radius, y - radius, x + radius, y + radius) for x, y in dots.tolist()]

    def write(self, x: float, y: float, name: str) -> bool:
        """Write the name of the dot at a place; not where it would hide something everywhere.

        Examples
        --------
        >>> import numpy as np
        >>> canvas = Canvas(100, 100)
        >>> labels = Labels(canvas, np.array([[50.0, 50.0], [50.0, 40.0]]), radius=3.0)
        >>> labels.write(50.0, 50.0, "Ulm"), labels.write(50.0, 40.0, "Neu-Ulm")
        (True, True)
        """
        width, height = 0.62 * SIZE * len(name), 0.8 * SIZE
        for right, down, anchor in SIDES:
            at = x + right * (self._radius + 3)
            base = y + down * (self._radius + 3) + (height * (1 + down) / 2)
            left = at - START[anchor] * width
            box = (left, base - height, left + width, base)
            if not self._hides(box):
                self._canvas.text(at, base, name, size=SIZE, anchor=anchor)
                self._taken.append(box)
                return True
        return False

    def _hides(self, box: tuple[float, float, float, float]) -> bool:
        left, top, right, bottom = box
        if left < 0 or top < 0 or right > self._canvas.width or bottom > self._canvas.height:
            return True
        return any(a < right and left < c and b < bottom and top < d for a, b, c, d in self._taken)
