"""Finished cells on disk: one file each, there whole or not at all."""

import os
import secrets
from pathlib import Path

import msgspec

from mtcool.experiments.cells import Cell


class Store:
    """A folder of cells by key; a new run takes from it what an earlier one left."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> Cell | None:
        """The cell, or None if it is not there."""
        try:
            return msgspec.json.decode(self._path(key).read_bytes(), type=Cell)
        except (FileNotFoundError, msgspec.DecodeError):
            return None

    def put(self, key: str, cell: Cell) -> None:
        """Keep a cell, whose numbers are finite: they come back to the bit."""
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = self.folder / f"{secrets.token_hex(8)}.tmp"
        try:
            temporary.write_bytes(msgspec.json.encode(cell))
            os.replace(temporary, self._path(key))
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.json"
