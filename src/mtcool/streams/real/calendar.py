"""Features of a date."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mtcool.types import Floats

Days: TypeAlias = NDArray[np.datetime64]

SEASON = ("season_sin", "season_cos")
"""Names of the columns of `season`."""
WEEKDAYS = ("tue", "wed", "thu", "fri", "sat", "sun")
"""Names of the columns of `weekdays`."""


def season(days: Days) -> Floats:
    """Sine and cosine of the day of the year, two columns.

    Examples
    --------
    >>> season(np.array(["2000-01-01"], "datetime64[D]")).round(3)
    array([[0.017, 1.   ]])
    """
    of_the_year = (days - days.astype("datetime64[Y]")).astype(np.int64) + 1
    angle = 2.0 * np.pi * of_the_year / 365.25
    return np.column_stack([np.sin(angle), np.cos(angle)])


def weekdays(days: Days) -> Floats:
    """Six columns that are one on Tuesday, ..., Sunday; on Monday all are zero.

    Examples
    --------
    >>> weekdays(np.array(["2024-01-01", "2024-01-02"], "datetime64[D]"))[:, 0]
    array([0., 1.])
    """
    # Day 0 of NumPy's dates, the first of January 1970, was a Thursday.
    since_monday = (days.astype("datetime64[D]").astype(np.int64) + 3) % 7
    return np.eye(7)[since_monday][:, 1:]
