"""The compile cache: one file for each kernel and its types, never trusted and never in the way.

A file that is damaged, truncated or from elsewhere is a miss, and so is a folder that cannot be
written: then the kernel is compiled, as if there were no cache.
"""

import contextlib
import hashlib
import os
import pickle
import secrets
from pathlib import Path
from typing import Any

from numba.core.caching import _Cache
from numba.core.serialize import dumps

from mtcool.kernels.announce import ANNOUNCER
from mtcool.kernels.identity import identity, source_digest
from mtcool.kernels.linking import KernelReference, callee_of, rebuilt
from mtcool.kernels.turns import begin_turn, end_turn

_Base: Any = _Cache
_dumps: Any = dumps
DIGEST = 32  # bytes of SHA-256 before the content


def cache_folder() -> Path:
    """Folder of the compile cache, named by the state of the package's compiled sources."""
    base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "mtcool" / source_digest()


class KernelCache(_Base):  # type: ignore[misc]
    """The cache of one kernel, as numba's dispatchers want it."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._turns: dict[tuple[Any, ...], Path] = {}

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(cache_folder())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel compiled for these types, or None: then it is this process's turn to compile.

        numba would fill `target_context` with all that it can compile first, which takes longer
        than reading; compiling does that when it comes to it.
        """
        types = getattr(sig, "args", sig)
        try:
            path = self._path(types, target_context.codegen())
        except Exception:  # there is no home folder
            return None
        found = self._load(path, types, target_context)
        if found is None:
            self._turns[types] = path
            with ANNOUNCER.long_wait(self._function.__name__):
                begin_turn(path)
            found = self._load(path, types, target_context)  # another process may have made it
        return found

    def end_turn(self, sig: Any) -> None:
        """Let other processes look for the kernel."""
        path = self._turns.pop(getattr(sig, "args", sig), None)
        if path is not None:
            end_turn(path)

    def _load(self, path: Path, types: tuple[Any, ...], target_context: Any) -> Any:
        try:
            if not path.is_file():  # a pipe would wait for its other end
                return None
            content = path.read_bytes()
            digest, payload = content[:DIGEST], content[DIGEST:]
            if hashlib.sha256(payload).digest() != digest:
                return None
            result = rebuilt(target_context, pickle.loads(payload))
        except Exception:  # whatever is wrong with the file, the kernel can be compiled
            return None
        reference = KernelReference(result.library, callee_of(self._function, types))
        return result._replace(library=reference)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, if the disk lets us."""
        with contextlib.suppress(Exception):  # also where there is no home folder
            path = self._path(getattr(sig, "args", sig), data.codegen)
            temporary = path.with_name(f"{secrets.token_hex(8)}.tmp")
            try:
                payload = _dumps(data._reduce())
                path.parent.mkdir(parents=True, exist_ok=True)
                temporary.write_bytes(hashlib.sha256(payload).digest() + payload)
                os.replace(temporary, path)
            finally:
                temporary.unlink(missing_ok=True)

    def _path(self, types: tuple[Any, ...], codegen: Any) -> Path:
        known = repr((identity(self._function, types), codegen.magic_tuple()))
        name = hashlib.sha256(known.encode()).hexdigest()[:16]
        return cache_folder() / f"{self._function.__qualname__}-{name}"

    def enable(self) -> None:
        """Always on."""

    def disable(self) -> None:
        """Always on."""

    def flush(self) -> None:
        """Nothing waits to be written."""
