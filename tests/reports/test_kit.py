"""What both reports rely on: one frame, tables that escape, figures that do not depend on where."""

import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib
import numpy as np
import pytest

from mtcool.reports.figures import legend, panels, save, styled
from mtcool.reports.page import TableCell, picture, write_page

PAGE = """{% extends "page.html.jinja" %}
{% from "parts.html.jinja" import figure, table %}
{% set contents = [("one", "One")] %}
{% block title %}{{ title }}{% endblock %}
{% block main %}<h2 id="one">One</h2>
{{ table(["name", "verdict"], rows) }}
{% if drawn %}{% call figure(drawn, title) %}A line.{% endcall %}{% endif %}
{% endblock %}
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with a template, as those of the two reports."""
    (tmp_path / "a_report" / "templates").mkdir(parents=True)
    (tmp_path / "a_report" / "__init__.py").touch()
    (tmp_path / "a_report" / "templates" / "report.html.jinja").write_text(PAGE)
    monkeypatch.syspath_prepend(tmp_path)
    return "a_report"


@styled
def draw(path: Path, name: str = "a line") -> None:
    figure, (axes,) = panels(3.0, 2.0)
    axes.plot(np.arange(3.0), np.arange(3.0), label=name)
    legend(figure)
    save(figure, path)


def test_a_page_has_its_contents_its_tables_and_its_figures_inside(package, tmp_path):
    rows = [["<a>", TableCell("gains", "good", "a & b")], ["c", "loses"]]
    drawn = picture(tmp_path / "figure", draw)
    write_page(tmp_path / "report.html", package, title="T <x>", rows=rows, drawn=drawn)
    page = (tmp_path / "report.html").read_text()
    assert "<title>T &lt;x&gt;</title>" in page
    assert '<a href="#one">One</a>' in page
    assert (
        '<td>&lt;a&gt;</td><td class="good">gains<br><span class="small">a &amp; b</span></td>'
        in page
    )
    assert '<img alt="T &lt;x&gt;" src="data:image/png;base64,' in page
    assert "<figcaption>A line.</figcaption>" in page


def test_what_is_not_drawn_leaves_no_picture_of_an_earlier_run(tmp_path):
    assert picture(tmp_path / "figure", draw, "svg").startswith("data:image/svg+xml;base64,")
    assert picture(tmp_path / "figure", lambda path: False) == ""
    assert list(tmp_path.iterdir()) == []


def test_settings_of_the_user_for_latex_change_no_figure(tmp_path):
    draw(tmp_path / "plain")
    with matplotlib.rc_context({"text.usetex": True, "svg.fonttype": "path", "svg.hashsalt": "x"}):
        draw(tmp_path / "with latex")
    plain, other = ((tmp_path / f"{name}.svg").read_bytes() for name in ("plain", "with latex"))
    assert plain == other


def test_names_in_any_script_stay_text_and_give_no_warning(tmp_path):
    with warnings.catch_warnings(action="error"):
        draw(tmp_path / "figure", "東京")
    assert ">東京<" in (tmp_path / "figure.svg").read_text()


def test_the_report_of_the_learner_imports_matplotlib_when_it_draws():
    """Its first import may look through all fonts, which a bar of progress covers."""
    show = "import sys, mtcool.learn.report; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
