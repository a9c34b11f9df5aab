"""What the metadata say of the package is true."""

import re
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from trove_classifiers import classifiers as known

import mtcool
from package.building import ROOT, metadata
from package.samples import EXTRAS

pytestmark = pytest.mark.package


@pytest.fixture(scope="module")
def said(built):
    return metadata(built.wheel)


def test_name_version_licence_and_python(said):
    assert said["Name"] == "mtcool"
    assert said["Version"] == mtcool.__version__
    assert said["License-Expression"] == "Apache-2.0"
    assert said.get_all("License-File") == ["LICENSE"]
    assert said["Requires-Python"] == ">=3.11"
    assert said["Author"] == "The mtcool developers"
    assert said["Summary"].startswith("Multitask online learning on networks")


def test_classifiers_are_words_that_an_index_knows(said):
    given = said.get_all("Classifier")
    assert set(given) <= set(known)
    assert {"Operating System :: POSIX :: Linux", "Typing :: Typed"} <= set(given)
    assert sum(one.startswith("Development Status ::") for one in given) == 1


def test_classifiers_name_the_python_that_these_tests_run_on_and_no_other(said):
    """Others may work; nobody has looked. `.ci/run` runs the tests on this one."""
    prefix = "Programming Language :: Python :: "
    named = {one.removeprefix(prefix) for one in said.get_all("Classifier") if prefix in one}
    assert named == {"3", f"{sys.version_info.major}.{sys.version_info.minor}"}


def needed(said, extra=None):
    """Names of what is needed without an extra, or for one beyond that."""
    asked = [Requirement(text) for text in said.get_all("Requires-Dist")]
    if extra is None:
        return {one.name for one in asked if one.marker is None}
    words = {"extra": extra}
    return {one.name for one in asked if one.marker and one.marker.evaluate(words)}


def test_there_is_an_extra_for_each_thing_that_not_everybody_needs(said):
    assert sorted(said.get_all("Provides-Extra")) == sorted([*EXTRAS, "dev"])
    assert all(needed(said, extra) for extra in EXTRAS)
    assert needed(said).isdisjoint(set().union(*(needed(said, extra) for extra in EXTRAS)))


def test_developers_get_all_extras(said):
    assert all(needed(said, extra) <= needed(said, "dev") for extra in EXTRAS)


def test_everything_that_is_needed_is_in_the_lock_file(said):
    lock = (ROOT / "requirements.lock").read_text()
    locked = set(re.findall(r"^([\w.-]+)==", lock, re.MULTILINE))
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    builders = {Requirement(one).name for one in wanted}
    assert needed(said) | needed(said, "dev") | builders <= locked


def test_addresses_are_those_that_the_readme_gives(said):
    readme = (ROOT / "README.md").read_text()
    given = [one.partition(", ")[2] for one in said.get_all("Project-URL")]
    assert given
    assert [address for address in given if address not in readme] == []


def test_the_page_on_an_index_has_nothing_that_leads_nowhere_from_there(said):
    page = said.get_payload()
    assert said["Description-Content-Type"] == "text/markdown"
    links = re.findall(r"\]\(([^)]*)\)", page)
    assert links
    assert [link for link in links if not link.startswith("https://")] == []


def test_the_page_on_an_index_says_what_the_readme_says(said):
    """All of its lines but pictures and links, and the names of all files that are linked to."""
    readme, page = (ROOT / "README.md").read_text(), said.get_payload()
    plain = [line for line in readme.splitlines() if "](" not in line and not line.startswith("|")]
    assert [line for line in plain if line not in page] == []
    linked = set(re.findall(r"(?<!!)\[[^\]]*\]\((?!https:)([^)#]+)", readme))
    assert len(linked) > 10
    assert [name for name in linked if f"`{name}`" not in page] == []
