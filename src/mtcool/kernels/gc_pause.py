"""No garbage is looked for while kernels are compiled.

Compiling makes millions of objects, most of which stay: to look through them again and again would
take a seventh of its time.
"""

import gc
from typing import Any

from numba.core import event

from mtcool.kernels.linking import KernelCompiler

_Listener: Any = event.Listener
_register: Any = event.register


class Unswept(_Listener):  # type: ignore[misc]
    """Stops the collector while a kernel is compiled, unless somebody else has stopped it."""

    def __init__(self) -> None:
        self._depth = 0
        self._swept = False

    def on_start(self, event: Any) -> None:
        """A function begins to compile; those that it calls compile inside it."""
        if self._depth:
            self._depth += 1
        elif _is_ours(event.data["dispatcher"]):
            self._swept = gc.isenabled()
            self._depth = 1
            gc.disable()

    def on_end(self, event: Any) -> None:
        """A function has been compiled, or could not be."""
        if self._depth:
            self._depth -= 1
            if self._depth == 0 and self._swept:
                gc.enable()


def _is_ours(dispatcher: Any) -> bool:
    """Whether a function is compiled as a kernel of ours; others may bring any dispatcher."""
    compiler = getattr(dispatcher, "_compiler", None)
    return getattr(compiler, "pipeline_class", None) is KernelCompiler


_register("numba:compile", Unswept())
