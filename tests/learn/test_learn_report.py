"""The page opens offline, shows what there is, and survives any name."""

import csv
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure
from outcomes import outcome

from mtcool.learn.report import headline_table, write_report
from mtcool.learn.report.drawn_graph import SCALE, empty
from mtcool.learn.report.figures import draw_agents, draw_over_time
from mtcool.learn.report.labels import Labels
from mtcool.learn.report.pictures import COLOURS, GAINS, LOSES
from mtcool.reports.figures import panels, write_dates

NASTY = ["<script>alert(1)</script>", 'a "quoted", name', "Zürich", "x" * 200, r"$\frac$", "%"]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    found = outcome([0.9, 1.0, 1.5, 1.0], names=NASTY, complaints=("line 7: no target",))
    path = write_report(found, folder)
    return folder, path.read_text()


def test_the_page_needs_nothing_from_elsewhere(page):
    _, text = page
    assert not re.search(r"(src|href)=\"(?!data:|#)", text)
    assert "http" not in re.sub(r"base64,[^\"]*", "", text)
    assert text.count("data:image/svg+xml;base64,") == 3


def test_names_cannot_become_code(page):
    _, text = page
    assert "<script>" not in text
    assert "&lt;script&gt;" in text


def test_figures_are_there_as_svg_that_a_parser_reads(page):
    folder, _ = page
    for name in ("agents", "graph", "over-time"):
        drawing = ElementTree.parse(folder / f"{name}.svg").getroot()
        assert drawing.tag.endswith("svg")
        words = {shape.text for shape in drawing.iter() if shape.tag.endswith("text")}
        assert len(words) > 5


def test_tables_have_a_line_for_each_agent_and_stretch(page):
    folder, _ = page
    with open(folder / "agents.csv", newline="") as file:
        agents = list(csv.DictReader(file))
    assert [row["agent"] for row in agents] == NASTY
    assert sum(int(row["rows"]) for row in agents) == 6000
    assert all(row["neighbours"] == "2" for row in agents)
    assert all(float(row["error_on_alone"]) > 0 for row in agents)
    gains = [float(row["gain_on_alone"]) for row in agents]
    assert gains == pytest.approx([1 - 0.9**2] * 6)  # as a share of the loss of alone
    with open(folder / "agents-over-time.csv", newline="") as file:
        stretches = list(csv.DictReader(file))
    assert sum(int(row["rows"]) for row in stretches) == 5990
    assert 6 * 16 <= len(stretches) <= 6 * 32
    assert all(row["time"].startswith(("2023-", "2024-")) for row in stretches)
    with open(folder / "metrics.csv", newline="") as file:
        stretches = list(csv.DictReader(file))
    assert sum(int(row["rows"]) for row in stretches) == 5997
    assert 128 <= len(stretches) <= 256
    assert stretches[0]["from"] == "2023-11-15 01:13:20.000"  # as in predictions.csv
    assert stretches[0]["to"] < stretches[1]["from"] < stretches[-1]["to"]


def test_the_same_outcome_gives_the_same_files(page, tmp_path):
    folder, _ = page
    found = outcome([0.9, 1.0, 1.5, 1.0], names=NASTY, complaints=("line 7: no target",))
    write_report(found, tmp_path)
    for path in folder.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_large_and_missing_graphs_are_not_drawn_and_old_pictures_go(tmp_path):
    (tmp_path / "graph.svg").write_text("of an earlier run")
    errors = [0.9, 1.0, 1.5]
    write_report(outcome([*errors, 1.0], agents=400, network="ring"), tmp_path)
    assert not (tmp_path / "graph.svg").exists()
    text = write_report(outcome(errors, network=None, task="classification"), tmp_path).read_text()
    assert "Nobody shared" in text
    assert not (tmp_path / "agents.svg").exists()


def test_a_handful_of_rows_makes_a_page_too(tmp_path):
    text = write_report(outcome([0.9, 1.0, 1.5, 1.0], rows=4), tmp_path).read_text()
    assert "too few rows" in text


def test_the_table_of_the_screen_has_columns_below_each_other():
    lines = headline_table(outcome([0.9, 1.0, 1.5, 1.0]))
    assert [line.split("  ")[0] for line in lines[1:]] == [
        "sharing",
        "alone",
        "one model for all",
        "graph shuffled",
    ]
    starts = {re.search(r"  \d\.\d", line).start() for line in lines[1:]}
    assert starts == {lines[0].index("NMSE") - 2}


def test_the_table_says_why_there_is_no_gain():
    for errors, options, words in (
        ([0.0, 0.0, 0.0], {}, "no error to lower"),
        ([0.9, 1.0, 1.5], {"rows": 400, "cold": 400}, "no rows to compare"),
        ([0.9, 1.0, 1.5], {"rows": 16}, "too few rows to tell"),
    ):
        assert headline_table(outcome(errors, network="complete", **options))[2].endswith(words)


def test_hundreds_of_agents_are_drawn_small_and_months_are_written(tmp_path):
    write_report(outcome([0.9, 1.0, 1.5, 1.0], agents=400, rows=20_000), tmp_path)
    agents = (tmp_path / "agents.svg").read_text()
    assert "of 400<" in agents
    assert len(agents) < 100_000
    assert re.search(r">202\d-\d\d<", (tmp_path / "over-time.svg").read_text())


def test_one_pair_of_colours_stands_for_gains_and_losses_everywhere(tmp_path):
    assert (SCALE[0], SCALE[-1]) == (LOSES, GAINS)
    assert not {GAINS, LOSES} & set(COLOURS.values())
    errors = np.ones((6, 4))
    errors[:3, 0], errors[3:, 0] = 0.8, 1.2
    page = write_report(outcome(errors), tmp_path).read_text()
    agents = (tmp_path / "agents.svg").read_text()
    for colour, tone in ((GAINS, "good"), (LOSES, "bad")):
        assert agents.count(colour) > 1
        assert f"td.{tone} {{ color: {colour};" in page
        assert f".verdict.{tone} {{ border-color: {colour};" in page
    curves = (tmp_path / "over-time.svg").read_text()
    assert GAINS not in curves
    assert LOSES not in curves


