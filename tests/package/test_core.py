"""The wheel in an environment with nothing but what it needs."""

import json
import re

import pytest

import mtcool
from package.building import ROOT
from package.samples import BROUGHT, TINY

pytestmark = pytest.mark.package


def test_the_package_comes_from_the_environment_and_its_parts_are_there(core, tmp_path):
    show = "import mtcool; print(mtcool.__file__, mtcool.__version__)"
    file, version = core.done("python", "-c", show, cwd=tmp_path).split()
    assert file.startswith(str(core.packages))
    assert version == mtcool.__version__


def test_nothing_of_an_extra_is_there(core, tmp_path):
    """Or the tests of sentences on missing extras would say nothing."""
    names = [name for names in BROUGHT.values() for name in names]
    show = f"from importlib.util import find_spec; print([n for n in {names} if find_spec(n)])"
    assert core.done("python", "-c", show, cwd=tmp_path) == "[]\n"


def test_every_module_that_needs_no_extra_can_be_imported(core, tmp_path):
    """The others name their extra, and nothing else goes wrong."""
    program = """
import importlib, pkgutil, mtcool
for module in pkgutil.walk_packages(mtcool.__path__, "mtcool.", onerror=lambda name: None):
    if module.name != "mtcool.__main__":
        try:
            importlib.import_module(module.name)
        except ImportError as error:
            print(module.name, "|", error)
"""
    lines = core.done("python", "-c", program, cwd=tmp_path).splitlines()
    refused = dict(line.split(" | ") for line in lines)
    assert {"mtcool.integrations.river", "mtcool.live.http", "mtcool.live.page"} <= set(refused)
    for name, sentence in refused.items():
        assert name.startswith(("mtcool.live.", "mtcool.integrations.")), sentence
        if name != "mtcool.integrations.sklearn_input":  # a part of `sklearn`, which says it
            assert 'which is not installed: pip install "mtcool[' in sentence


def test_the_command_says_its_version(core, tmp_path):
    assert core.done("mtcool", "--version", cwd=tmp_path) == f"{mtcool.__version__}\n"
    assert (
        core.done("python", "-m", "mtcool", "--version", cwd=tmp_path) == f"{mtcool.__version__}\n"
    )


def test_the_command_says_what_it_can_do(core, tmp_path):
    shown = core.done("mtcool", "--help", cwd=tmp_path)
    commands = re.findall(r"^  ([a-z]+)  ", shown.partition("Commands:")[2], re.MULTILINE)
    assert {"learn", "paper", "predict", "privacy", "run", "theory", "up", "warm"} <= set(commands)
    for command in ("learn", "up"):  # of extras that are not there
        assert core.done("mtcool", command, "--help", cwd=tmp_path).startswith("Usage: mtcool")


def test_the_first_example_of_the_readme_prints_what_it_says(core, tmp_path):
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    (tmp_path / "example.txt").write_text(example)
    shown = core.done("python", "-m", "doctest", "-v", "example.txt", cwd=tmp_path)
    assert int(re.search(r"(\d+) passed", shown)[1]) == example.count(">>> ") >= 8


def test_an_experiment_file_becomes_a_report(core, tmp_path):
    """With templates and figures, which are not Python."""
    (tmp_path / "tiny.toml").write_text(TINY)
    shown = core.done("mtcool", "run", "tiny.toml", "--json", cwd=tmp_path)
    assert json.loads(shown)["tiny"]["replicates"] == 2
    report = (tmp_path / "results" / "tiny" / "report.html").read_text()
    assert f"mtcool {mtcool.__version__}" in report
    assert [path.name for path in tmp_path.glob("results/tiny/**/*.png")]


def test_the_experiments_of_the_paper_are_there(core, tmp_path):
    show = "from mtcool.experiments.running.suite import paper_tasks; print(len(paper_tasks()))"
    in_repository = len(list((ROOT / "src/mtcool/experiments/paper").glob("*.toml")))
    assert int(core.done("python", "-c", show, cwd=tmp_path)) == in_repository > 10
