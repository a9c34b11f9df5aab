"""What can be checked of the prose: no riddles by question, and parameters that are explained."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import mtcool
from mtcool import algorithms, theory

SOURCE = Path(mtcool.__file__).parent
EXPLAINED = [
    *(getattr(theory, name) for name in theory.__all__ if name.islower()),
    *(getattr(mtcool, name) for name in algorithms.ALGORITHMS),
    algorithms.make_network,
]


def docstrings():
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                yield f"{path.relative_to(SOURCE)}: {getattr(node, 'name', 'module')}", node


def test_no_docstring_begins_with_a_question():
    found = [
        place
        for place, node in docstrings()
        if re.match(r"[^.:]*\?", ast.get_docstring(node) or "")
    ]
    assert found == []


def parameters_section(function):
    match = re.search(r"Parameters\n-+\n(.*?)(\n\n|\Z)", inspect.getdoc(function), re.DOTALL)
    return match.group(1) if match else ""


@pytest.mark.parametrize("function", EXPLAINED, ids=lambda function: function.__name__)
def test_every_parameter_of_algorithms_and_bounds_is_explained(function):
    lines = parameters_section(function).splitlines()
    named = {name.strip("* ") for line in lines if line[:1].strip() for name in line.split(",")}
    assert named >= set(inspect.signature(function).parameters)
