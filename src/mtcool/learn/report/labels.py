"""Names beside dots, each where it hides neither a dot nor another name."""

from typing import final

from matplotlib.axes import Axes

from mtcool.types import Floats, Given

SIZE = 8.5
"""Of the names, in the units of the axes."""
SIDES = (
    (0, -1, "center"),
    (0, 1, "center"),
    (1, 0, "left"),
    (-1, 0, "right"),
    (0.7, -0.7, "left"),
    (0.7, 0.7, "left"),
    (-0.7, -0.7, "right"),
    (-0.7, 0.7, "right"),
)
"""Where a name may stand, the best place first: to the right, downwards, and its end at the dot."""
START = {"left": 0.0, "center": 0.5, "right": 1.0}


@final
class Labels:
    """Names that were written on axes, whose units are pixels, and the dots to keep away from."""

    def __init__(self, axes: Axes, dots: Floats, radius: float) -> None:
        self._axes, self._radius = axes, radius
        self._taken = [(x - radius, y - radius, x + radius, y + radius) for x, y in dots.tolist()]

    def write(self, x: float, y: float, name: str) -> bool:
        """Write the name of the dot at a place; not where it would hide something everywhere.

        Examples
        --------
        >>> import numpy as np
        >>> from mtcool.learn.report.drawn_graph import empty
        >>> labels = Labels(empty(100.0)[1], np.array([[50.0, 50.0], [50.0, 40.0]]), radius=3.0)
        >>> labels.write(50.0, 50.0, "Ulm"), labels.write(50.0, 40.0, "Neu-Ulm")
        (True, True)
        """
        width, height = 0.62 * SIZE * len(name), 0.8 * SIZE
        for right, down, side in SIDES:
            at = x + right * (self._radius + 3)
            base = y + down * (self._radius + 3) + (height * (1 + down) / 2)
            left = at - START[side] * width
            box = (left, base - height, left + width, base)
            if not self._hides(box):
                look: dict[str, Given] = {"ha": side, "va": "baseline", "fontsize": 0.75 * SIZE}
                self._axes.text(at, base, name, parse_math=False, **look)
                self._taken.append(box)
                return True
        return False

    def _hides(self, box: tuple[float, float, float, float]) -> bool:
        left, top, right, bottom = box
        (_, width), (height, _) = self._axes.get_xlim(), self._axes.get_ylim()
        if left < 0 or top < 0 or right > width or bottom > height:
            return True
        return any(a < right and left < c and b < bottom and top < d for a, b, c, d in self._taken)
