"""The documents keep their promises: their links lead somewhere, and nothing is left to fill in."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_local_links_lead_to_files_of_the_project(page):
    for target in LINK.findall(page.read_text()):
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            continue
        file = (page.parent / target.split("#")[0]).resolve()
        assert file.is_file(), target
        assert file.is_relative_to(ROOT), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_placeholder_is_left(page):
    assert not re.search(r"\b(TODO|FIXME|TBD|XXX)\b|lorem ipsum", page.read_text())


def test_the_page_of_commands_is_that_of_their_help():
    """`python docs/commands.py` writes it."""
    found = importlib.util.spec_from_file_location("page_of_commands", ROOT / "docs/commands.py")
    commands = importlib.util.module_from_spec(found)
    found.loader.exec_module(commands)
    assert commands.PAGE.read_text() == commands.text()


def test_the_readme_is_short_enough_to_be_read():
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 100
    assert [line for line in lines if len(line) > 120] == []


FOLDERS = ("src", "tests", "benchmarks", "designs", "docs", "examples", "fidelity")
NAMED = re.compile(r"`([\w./-]+\.(?:py|md|toml|csv|png))(?:::\w+)?`")


def is_a_file(named):
    """A path is one from the root or from `src/mtcool`; a name alone may be in any folder."""
    if "/" in named:
        return any((start / named).is_file() for start in (ROOT, ROOT / "src/mtcool"))
    return (ROOT / named).is_file() or any(
        path.is_file() for folder in FOLDERS for path in (ROOT / folder).rglob(named)
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_named_in_the_documents_exist(page):
    """`some/file.py` in backquotes, with its folder if one is given."""
    for named in sorted(set(NAMED.findall(page.read_text()))):
        assert is_a_file(named), named


@pytest.mark.parametrize(
    ("named", "right"),
    [
        ("learners/kt.py", True),
        ("docs/privacy.md", True),
        ("kt.py", True),
        ("pyproject.toml", True),
        ("graphs/kt.py", False),
        ("mtcool/kt.py", False),
        ("docs/kt.py", False),
        ("examples/privacy.md", False),
        ("learners/kt2.py", False),
        ("kt2.py", False),
    ],
)
def test_a_wrong_folder_is_noticed(named, right):
    assert is_a_file(named) == right
