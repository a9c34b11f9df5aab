"""Worker processes: they end with the process that started them, and not before."""

import os
import threading
import time
from collections.abc import Callable
from typing import Any, TypeAlias

from mtcool.kernels.cache import open_cache

Parallel: TypeAlias = Any
"""joblib's `Parallel`, which has no types and is slow to import."""
Call: TypeAlias = tuple[Callable[..., object], tuple[object, ...], dict[str, object]]
"""A function with its arguments, as joblib takes it."""
SECONDS = 0.5  # between two looks at who the parent is


def parallel(workers: int, **settings: object) -> Parallel:
    """joblib's `Parallel`, on well-behaved processes unless the caller has chosen a cluster."""
    import joblib  # slow to import, and a single simulation does not need it
    from joblib._parallel_backends import LokyBackend

    open_cache()  # workers do not say what is wrong with it
    backend, _ = joblib.parallel.get_active_backend()
    if isinstance(backend, LokyBackend):
        settings |= {"initializer": _settle, "initargs": (os.getpid(),)}
    return joblib.Parallel(n_jobs=workers, **settings)


def _settle(parent: int) -> None:
    """The first thing that a worker does."""
    threading.Thread(target=_end_with, args=(parent,), name="parent", daemon=True).start()
    _keep_memory()


def _end_with(parent: int) -> None:
    """A parent that is killed tells nobody: its workers would wait for work for minutes."""
    while os.getppid() == parent:
        time.sleep(SECONDS)
    os._exit(1)


def _keep_memory() -> None:
    """Tell loky not to stop a worker that has grown by 300 MB since its first task.

    It takes that for a leak, stops the worker and warns; here it is compiled code, which stays.
    """
    from joblib.externals.loky import process_executor

    process_executor._USE_PSUTIL = False
