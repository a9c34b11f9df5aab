"""Databases that somebody has changed, and made the digests right again."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from mtcool.live.schema import DIGESTED, prepare


@contextlib.contextmanager
def forging(path: str | Path) -> Iterator[sqlite3.Connection]:
    """A connection to the database; what is changed has a digest that fits, as a forger's has."""
    base = sqlite3.connect(path)
    try:
        prepare(base)
        yield base
        for table, columns in DIGESTED.items():
            base.execute(f"update {table} set digest = digest({columns})")
        base.commit()
    finally:
        base.close()
