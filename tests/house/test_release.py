"""What names the release names the same one."""

import datetime
import re
import tomllib
from pathlib import Path

import mtcool

ROOT = Path(__file__).parents[2]


def entries(citation):
    """The plain entries of CITATION.cff, by name; those of the paper are indented."""
    return dict(re.findall(r'^([\w-]+): "?([^"\n]+)"?$', citation, re.MULTILINE))


def headings(changelog):
    """Versions and dates of the changelog, the newest first."""
    return re.findall(r"^## (\S+) \((\S+)\)$", changelog, re.MULTILINE)


def test_package_citation_and_changelog_name_the_same_release():
    cited = entries((ROOT / "CITATION.cff").read_text())
    version, date = headings((ROOT / "CHANGELOG.md").read_text())[0]
    assert mtcool.__version__ == cited["version"] == version
    assert cited["date-released"] == date
    assert datetime.date.fromisoformat(date)


def test_every_heading_of_the_changelog_names_a_version_and_a_date_but_that_of_what_is_next():
    found = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    released = found[1:] if found[0] == "Unreleased" else found
    assert len(headings("\n".join(f"## {one}" for one in released))) == len(released) > 0


def test_citation_and_package_have_the_same_name_licence_and_authors():
    citation = (ROOT / "CITATION.cff").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    cited = entries(citation)
    assert (project["name"], project["license"]) == (cited["title"], cited["license"])
    assert [one["name"] for one in project["authors"]] == re.findall(
        r"^  - name: (.+)$", citation, re.M
    )


def test_an_entry_of_the_paper_is_not_taken_for_one_of_the_package():
    assert entries('version: 1.2.3\nof:\n  version: 4\ndate: "2020-01-02"\n') == {
        "version": "1.2.3",
        "date": "2020-01-02",
    }
