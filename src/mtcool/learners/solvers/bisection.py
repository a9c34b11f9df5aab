"""The slow and safe way to an expert's minimiser on the line, where quicker ones fail.

`solvers/line.py` says what is solved. A row is X_i = clip(y_i), y_i = (1 - s) m + s eta v_i, and

    mean of the X_i - m  =  s (eta mean(v) - m) - mean of (y_i - X_i),

in which nothing cancels, however small s is. It decreases in m, so bisection finds m for a given s.
The sum of the squared deviations of the X_i increases with s, so bisection finds s.
"""

from mtcool.kernels import inline, routine
from mtcool.types import Floats

CLOSE = 4e-16  # ends of an interval that are as good as one, relative


@routine
def bisect(value: Floats, mean: float, eta: float, variance: float) -> tuple[float, float]:
    """s and m for the v_i in `value`, whose mean is -`mean`.

    The sum of squared deviations may be at most `variance`.
    """
    low, high = 0.0, 1.0 / (value.shape[0] + 1.0)
    s = high  # the largest, at which the constraint is not active
    while True:
        m = _mean_for(value, -eta * mean, eta, s)
        if _deviation(value, eta, s, m) > variance:
            high = s
        else:
            low = s
        middle = 0.5 * (low + high)
        if high - low <= CLOSE * high or not low < middle < high:
            return s, m
        s = middle


@inline
def _mean_for(value: Floats, centre: float, eta: float, s: float) -> float:
    """The m for this s; `centre` is the mean of the eta v_i."""
    low, high = -1.0, 1.0
    while True:
        m = 0.5 * (low + high)
        if not low < m < high:
            return m
        beyond = 0.0
        for i in range(value.shape[0]):
            y = (1.0 - s) * m + s * eta * value[i]
            beyond += y - _clip(y)
        if s * (centre - m) > beyond / value.shape[0]:
            low = m
        else:
            high = m


@inline
def _deviation(value: Floats, eta: float, s: float, m: float) -> float:
    total = 0.0
    for i in range(value.shape[0]):
        total += (_clip((1.0 - s) * m + s * eta * value[i]) - m) ** 2
    return total


@inline
def _clip(y: float) -> float:
    y = 1.0 if y > 1.0 else y
    return -1.0 if y < -1.0 else y
