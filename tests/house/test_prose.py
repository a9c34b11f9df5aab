"""What can be checked of the prose: no riddles by question, examples and parameters explained."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest
from docs.rooms import ROOMS

import mtcool
from mtcool.live import Node

SOURCE = Path(mtcool.__file__).parent
WITH_METHODS = (
    "mtcool.agents",
    "mtcool.audit",
    "mtcool.field",
    "mtcool.integrations.river",
    "mtcool.integrations.sklearn",
    "mtcool.learn",
    "mtcool.live",
    "mtcool.live.http",
    "mtcool.live.page",
)
"""Rooms whose classes explain the parameters of all their methods."""
METHODS = (
    mtcool.Graph.from_edges,
    mtcool.Graph.from_networkx,
    mtcool.Graph.index,
    mtcool.Graph.matrix,
    mtcool.Graph.neighbours,
    mtcool.Network.agent,
    mtcool.Network.from_agents,
    mtcool.Network.predict,
    mtcool.Network.save,
    mtcool.Network.update,
    mtcool.Privacy.of_agents,
    mtcool.Stream.lipschitz,
    mtcool.Trace.to_frame,
    mtcool.changes.Schedule.agents,
    mtcool.changes.Schedule.check,
    mtcool.changes.Schedule.compile,
    mtcool.changes.Schedule.graph_at,
    mtcool.experiments.Outcome.to_frame,
)


def exported_functions():
    for room in map(importlib.import_module, ROOMS):
        for name in room.__all__:
            found = getattr(room, name)
            if not isinstance(found, type) and hasattr(inspect.unwrap(found), "__code__"):
                yield pytest.param(found, id=f"{room.__name__}.{name}")


def public_methods():
    for room in map(importlib.import_module, WITH_METHODS):
        for name in room.__all__:
            found = getattr(room, name)
            if not isinstance(found, type) or found is Node:  # whose words are those of the guide
                continue
            for key, value in vars(found).items():
                method = getattr(value, "__func__", value)
                if inspect.isfunction(method) and not key.startswith("_"):
                    yield pytest.param(method, id=f"{room.__name__}.{name}.{key}")


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


def test_examples_stand_in_a_section_of_their_own():
    """numpydoc: what follows `Parameters` would else be read as the text of a parameter."""
    found = []
    for place, node in docstrings():
        before, prompt, _ = (ast.get_docstring(node) or "").partition(">>>")
        if prompt and not re.search(r"^Examples\n--------\n", before, re.MULTILINE):
            found.append(place)
    assert found == []


def parameters_section(function):
    match = re.search(r"Parameters\n-+\n(.*?)(\n\n|\Z)", inspect.getdoc(function), re.DOTALL)
    return match.group(1) if match else ""


@pytest.mark.parametrize("function", [*exported_functions()])
def test_every_public_function_has_an_example(function):
    assert ">>> " in inspect.getdoc(function)


@pytest.mark.parametrize("function", [*exported_functions(), *public_methods(), *METHODS])
def test_every_parameter_of_a_public_function_is_explained(function):
    lines = parameters_section(function).splitlines()
    named = {name.strip("* ") for line in lines if line[:1].strip() for name in line.split(",")}
    assert named | {"self", "cls"} >= set(inspect.signature(function).parameters)
