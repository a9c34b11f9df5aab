"""How compiled functions are put together, so that a first answer comes in seconds.

Left alone, numba optimises and emits every function on its own, and once more inside each of its
callers, level by level. Here

- a *part* is translated once and becomes machine code only inside the kernels that call it;
- a *kernel* is optimised and emitted once. Other kernels call it by its name, which the linker
  resolves, instead of containing it.

A kernel that is loaded from the cache needs the kernels that it calls: their names travel with it
(`Callee`), and they are loaded first. That is why a kernel's name must not change from process to
process: numba would number the types of records in the order in which a process meets them.
"""

import hashlib
import importlib
from typing import Any, NamedTuple

from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder, _LowerResult
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

from mtcool.kernels.identity import identity

_JITCodeLibrary: Any = JITCodeLibrary
_CompilerBase: Any = CompilerBase
_NativeLowering: Any = NativeLowering
_register_pass: Any = register_pass
_CompileResult: Any = CompileResult
_DefaultPassBuilder: Any = DefaultPassBuilder
_Record: Any = types.Record
_make_function: Any = importlib.import_module("numba._dynfunc").make_function


def _name_of_record(record: Any) -> tuple[str, tuple[str]]:
    """The part of a kernel's name that stands for a type of records: the same in all processes."""
    return "Record", (hashlib.sha256(record.name.encode()).hexdigest()[:16],)


# numba names records by their number in this process. Kernels that two processes compile at the
# same time would call each other by names that nobody has.
_Record.mangling_args = property(_name_of_record)


class Callee(NamedTuple):
    """A kernel that another one calls; calling this makes it ready."""

    module: str
    name: str
    types: tuple[Any, ...]

    def __call__(self) -> None:
        """Load it from the cache, or compile it."""
        getattr(importlib.import_module(self.module), self.name).compile(self.types)


class PartLibrary(_JITCodeLibrary):  # type: ignore[misc]
    """Code to be linked into kernels: neither optimised nor emitted by itself."""

    def finalize(self) -> None:
        """Collect the parts that this one calls."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """There is no machine code."""
        return 0


class KernelReference(PartLibrary):
    """What a caller links in place of a kernel: nothing, but a note that it is needed."""

    def __init__(self, library: Any, callee: Callee) -> None:
        super().__init__(library.codegen, library.name)
        self._reload_init.add(callee)
        self._kernel = library  # keeps the machine code alive

    def _get_module_for_linking(self) -> Any:
        self._ensure_finalized()
        return self._final_module


@_register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(_NativeLowering):  # type: ignore[misc]
    _name = "mtcool_part_lowering"

    def run_pass(self, state: Any) -> bool:
        name = state.func_id.func_qualname
        state.library = PartLibrary(state.targetctx.codegen(), name)
        state.flags.no_compile = True
        super().run_pass(state)
        code, helper, _, environment = state["cr"]
        # numba finds a function by the object that would run it; this one has nothing to run.
        token = _make_function(
            code.lookup_module(), name.split(".")[-1], "", 0, environment, (state.library,)
        )
        state.targetctx.insert_user_function(token, code, [state.library])
        state["cr"] = _LowerResult(code, helper, cfunc=token, env=environment)
        return True


@_register_pass(mutates_CFG=True, analysis_only=False)
class _KernelLowering(_NativeLowering):  # type: ignore[misc]
    _name = "mtcool_kernel_lowering"

    def run_pass(self, state: Any) -> bool:
        state.func_ir.func_id.unique_id = identity(state.func_id.func, state.args)
        super().run_pass(state)
        code, entry = state["cr"].fndesc, state["cr"].cfunc
        reference = KernelReference(state.library, callee_of(state.func_id.func, state.args))
        state.targetctx.remove_user_function(entry)
        state.targetctx.insert_user_function(entry, code, [reference])
        return True


def callee_of(function: Any, types: tuple[Any, ...]) -> Callee:
    """The note that a caller keeps of a kernel."""
    return Callee(function.__module__, function.__qualname__, tuple(types))


def rebuilt(target_context: Any, reduced: tuple[Any, ...]) -> Any:
    """A compiled kernel from what the cache kept of it; its callees are made ready first."""
    return _CompileResult._rebuild(target_context, *reduced)


def _pipeline_with(compiler: Any, lowering: Any) -> list[Any]:
    pipeline = _DefaultPassBuilder.define_nopython_pipeline(compiler.state)
    pipeline.passes = [
        (lowering if kind is NativeLowering else kind, text) for kind, text in pipeline.passes
    ]
    pipeline._finalized = False
    pipeline.finalize()
    return [pipeline]


class PartCompiler(_CompilerBase):  # type: ignore[misc]
    """Compiles parts."""

    def define_pipelines(self) -> list[Any]:
        """numba's own pipeline but for its last step."""
        return _pipeline_with(self, _PartLowering)


class KernelCompiler(_CompilerBase):  # type: ignore[misc]
    """Compiles kernels."""

    def define_pipelines(self) -> list[Any]:
        """numba's own pipeline but for its last step."""
        return _pipeline_with(self, _KernelLowering)
