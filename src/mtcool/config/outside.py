"""Code that a file brings along, as "module:name": found, imported, known by its text.

A module may stand next to the file, or be installed. What it computes is known by the
text of its file and of the files beside it that it imports.
"""

import ast
import hashlib
import importlib
import importlib.util
import sys
import sysconfig
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from mtcool.types import Given

INSTALLED = ("site-packages", "dist-packages")


def is_outside(name: str | None) -> bool:
    """Whether a name of the file stands for code that the file brings along."""
    return name is not None and ":" in name


def look_in(folder: str | Path) -> None:
    """Let modules be found in the folder of the file, after all other places."""
    place = str(Path(folder).resolve())
    if place not in sys.path:
        sys.path.append(place)
        importlib.invalidate_caches()


def look_for(key: str, name: str, folder: Path) -> None:
    """Import the module that a name asks for; refused if another one of its name was found."""
    look_in(folder)
    found, (module, _, _) = module_of(key, name), name.partition(":")
    base = folder.joinpath(*module.split("."))
    for file in (base.with_suffix(".py"), base / "__init__.py"):
        path = getattr(found, "__file__", None)
        if file.is_file() and (path is None or not file.samefile(path)):
            raise ValueError(
                f"{key} must name a module that is there once, got {name!r}, and "
                f"{module} is {file} and {path}"
            )


def find(key: str, name: str, what: str) -> Given:
    """What the name "module:name" stands for; the module is imported, which runs it."""
    module, _, attribute = name.partition(":")
    found = getattr(module_of(key, name), attribute, None)
    if found is None:
        raise ValueError(f"{key} must name {what} of the module {module}, got {name!r}")
    return found


def module_of(key: str, name: str) -> ModuleType:
    """The module of a name."""
    try:
        return importlib.import_module(name.partition(":")[0])
    except (Exception, SystemExit) as error:  # whatever a module of the user's does
        raise ValueError(
            f"{key} must name a module that can be imported, got {name!r}: "
            f"{type(error).__name__}: {error}"
        ) from None


def digest(module: ModuleType) -> str:
    """A name for the code of a module, which must be what this process has imported."""
    texts = [hashlib.sha256(file.read_bytes()).digest() for file in files_of(module)]
    found = hashlib.sha256(b"".join(texts)).hexdigest()[:16]
    spec, noted = _NOTED.setdefault(module.__name__, (module.__spec__, found))
    if spec is not module.__spec__:  # it was loaded again
        _NOTED[module.__name__] = module.__spec__, found
    elif noted != found:
        raise ValueError(
            f"module {module.__name__} must be as it was imported, got a file that has changed "
            "since: run this in a new process"
        )
    return found


_NOTED: dict[str, tuple[ModuleSpec | None, str]] = {}


def files_of(module: ModuleType) -> tuple[Path, ...]:
    """The file of a module, and those that it imports and that are not installed packages."""
    if not (module.__file__ or "").endswith(".py"):
        raise ValueError(f"module {module.__name__} must be a file of Python, got {module!r}")
    found = {Path(str(module.__file__)).resolve(): module.__name__}
    left = list(found)
    while left:
        file = left.pop()
        for name in _imported(file, found[file]):
            other = _file_of(name)
            if other is not None and other not in found:
                found[other] = name
                left.append(other)
    return tuple(found)


def _imported(file: Path, module: str) -> Iterator[str]:
    """The names of all modules that the text of a file may import, and their packages."""
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    names = [module]
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    for name in names:
        parts = name.split(".")
        yield from (".".join(parts[:k]) for k in range(1, len(parts) + 1))


def _file_of(name: str) -> Path | None:
    """The file of a module, unless it is installed, of Python itself, or of this package."""
    first, _, rest = name.partition(".")
    if first == __name__.split(".")[0] or (rest and _file_of(first) is None):
        return None
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # a class or a function, not a module
        return None
    if spec is None or not (spec.origin or "").endswith(".py"):
        return None
    file = Path(str(spec.origin)).resolve()
    own = Path(sysconfig.get_paths()["stdlib"]).resolve()
    return None if own in file.parents or set(INSTALLED) & set(file.parts) else file
