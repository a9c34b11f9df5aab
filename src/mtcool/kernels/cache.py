"""The compile cache: one file for each kernel and its types, never in the way.

A file that is damaged or truncated is a miss, and so is a folder that cannot be written: then the
kernel is compiled, as if there were no cache. Files are pickles, which run code when they are read,
so a file or folder that somebody else can change is a miss, too, and the user hears of it.
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

from mtcool.kernels.announce import ANNOUNCER, say_once
from mtcool.kernels.compile_lock import begin_turn, end_turn
from mtcool.kernels.identity import identity, source_digest
from mtcool.kernels.linking import KernelReference, callee_of, rebuilt
from mtcool.kernels.ownership import UnsafePathError, read_safely, safe_folder

_Base: Any = _Cache
_dumps: Any = dumps
DIGEST = 32  # bytes of SHA-256 before the content


def cache_folder() -> Path:
    """Folder of the compile cache, named by the state of the package's compiled sources."""
    base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "mtcool" / source_digest()


def open_cache() -> Path | None:
    """The folder, made if it is missing, or None if it cannot be used.

    If that is because somebody else can change what is in it, the user hears of it, once.
    """
    try:
        return require_cache()
    except UnsafePathError as error:
        say_once(f"mtcool: {error}")
    except OSError:  # it cannot be made, or there is no home folder
        pass
    return None


def require_cache() -> Path:
    """The folder, made if it is missing; raises an OSError that says why it cannot be used."""
    try:
        return safe_folder(cache_folder())
    except UnsafePathError as error:
        raise _explained(error) from None
    except RuntimeError:  # of Path.expanduser
        raise FileNotFoundError(
            "the compile cache has no home folder to be in: set NUMBA_CACHE_DIR to a folder of "
            "your own"
        ) from None


def _explained(error: UnsafePathError) -> UnsafePathError:
    return UnsafePathError(
        f"the compile cache is not used, because {error}, and code in it would be run: set "
        "NUMBA_CACHE_DIR to a folder of your own, or, if nobody else has written there, chown it "
        "or chmod go-w it"
    )


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
        path = self._path(types, target_context.codegen())
        if path is None:
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
            content = read_safely(path)
            digest, payload = content[:DIGEST], content[DIGEST:]
            if hashlib.sha256(payload).digest() != digest:
                return None
            result = rebuilt(target_context, pickle.loads(payload))
        except UnsafePathError as error:
            say_once(f"mtcool: {_explained(error)}")
            return None
        except Exception:  # whatever is wrong with the file, the kernel can be compiled
            return None
        reference = KernelReference(result.library, callee_of(self._function, types))
        return result._replace(library=reference)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, if the disk lets us."""
        path = self._path(getattr(sig, "args", sig), data.codegen)
        if path is None:
            return
        temporary = path.with_name(f"{secrets.token_hex(8)}.tmp")
        with contextlib.suppress(Exception):
            try:
                payload = _dumps(data._reduce())
                temporary.touch(0o600, exist_ok=False)
                temporary.write_bytes(hashlib.sha256(payload).digest() + payload)
                os.replace(temporary, path)
            finally:
                temporary.unlink(missing_ok=True)

    def _path(self, types: tuple[Any, ...], codegen: Any) -> Path | None:
        """Where the kernel's file is; None if there is no folder, or no name for the kernel."""
        with contextlib.suppress(Exception):
            if folder := open_cache():
                known = repr((identity(self._function, types), codegen.magic_tuple()))
                name = hashlib.sha256(known.encode()).hexdigest()[:16]
                return folder / f"{self._function.__qualname__}-{name}"
        return None

    def enable(self) -> None:
        """Always on."""

    def disable(self) -> None:
        """Always on."""

    def flush(self) -> None:
        """Nothing waits to be written."""
