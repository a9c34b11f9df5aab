"""An aggregator is one file: its class says how it is spelled, and everything else asks it."""

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from tests.saved_files import forge, taken_apart
from typer.testing import CliRunner

import mtcool
from mtcool.algorithms.published_noise import compare_mechanisms
from mtcool.cli.privacy import app
from mtcool.config import schema
from mtcool.config.algorithms import aggregator_of
from mtcool.privacy import AGGREGATORS, PerGradient, register

PACKAGE = Path(mtcool.__file__).parent
HOME = PACKAGE / "privacy" / "aggregators"
NOISY = [name for name, kind in AGGREGATORS.items() if kind.laws != ("none",)]
RING = mtcool.graphs.ring(3)


def texts(file):
    """Every text of a file but docstrings."""
    tree = ast.parse(file.read_text())
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone
    }


def level(kind):
    delta = 1e-6 if "gaussian" in kind.laws else None
    return mtcool.Privacy(1.0, 9, delta=delta, aggregator=kind())


def test_names_and_titles_are_written_in_no_other_file():
    """Nor are spellings that there used to be."""
    written = {word for kind in AGGREGATORS.values() for word in (kind.name, kind.title)}
    written |= {kind.__name__ for kind in AGGREGATORS.values()}
    written |= {word.replace("_", "-") for word in written}
    written.remove("none")  # which is a word, and a law
    for file in sorted(PACKAGE.rglob("*.py")):
        if file.parent != HOME and file != PACKAGE / "privacy" / "__init__.py":
            assert not texts(file) & written, file


def test_every_file_of_an_aggregator_is_in_the_table():
    engines = {"__init__", "aggregator", "filters", "trees"}
    files = {file.stem for file in HOME.glob("*.py")} - engines
    assert files == {kind.__module__.rpartition(".")[2] for kind in AGGREGATORS.values()}
    assert all(name == kind.name for name, kind in AGGREGATORS.items())
    assert len({kind.title for kind in AGGREGATORS.values()}) == len(AGGREGATORS)


@pytest.mark.parametrize("name", AGGREGATORS)
def test_files_of_experiments_have_its_name(name):
    algorithm = schema.AlgorithmSpec(name="private", algorithm="dpmt_co2ol", aggregator=name)
    assert type(aggregator_of(algorithm)) is AGGREGATORS[name]


@pytest.mark.parametrize("name", AGGREGATORS)
def test_saved_networks_have_its_name_and_load_from_files_with_that_of_the_class(name, tmp_path):
    kind, path = AGGREGATORS[name], tmp_path / "net.npz"
    net = mtcool.dpmt_co2ol(RING, 1, level(kind), seed=0)
    net.save(path)
    header, arrays = taken_apart(path)
    saved = header["setup"]["privacy"]["aggregator"]
    assert (saved["name"], saved["ours"]) == (name, True)
    saved["name"] = kind.__name__  # as files of this format began
    forge(path, header, arrays)
    assert mtcool.load(path).settings == net.settings


@pytest.mark.parametrize("name", NOISY)
def test_the_command_has_its_name(name):
    words = ["calibrate", "--epsilon", "1", "--agents", "3", "--aggregator", name]
    words += ["--delta", "1e-6"] if "laplace" not in AGGREGATORS[name].laws else []
    assert "true epsilon" in CliRunner().invoke(app, words).stdout


@pytest.mark.parametrize("word", ["binary-tree", "BinaryTree", "none"])
def test_the_command_has_no_other_spelling(word):
    done = CliRunner().invoke(app, ["calibrate", "--epsilon", "1", "--aggregator", word])
    assert str(done.exception).startswith("aggregator must be one of binary_tree, smooth_tree, ")


def test_the_comparison_has_every_mechanism_with_every_law_that_it_serves():
    rows = list(compare_mechanisms(RING, 1, 1.0, 9))[1:]
    words = {"laplace": "Laplace", "gaussian": "Gauss"}
    expected = {(AGGREGATORS[n].title, words[law]) for n in NOISY for law in AGGREGATORS[n].laws}
    assert {(row.mechanism, row.law) for row in rows} == expected


def test_a_law_that_an_aggregator_does_not_serve_is_refused_whatever_its_check_says():
    """Its norms are those of its own laws."""

    @dataclass(frozen=True)
    class OnlyLaplace(PerGradient):
        name: ClassVar[str] = "only_laplace"
        laws: ClassVar[tuple[str, ...]] = ("laplace",)

    register(OnlyLaplace)
    try:
        mtcool.Privacy(1.0, 9, aggregator=OnlyLaplace())
        with pytest.raises(ValueError, match="delta and rho have no meaning for OnlyLaplace"):
            mtcool.Privacy(1.0, 9, delta=1e-6, aggregator=OnlyLaplace())
    finally:
        del AGGREGATORS["only_laplace"]
    with pytest.raises(ValueError, match="name must be new, got 'per_gradient'"):
        register(dataclass(frozen=True)(type("PerGradient", (PerGradient,), {})))
