"""Standard input that is a file is read as fast as its lines are answered, and no faster."""

from __future__ import annotations

import asyncio
import os
import sys

from mtcool.live.lines import LONGEST
from mtcool.live.stdio import BLOCK, standard_input

LINE = b"x" * 99 + b"\n"


def test_a_long_file_is_not_read_into_memory(tmp_path, monkeypatch):
    lines = 10 * LONGEST // len(LINE)
    path = tmp_path / "long"
    path.write_bytes(LINE * lines)

    async def run(file):
        monkeypatch.setattr(sys, "stdin", file)
        reader = await standard_input()
        assert await reader.readline() == LINE
        where = -1
        while where != (where := os.lseek(file.fileno(), 0, os.SEEK_CUR)):
            await asyncio.sleep(0.1)
        assert where <= 2 * LONGEST + 2 * BLOCK  # a reader takes twice its limit
        found = 1
        while await reader.readline():
            found += 1
        return found

    with path.open("rb") as file:
        assert asyncio.run(run(file)) == lines
