"""Finished work on disk, such as cells: one file each, there whole or not at all."""

import contextlib
import hashlib
from pathlib import Path
from typing import TypeVar

import msgspec

from mtcool.experiments.output import write
from mtcool.experiments.running.work import Work

R = TypeVar("R")


class ResultsFolder:
    """A folder of results; a new run takes from it what an earlier one left."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, job: Work[R]) -> R | None:
        """The stored result of a job, or None if the job must be run."""
        path = self._path(job)
        with contextlib.suppress(OSError, ValueError):  # damage shows in many ways
            if not path.is_file():  # a pipe would wait for its other end
                return None
            checksum, _, content = path.read_bytes().partition(b"\n")
            if checksum == _checksum(content):
                return job.read(content)
        return None

    def put(self, job: Work[R], result: R) -> None:
        """Keep a result, whose numbers are finite: they come back to the bit."""
        content = msgspec.json.encode(result)
        write(self._path(job), _checksum(content) + b"\n" + content)

    def _path(self, job: Work[R]) -> Path:
        return self.folder / f"{job.key}.cell"


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
