"""Axes of a chart: where numbers are drawn, round numbers beside them, and a grid."""

from dataclasses import dataclass
from typing import final

import numpy as np

from mtcool.learn.report.canvas import Canvas, places
from mtcool.types import Floats

GRID, INK = "#dddddd", "#222222"
SIZE = 10.0
"""Of the numbers, in points."""
MOST = 7
"""Ticks of an axis."""
PERIODS = (
    ("s", 1.0, (1, 2, 5, 10, 15, 30), slice(11, 19)),
    ("m", 60.0, (1, 2, 5, 10, 15, 30), slice(11, 16)),
    ("h", 3600.0, (1, 2, 3, 6, 12), slice(5, 16)),
    ("D", 86400.0, (1, 2, 5, 10, 14), slice(0, 10)),
    ("M", 30.4 * 86400.0, (1, 2, 3, 6), slice(0, 7)),
    ("Y", 365.2 * 86400.0, (1, 2, 5, 10, 20, 50, 100, 200, 500), slice(0, 4)),
)
"""Units of time, their seconds, how many of them may lie between ticks, and what is written."""

Ticks = dict[float, str]
"""Places on an axis and what is written there."""


@final
@dataclass(frozen=True)
class Axes:
    """A frame on a canvas, from (left, top) to (right, bottom), for x and y between limits."""

    canvas: Canvas
    left: float
    top: float
    right: float
    bottom: float
    x_limits: tuple[float, float]
    y_limits: tuple[float, float]

    def x(self, values: Floats) -> Floats:
        """Where values of x are on the canvas; what is beyond a limit is on it."""
        low, high = self.x_limits
        part = np.clip((np.asarray(values) - low) / (high - low), 0.0, 1.0)
        return self.left + part * (self.right - self.left)

    def y(self, values: Floats) -> Floats:
        """Where values of y are on the canvas."""
        low, high = self.y_limits
        part = np.clip((np.asarray(values) - low) / (high - low), 0.0, 1.0)
        return self.bottom + part * (self.top - self.bottom)

    def line(self, x: Floats, y: Floats, colour: str) -> None:
        """A curve."""
        known = np.isfinite(y)
        self.canvas.line(places(self.x(x[known]), self.y(y[known])), colour, 1.6)

    def x_axis(self, ticks: Ticks, *, written: bool = True) -> None:
        """Lines of the grid at these places, and below them what is to be written."""
        for value, words in ticks.items():
            at = self.x(np.array(value)).item()
            self.canvas.line(np.array([[at, self.top], [at, self.bottom]]), GRID)
            if written:
                half = 0.31 * SIZE * len(words)
                middle = min(max(at, half), self.canvas.width - half)
                self.canvas.text(middle, self.bottom + 14, words, size=SIZE, anchor="middle")

    def y_axis(self, ticks: Ticks) -> None:
        """Lines of the grid at these places, and beside them what is to be written."""
        for value, words in ticks.items():
            at = self.y(np.array(value)).item()
            self.canvas.line(np.array([[self.left, at], [self.right, at]]), GRID)
            self.canvas.text(self.left - 6, at + 3.5, words, size=SIZE, anchor="end")

    def frame(self) -> None:
        """The frame, and a line at zero if zero is within the limits of y."""
        low, high = self.y_limits
        if low < 0.0 < high:
            at = self.y(np.array(0.0)).item()
            self.canvas.line(np.array([[self.left, at], [self.right, at]]), INK, 0.8)
        size = self.right - self.left, self.bottom - self.top
        self.canvas.rectangle(self.left, self.top, *size, edge=INK)


def ticks_of(low: float, high: float, most: int = MOST) -> Ticks:
    """Round numbers between two numbers, at most so many.

    Examples
    --------
    >>> ticks_of(-0.13, 0.32, 6)
    {-0.1: '−0.1', 0.0: '0.0', 0.1: '0.1', 0.2: '0.2', 0.3: '0.3'}
    """
    span = max(high - low, 1e-300)
    power = int(np.floor(np.log10(span / most)))
    steps = [(factor, power + more) for more in (0, 1) for factor in (1, 2, 5)]
    for factor, exponent in steps:
        step = factor * 10.0**exponent
        first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
        if last - first < most:
            break
    found = {}
    for k in range(first, last + 1):
        value = k * factor * 10.0**exponent if exponent >= 0 else k * factor / 10.0**-exponent
        plain = -5 < exponent < 7 and abs(value) < 1e7
        words = f"{value:,.{max(-exponent, 0)}f}" if plain else f"{value:g}"
        found[float(value)] = words.replace("-", "\N{MINUS SIGN}")
    return found


def dates_of(low: float, high: float) -> Ticks:
    """Round points in time between two, which are seconds since 1970.

    Examples
    --------
    >>> list(dates_of(0.0, 5 * 365 * 86400.0).values())
    ['1970', '1971', '1972', '1973', '1974']
    """
    for unit, seconds, counts, written in PERIODS:
        for count in counts:
            if (high - low) / (seconds * count) > MOST - 1:
                continue
            ends = np.array([np.floor(low), np.ceil(high)]).astype("datetime64[s]")
            first, last = ends.astype(f"datetime64[{unit}]").astype(np.int64).tolist()
            numbers = np.arange(first, last + 1)
            moments = numbers[numbers % count == 0].astype(f"datetime64[{unit}]")
            moments = moments.astype("datetime64[s]")
            at = moments.astype(float)
            inside = (at >= low) & (at <= high)
            words = np.datetime_as_string(moments[inside]).tolist()
            return {
                value: text[written].replace("T", " ")
                for value, text in zip(at[inside].tolist(), words, strict=True)
            }
    return {}
