"""The pages that people begin with do what they say: every block is run, or is a doctest."""

from pathlib import Path

import pytest

from house.pages import play

pytestmark = pytest.mark.site

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("docs/start/*.md"), *ROOT.glob("docs/explain/*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_commands_of_a_page_print_what_it_says(page, tmp_path):
    play(page, tmp_path)
