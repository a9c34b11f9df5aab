"""Models on a graph as estimators of other libraries: `river` and `sklearn`.

Each module needs the extra of its name and is imported when it is asked for.
"""

from typing import TYPE_CHECKING

from mtcool.lazy import attach

if TYPE_CHECKING:
    from mtcool.integrations import river, sklearn
else:
    __getattr__, __dir__ = attach(__name__, {}, modules=("river", "sklearn"))

__all__ = ["river", "sklearn"]