def test_of_many_agents_the_sure_ones_are_named(tmp_path):
    errors = np.ones((100, 4))
    errors[7, 0], errors[42, 0] = 0.5, 2.0
    page = write_report(outcome(errors, agents=100, rows=20_000), tmp_path).read_text()
    assert "The agents that gain or lose most for sure" in page
    listed = re.findall(r"<tr><td>(town \d+)</td>", page)
    assert listed[0] == "town 7"
    assert listed[-1] == "town 42"
    assert "Those that lose most for sure: town 42" in page


def test_rows_of_one_time_are_one_point_and_huge_first_gains_do_not_hide_the_rest(
    tmp_path, monkeypatch
):
    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: drawn.append(figure))
    found = outcome([1.0, 1.0, 1.5, 1.0], rows=4000)
    sums = found.evaluation._over_time
    sums._times[: sums._filled] = np.repeat(np.arange(50.0), 5)[: sums._filled, np.newaxis]
    sums._sums[0, :, 3] *= 1000.0  # what sharing paid on the first stretch
    assert draw_over_time(found, tmp_path / "over-time")
    (figure,) = drawn
    curves = [line for axes in figure.axes for line in axes.lines if line.get_color() != "black"]
    assert [len(line.get_xdata()) for line in curves] == [50] * 5
    assert figure.axes[1].get_ylim()[0] > -5000


def dates(first, last):
    """A figure between two moments, and the dates that it has."""
    figure, (axes,) = panels(2.0, 1.0)
    axes.plot(np.array([first, last], "datetime64[s]"), [0.0, 1.0])
    axes.margins(x=0.0)
    write_dates(axes.xaxis)
    figure.draw_without_rendering()
    low, high = axes.get_xlim()
    return figure, [one for one in axes.get_xticklabels() if low <= one.get_position()[0] <= high]


def test_words_at_the_end_of_an_axis_are_not_cut():
    figure, found = dates("2013-01-01", "2014-01-01")
    assert (found[0].get_text(), found[-1].get_text()) == ("2013-01", "2014-01")
    for text in found:
        box = text.get_window_extent()
        assert 0 <= box.x0 < box.x1 <= figure.bbox.width


def test_two_months_have_more_dates_than_two():
    _, found = dates("1970-01-01", "1970-03-03")
    assert len(found) >= 4


def test_times_that_no_calendar_has_are_drawn_as_numbers(tmp_path):
    found = outcome([0.9, 1.0, 1.5, 1.0])
    sums = found.evaluation._over_time
    sums._times[: sums._filled] += 3e11  # the year 11476
    assert draw_over_time(found, tmp_path / "over-time")
    assert re.search(r">3\.01\d*e\+11<", (tmp_path / "over-time.svg").read_text())


def test_thousands_of_agents_are_a_small_file(tmp_path):
    found = outcome([0.9, 1.0, 1.5, 1.0], agents=5000, rows=100_000)
    assert draw_agents(found, tmp_path / "agents")
    assert (tmp_path / "agents.svg").stat().st_size < 200_000


def test_names_hide_neither_dots_nor_each_other():
    dots = np.array([[100.0, 100.0], [106.0, 92.0], [100.0, 84.0]])
    labels = Labels(empty(200.0)[1], dots, radius=5.0)
    for (x, y), name in zip(dots, ("MA", "RI", "CT"), strict=True):
        assert labels.write(x, y, name)
    boxes = labels._taken
    for k, (a, b, c, d) in enumerate(boxes):
        for other, (e, f, g, h) in enumerate(boxes):
            overlap = k != other and max(k, other) >= 3 and a < g and e < c and b < h and f < d
            assert not overlap, (k, other)
    crowd = np.array([[x, y] for x in range(0, 200, 6) for y in range(0, 200, 6)], float)
    assert not Labels(empty(200.0)[1], crowd, radius=5.0).write(102.0, 102.0, "Worcester")


def dots(path):
    """Places of the agents in the drawing of a graph."""
    shapes = ElementTree.parse(path).getroot().iter()
    (agents,) = (shape for shape in shapes if shape.get("id") == "agents")
    uses = [shape for shape in agents.iter() if shape.tag.endswith("use")]
    return np.array([[float(use.get("x")), float(use.get("y"))] for use in uses])


def test_agents_on_a_map_are_in_true_proportions_and_one_far_away_is_drawn_nearer(tmp_path):
    names = [f"town {k}" for k in range(8)]
    places = {name: (k % 4 * 10.0, 60.0 + k // 4 * 5.0) for k, name in enumerate(names)}
    write_report(outcome([0.9, 1, 1.5, 1], agents=8, names=names, positions=places), tmp_path)
    x, y = np.unique(dots(tmp_path / "graph.svg"), axis=0).T
    shorter = np.cos(np.radians(62.5))
    assert np.ptp(x) / np.ptp(y) == pytest.approx(30 * shorter / 5, rel=0.01)
    many = [f"town {k}" for k in range(40)]
    places = {name: (float(k), float(k % 5)) for k, name in enumerate(many)}
    places["town 39"] = (400.0, 2.0)
    write_report(outcome([0.9, 1, 1.5, 1], agents=40, names=many, positions=places), tmp_path)
    x = np.sort(dots(tmp_path / "graph.svg")[:, 0])
    assert x[-2] - x[0] > 0.6 * (x[-1] - x[0])
