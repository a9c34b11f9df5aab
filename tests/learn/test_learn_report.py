"""The page opens offline, shows what there is, and survives any name."""

import csv
import re
from xml.etree import ElementTree

import pytest
from outcomes import outcome

from mtcool.learn.report import headline_table, write_report

NASTY = ["<script>alert(1)</script>", 'a "quoted", name', "Zürich", "x" * 200, r"$\frac$ $", "%"]


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
    with open(folder / "metrics.csv", newline="") as file:
        stretches = list(csv.DictReader(file))
    assert sum(int(row["rows"]) for row in stretches) == 5997
    assert 128 <= len(stretches) <= 256


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


def test_hundreds_of_agents_are_drawn_small_and_months_are_written(tmp_path):
    write_report(outcome([0.9, 1.0, 1.5, 1.0], agents=400, rows=20_000), tmp_path)
    agents = (tmp_path / "agents.svg").read_text()
    assert "of 400<" in agents
    assert len(agents) < 100_000
    assert re.search(r">202\d-\d\d<", (tmp_path / "over-time.svg").read_text())
