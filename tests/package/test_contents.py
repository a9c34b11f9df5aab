"""What is in the source distribution and in the wheel, and nothing else."""

import re

import pytest

import mtcool
from package.building import ROOT, in_sdist, in_wheel, repository

pytestmark = pytest.mark.package

INFO = f"mtcool-{mtcool.__version__}.dist-info"
ABOUT = {f"{INFO}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")} | {
    f"{INFO}/licenses/LICENSE"
}
LEFT_BEHIND = re.compile(
    r"(^|/)(results|build|dist|_site|rooms|state|certs|\.venv|\.git|\.hypothesis|\.\w+_cache|"
    r"__pycache__)/|\.(pyc|pem|key|db|whl)$"
)


def test_both_are_named_by_name_and_version(built):
    assert built.sdist.name == f"mtcool-{mtcool.__version__}.tar.gz"
    assert built.wheel.name == f"mtcool-{mtcool.__version__}-py3-none-any.whl"


def test_the_wheel_has_the_files_of_the_package_and_no_others(built):
    package = {name.removeprefix("src/") for name in repository("src/mtcool")}
    assert in_wheel(built.wheel) == package | ABOUT


def test_the_wheel_has_what_is_not_python(built):
    """Files that no import would miss: each is read by something that ships."""
    names = in_wheel(built.wheel)
    assert {
        "mtcool/py.typed",
        "mtcool/experiments/paper/figures.toml",
        "mtcool/experiments/templates/report.html.jinja",
        "mtcool/learn/templates/report.html.jinja",
        "mtcool/reports/templates/page.html.jinja",
        "mtcool/live/page/static/page.css",
        "mtcool/live/page/static/page.js",
    } <= names
    assert [name for name in names if "test_" in name or name.startswith("tests/")] == []


def test_the_source_distribution_is_the_repository(built):
    assert in_sdist(built.sdist) == repository() | {"PKG-INFO"}


def test_the_source_distribution_has_what_one_works_with(built):
    names = in_sdist(built.sdist)
    assert {
        "CHANGELOG.md",
        "CITATION.cff",
        "LICENSE",
        "Makefile",
        "README.md",
        "docs/index.md",
        "examples/ring.toml",
        "hatch_build.py",
        "pyproject.toml",
        "requirements.lock",
        "src/mtcool/py.typed",
        "tests/oracle.py",
    } <= names


def test_nothing_that_was_made_here_is_in_either(built):
    names = in_sdist(built.sdist) | in_wheel(built.wheel)
    assert [name for name in names if LEFT_BEHIND.search(name)] == []


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("results/paper/report.html", True),
        ("docs/_site/index.html", True),
        ("src/mtcool/__pycache__/files.cpython-311.pyc", True),
        (".pytest_cache/README.md", True),
        ("examples/live/certs/authority.key", True),
        ("tests/experiments/test_results.py", False),
        ("docs/reference/index.rst", False),
    ],
)
def test_what_is_made_here_is_told_from_what_is_written(name, made):
    assert bool(LEFT_BEHIND.search(name)) == made


def test_no_address_of_an_index_and_no_path_of_this_machine_is_in_the_lock_file():
    lock = (ROOT / "requirements.lock").read_text()
    assert (
        re.findall(r"^\s*(?:-i|--\w*index\w*|--find-links|-f)\b.*|\w+://\S+| /\S+", lock, re.M)
        == []
    )
