"""The public modules, and where each public name has its entry in the reference."""

import ast
import importlib
import inspect
import shutil
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType

ROOMS = (
    "mtcool.algorithms",
    "mtcool.simulation",
    "mtcool.streams",
    "mtcool.graphs",
    "mtcool.learners",
    "mtcool.privacy",
    "mtcool.field",
    "mtcool.changes",
    "mtcool.theory",
    "mtcool.audit",
    "mtcool.experiments",
    "mtcool.learn",
    "mtcool.integrations",
    "mtcool.integrations.river",
    "mtcool.integrations.sklearn",
    "mtcool.agents",
    "mtcool.live",
    "mtcool.live.http",
    "mtcool.live.page",
    "mtcool.testing",
    "mtcool",  # last: what also has a room of its own is explained there
)


def homes() -> dict[str, list[str]]:
    """For each room its public names, each as the name under which it is explained."""
    found: dict[str, list[str]] = {}
    first: dict[int, str] = {}
    for room in ROOMS:
        module = importlib.import_module(room)
        names = []
        for name in module.__all__:
            value = getattr(module, name)
            if isinstance(value, ModuleType):
                names.append(value.__name__)
            elif callable(value):  # constants may be equal, and are explained where they stand
                names.append(first.setdefault(id(value), f"{room}.{name}"))
            else:
                names.append(f"{room}.{name}")
        found[room] = names
    return found


def page(room: str, names: list[str]) -> str:
    """The page of a room: what it is for, a table of its names, and an entry for each of them.

    What is explained in another room stands in the table alone, which leads there.
    """
    module = importlib.import_module(room)
    lines = [room, "=" * len(room), "", f".. automodule:: {room}", "", ".. list-table::", ""]
    entries: list[str] = []
    for name, home in zip(module.__all__, names, strict=True):
        value = getattr(module, name)
        summary = " ".join(_words(name, value).split("\n\n")[0].split())
        lines += [f"   * - :py:obj:`{name} <{home}>`", f"     - {summary}"]
        if home == f"{room}.{name}" and not isinstance(value, ModuleType):
            entries += ["", *_entry(home, value, summary)]
    return "\n".join([*lines, *entries, ""])


def _entry(home: str, value: object, summary: str) -> list[str]:
    if isinstance(value, type):
        return [f".. autoclass:: {home}", "   :members:"]
    if inspect.isroutine(value):
        return [f".. autofunction:: {home}"]
    return [f".. py:data:: {home.rpartition('.')[2]}", "", f"   {summary}"]


def _words(name: str, value: object) -> str:
    """A docstring; that of a constant is the string below it, wherever it is defined."""
    if isinstance(value, ModuleType | type) or inspect.isroutine(value):
        return inspect.getdoc(value) or ""
    for module in [one for key, one in sys.modules.items() if key.startswith("mtcool")]:
        if getattr(module, name, None) is value and module.__file__ is not None:
            body = ast.parse(Path(module.__file__).read_text()).body
            for above, below in pairwise(body):
                if isinstance(above, ast.Assign | ast.AnnAssign) and isinstance(below, ast.Expr):
                    stored = [one for one in ast.walk(above) if isinstance(one, ast.Name)]
                    if any(one.id == name and isinstance(one.ctx, ast.Store) for one in stored):
                        return ast.literal_eval(below.value)
    raise ValueError(f"a public constant must be explained below its definition, got {name}")


def write_pages(folder: Path) -> None:
    """Write the pages of all rooms, and none besides: pages of rooms that are gone go, too."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for room, names in homes().items():
        (folder / f"{room}.rst").write_text(page(room, names))
