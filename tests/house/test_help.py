"""`help` of a public name shows types as they are called, not what they are made of."""

import importlib
import inspect
import pkgutil
import pydoc
import re
from pathlib import Path

import pytest

import mtcool
from mtcool.theory.names import NAMES

MODULES = ["mtcool"] + [
    module.name
    for module in pkgutil.walk_packages(mtcool.__path__, "mtcool.")
    if not module.name.endswith("__main__")
]
PUBLIC = sorted(
    {
        (value.__module__, name, value)
        for module in map(importlib.import_module, MODULES)
        for name in getattr(module, "__all__", ())
        if callable(value := getattr(module, name)) and hasattr(value, "__module__")
    },
    key=lambda row: row[:2],
)


def test_there_are_public_names_to_look_at():
    assert {"mt_co2ol", "simulate", "Stream", "any_graph"} <= {name for _, name, _ in PUBLIC}


@pytest.mark.parametrize(("module", "name", "value"), PUBLIC, ids=[row[1] for row in PUBLIC])
def test_help_is_not_swamped_by_expanded_unions(module, name, value):
    shown = pydoc.plain(pydoc.render_doc(value))
    # scikit-learn adds methods of its own to estimators, with its own signatures.
    shown = re.sub(r"set_\w+_request\(.*", "", shown)
    for inside in ("numpy._typing", "Union["):
        assert inside not in shown, (module, name)


@pytest.mark.parametrize("value", [mtcool.mt_co2ol, mtcool.dpmt_co2ol, mtcool.simulate])
def test_the_signature_of_an_algorithm_fits_on_a_few_lines(value):
    signature = pydoc.plain(pydoc.render_doc(value)).splitlines()[2]
    assert len(signature) < 600
    assert "'ArrayLike | None'" in signature


@pytest.mark.parametrize("name", ["mt_co2ol", "dpmt_co2ol", "i_ftrl", "st_ftrl", "pairwise"])
def test_help_names_theorems_as_readers_of_the_paper_know_them(name):
    """Labels of the LaTeX source are not in the paper that one can read."""
    text = inspect.getdoc(getattr(mtcool, name))
    assert not re.search(r"\b(thm|th|eq|alg|sec|apx|cor):\w", text)


def test_every_bound_has_a_name_for_readers():
    labels = re.compile(r"Bound\.of\(\s*\"([^\"]+)\"")
    folder = Path(mtcool.theory.__file__).parent
    used = {label for file in folder.glob("*.py") for label in labels.findall(file.read_text())}
    assert len(used) > 15
    assert used == set(NAMES)
    assert mtcool.theory.independent([4]).name == "learning alone (Section 2)"
