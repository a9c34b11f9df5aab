"""Public names of a package whose modules are imported when somebody asks for them (PEP 562).

A package writes these imports down twice: as they are, below `if TYPE_CHECKING`, for readers and
type checkers, and as a table for `attach`.
"""

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping


def attach(
    package: str, homes: Mapping[str, Iterable[str]], modules: Iterable[str] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The functions `__getattr__` and `__dir__` of a package.

    Parameters
    ----------
    package
        Its `__name__`.
    homes
        Names by the module of the package that defines them.
    modules
        Modules of the package that are imported when somebody asks for them.

    Examples
    --------
    >>> getattr_, dir_ = attach("mtcool", {"graphs.graph": ["Graph"]}, ["streams"])
    >>> getattr_("Graph").__module__, "streams" in dir_()
    ('mtcool.graphs.graph', True)
    """
    home_of = {name: home for home, names in homes.items() for name in names}
    known = {*home_of, *modules}

    def __getattr__(name: str) -> object:
        if name not in known:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(f"{package}.{home_of.get(name, name)}")
        found = getattr(module, name) if name in home_of else module
        setattr(sys.modules[package], name, found)  # next time nobody asks here
        return found

    def __dir__() -> list[str]:
        return sorted({*vars(sys.modules[package]), *known})

    return __getattr__, __dir__
