"""The site works offline, in a real browser, light and dark, wide and narrow; `make docs` runs it.

It is built first, into `docs/_site`.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.site

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "_site"
PAGES = sorted(page.relative_to(SITE).as_posix() for page in SITE.rglob("*.html"))
LOOKED_AT = [
    "index.html",
    "start/first-ten-minutes.html",
    "explain/when-sharing-pays.html",
    "gallery/index.html",
    "learning-benchmarks.html",
    "reference/commands.html",
    "reference/rooms/mtcool.streams.html",
]
"""Cards, blocks, pictures, wide tables, long lists."""


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    assert chromium, "chromium must be installed"
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser):
    """Opens pages; whatever they ask for that is not a file of the site is noted."""
    contexts = []

    def open_page(name, *, width=1300, dark=False):
        scheme = "dark" if dark else "light"
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page, asked, failed = context.new_page(), [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("requestfailed", lambda request: failed.append(request.url))
        page.goto((SITE / name).as_uri())
        return page, asked, failed

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", LOOKED_AT)
def test_nothing_is_asked_of_the_network_and_nothing_is_missing(opened, name):
    _, asked, failed = opened(name)
    assert asked
    assert [url for url in asked if not url.startswith(SITE.as_uri())] == []
    assert failed == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1300, 390], ids=["wide", "narrow"])
@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_page_is_as_wide_as_the_screen(opened, name, width, dark):
    """What is wider scrolls inside itself."""
    page, _, _ = opened(name, width=width, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_pages_are_dark(opened):
    def brightness(dark):
        page, _, _ = opened("index.html", dark=dark)
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in colour.strip("rgba()").split(",")[:3])

    assert brightness(True) < 150 < 600 < brightness(False)


def test_search_finds_a_public_name_offline(opened):
    page, asked, _ = opened("search.html")
    page.goto((SITE / "search.html").as_uri() + "?q=mt_co2ol")
    page.wait_for_selector("#search-results li a", timeout=60_000)
    links = page.eval_on_selector_all("#search-results li a", "all => all.map(a => a.href)")
    assert any("mtcool.algorithms" in link for link in links)
    assert [url for url in asked if not url.startswith(SITE.as_uri())] == []


def test_every_page_can_be_reached_from_the_first(browser):
    """By the links of the side bar, which every page has."""
    context = browser.new_context()
    page = context.new_page()
    page.goto((SITE / "index.html").as_uri())
    links = page.eval_on_selector_all(".sidebar-tree a", "all => all.map(a => a.href)")
    context.close()
    linked = {link.split("#")[0].removeprefix(SITE.as_uri() + "/") for link in links}
    own = {"genindex.html", "search.html", "py-modindex.html", "index.html"}
    assert set(PAGES) - own - linked == set()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# Page\n\n[nowhere](nowhere.md)\n", "nowhere.md"),
        ("# Page\n\n[nowhere](#nowhere)\n", "nowhere"),
        ("# Page\n\n{py:func}`mtcool.simulation.simulat`\n", "simulat"),
        ("# Page\n\n{py:class}`mtcool.graphs.Grap`\n", "Grap"),
        ("# Page\n\n{py:obj}`a graph <mtcool.graphs.Grap>`\n", "Grap"),
    ],
    ids=["a page", "a heading", "a function", "a class", "whatever it is"],
)
def test_a_link_that_leads_nowhere_fails(tmp_path, text, words):
    done = built(tmp_path, text)
    assert done.returncode != 0
    assert words in done.stderr


def test_a_public_name_without_an_entry_fails(tmp_path):
    hidden = "import rooms\npage = rooms.page\n"
    hidden += (
        "rooms.page = lambda room, names: page(room, names).replace('autofunction:: ', 'x ')\n"
    )
    done = built(tmp_path, "# Page\n", hidden)
    assert done.returncode != 0
    assert "public names must have an entry" in done.stderr


def test_a_whole_page_passes(tmp_path):
    names = "{py:func}`mtcool.simulation.simulate`, {py:class}`mtcool.graphs.Graph`"
    done = built(tmp_path, f"# Page\n\n{names}, {{py:class}}`numpy.ndarray`\n")
    assert done.returncode == 0, done.stderr


def built(folder, text, first=""):
    """A site of one page and the reference, with the settings of the real one."""
    for name in ("rooms.py", "conf.py"):
        shutil.copyfile(ROOT / "docs" / name, folder / name)
    conf = folder / "conf.py"
    conf.write_text(conf.read_text().replace("\nproject = ", f"\n{first}\nproject = ", 1))
    (folder / "_static").mkdir()
    shutil.copyfile(ROOT / "docs" / "_static" / "site.css", folder / "_static" / "site.css")
    (folder / "index.md").write_text(f"{text}\n```{{toctree}}\n:glob:\n\nreference/rooms/*\n```\n")
    (folder / "reference").mkdir()
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet"]
    command += [str(folder), str(folder / "out")]
    return subprocess.run(command, capture_output=True, text=True)
