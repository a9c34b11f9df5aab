"""The documents keep their promises: their links lead somewhere, and nothing is left to fill in."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_local_links_lead_to_files_of_the_project(page):
    for target in LINK.findall(page.read_text()):
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            continue
        assert (page.parent / target.split("#")[0]).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_placeholder_is_left(page):
    assert not re.search(r"\b(TODO|FIXME|TBD|XXX)\b|lorem ipsum", page.read_text())


def test_files_named_in_the_documents_exist():
    """`some/file.py` in backquotes is a path from the root, from `src/mtcool`, or a file's name."""
    names = {
        path.name
        for folder in ("src", "tests", "benchmarks", "docs", "examples")
        for path in (ROOT / folder).rglob("*.*")
    }
    for page in PAGES:
        for named in re.findall(r"`([\w/-]+\.(?:py|md|toml))`", page.read_text()):
            assert Path(named).name in names | {path.name for path in ROOT.iterdir()}, (page, named)
