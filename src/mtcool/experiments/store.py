"""Finished cells on disk: one file each, there whole or not at all."""

import contextlib
from pathlib import Path

import msgspec

from mtcool.experiments.cells import Cell, Job
from mtcool.experiments.files import write


class Store:
    """A folder of cells; a new run takes from it what an earlier one left."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, job: Job) -> Cell | None:
        """The cell of a job, or None if there is none that could be its own: it is to be run."""
        with contextlib.suppress(OSError, ValueError):  # damage shows in many ways
            cell = msgspec.json.decode(self._path(job).read_bytes(), type=Cell)
            if cell.fits(job):
                return cell
        return None

    def put(self, job: Job, cell: Cell) -> None:
        """Keep a cell, whose numbers are finite: they come back to the bit."""
        write(self._path(job), msgspec.json.encode(cell))

    def _path(self, job: Job) -> Path:
        return self.folder / f"{job.key}.json"
