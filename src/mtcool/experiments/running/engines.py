"""Where work such as cells is run: processes on this machine, or workers of a Dask cluster."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import joblib
from joblib.externals.loky.process_executor import TerminatedWorkerError

from mtcool import validation
from mtcool.experiments.files.named import files_beside, outside_names
from mtcool.experiments.running.cells import Job
from mtcool.experiments.running.work import Work
from mtcool.simulation.workers import parallel

R = TypeVar("R")

# Runs in which not a single cell was finished before a worker was killed.
PATIENCE = 3


class Local:
    """Processes on this machine."""

    def __init__(self, workers: int) -> None:
        self.workers = validation.count("workers", workers)

    def context(self, modules: Iterable[Path] = ()) -> AbstractContextManager[Any]:
        """The place where joblib runs; its processes find `modules` by themselves."""
        return nullcontext()

    def lost(self) -> tuple[type[Exception], ...]:
        """What joblib raises when a worker is gone."""
        return (TerminatedWorkerError,)


class Dask:
    """The workers of an existing Dask cluster; all of them must have this version of mtcool."""

    workers = -1

    def __init__(self, scheduler: str, timeout: float = 10.0) -> None:
        if find_spec("distributed") is None:  # said before any work is done
            raise ValueError(
                'engine dask needs distributed, which is not installed: pip install "mtcool[dask]"'
            )
        self.scheduler = scheduler
        self.timeout = timeout

    @contextmanager
    def context(self, modules: Iterable[Path] = ()) -> Iterator[None]:
        """The place where joblib runs; `modules` are sent to its workers."""
        from distributed import Client

        try:
            client = Client(  # type: ignore[no-untyped-call]
                self.scheduler, set_as_default=False, timeout=self.timeout
            )
        except (OSError, ValueError) as error:
            raise ValueError(
                "scheduler must be the address of a Dask scheduler, "
                f"got {self.scheduler!r}: {error}"
            ) from None
        with (
            client,
            joblib.parallel_config(backend="dask", client=client, wait_for_workers_timeout=30),
        ):
            for file in modules:
                client.upload_file(str(file), load=False)
            yield

    def lost(self) -> tuple[type[Exception], ...]:
        """What joblib raises when workers are gone: one after the other, with the same cell."""
        from distributed import KilledWorker

        return (KilledWorker,)


Engine = Local | Dask
EngineName: TypeAlias = Literal["local", "dask"]


def choose_engine(name: EngineName, workers: int, scheduler: str | None) -> Engine:
    """The engine of the given name.

    Examples
    --------
    >>> choose_engine("local", 2, None).workers
    2
    """
    validation.one_of("engine", name, ("local", "dask"))
    if (name == "dask") != (scheduler is not None):
        raise ValueError(
            f"scheduler must be given for engine dask, and only for it, got {scheduler!r}"
        )
    return Local(workers) if scheduler is None else Dask(scheduler)


def run_jobs(jobs: Sequence[Work[R]], engine: Engine) -> Iterator[tuple[Work[R], R]]:
    """Cells, or other results, in the order in which they are finished.

    A worker that is killed costs the time of its cell: what is left is started again.
    """
    left, idle = dict(enumerate(jobs)), 0
    with engine.context(modules_of(jobs)):
        while left:
            before = len(left)
            try:
                yield from _run(left, min(engine.workers, max(2, len(jobs))))
            except engine.lost() as error:
                idle = idle + 1 if len(left) == before else 0
                if idle == PATIENCE:
                    raise ChildProcessError(
                        f"workers are killed again and again, with {len(left)} cells left; is "
                        "there enough memory?"
                    ) from error


def _run(left: dict[int, Work[R]], workers: int) -> Iterator[tuple[Work[R], R]]:
    tasks = [joblib.delayed(_numbered)(k, job) for k, job in left.items()]
    # One cell at a time, so that each is on disk as soon as it is finished.
    pool = parallel(workers, return_as="generator_unordered", batch_size=1)
    for k, cell, code in pool(tasks):
        if code != left[k].code:
            raise ValueError("workers must run the same code and versions as here, got others")
        yield left.pop(k), cell


def _numbered(k: int, job: Work[R]) -> tuple[int, R, list[str]]:
    return k, job.run(), job.code


def modules_of(jobs: Iterable[Work[object]]) -> list[Path]:
    """The files next to the experiment file that hold code of the jobs.

    Parts of packages are left out: a package must be installed where the workers are.
    """
    cells = [job for job in jobs if isinstance(job, Job)]
    distinct = {tuple(outside_names(job.point)): job for job in cells if job.folder}
    found = [files_beside([job.point], Path(job.folder)) for job in distinct.values()]
    return [file for files in found for name, file in files.items() if "/" not in name]
