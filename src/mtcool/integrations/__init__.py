"""Models on a graph as estimators of other libraries: `river` and `sklearn`.

Each module needs the extra of its name and is imported when it is asked for.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

__all__ = ["river", "sklearn"]


if TYPE_CHECKING:
    from mtcool.integrations import river, sklearn
else:  # or checkers would take any name for a module

    def __getattr__(name: str) -> ModuleType:
        if name not in __all__:
            raise AttributeError(f"module 'mtcool.integrations' has no attribute {name!r}")
        return importlib.import_module(f"mtcool.integrations.{name}")
