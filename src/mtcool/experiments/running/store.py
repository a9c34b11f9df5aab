"""Finished cells on disk: one file each, there whole or not at all."""

import contextlib
import hashlib
from pathlib import Path

import msgspec

from mtcool.experiments.output import write
from mtcool.experiments.running.cells import Cell, Job


class Store:
    """A folder of cells; a new run takes from it what an earlier one left."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, job: Job) -> Cell | None:
        """The stored cell of a job, or None if the job must be run."""
        path = self._path(job)
        with contextlib.suppress(OSError, ValueError):  # damage shows in many ways
            if not path.is_file():  # a pipe would wait for its other end
                return None
            checksum, _, content = path.read_bytes().partition(b"\n")
            if checksum == _checksum(content):
                cell = msgspec.json.decode(content, type=Cell)
                return cell if cell.fits(job) else None
        return None

    def put(self, job: Job, cell: Cell) -> None:
        """Keep a cell, whose numbers are finite: they come back to the bit."""
        content = msgspec.json.encode(cell)
        write(self._path(job), _checksum(content) + b"\n" + content)

    def _path(self, job: Job) -> Path:
        return self.folder / f"{job.key}.cell"


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
