"""Rows of files that cannot be learned from are left out, each with its line and its reason."""

import os
import threading
from pathlib import Path

import pytest

from live.small_network import small
from mtcool.live.feeding import open_stream

GOOD = "0,1.5,,3\n"
WRONG = {
    "0,inf,2,3": "a must be a finite number, got 'inf'",
    "0,1,x,3": "b must be a finite number, got 'x'",
    "0,1,2,nan": "target must be a finite number, got 'nan'",
    "0,1,2,-inf": "target must be a finite number, got '-inf'",
    "0,1,2,": "target must be a finite number, got ''",
    "0,1": "it must have 4 fields, as the first line has",
    "0,1,2,3,4": "it must have 4 fields, as the first line has",
    "9,1,2,3": "agent must be in the network, got '9'",
}


@pytest.mark.parametrize("line", WRONG)
def test_a_row_that_is_wrong_is_left_out_and_the_next_is_read(tmp_path: Path, line: str) -> None:
    (tmp_path / "rows.csv").write_text(f"agent,a,b,target\n{line}\n{GOOD}")
    told: list[str] = []
    network = small(tmp_path, stream={"kind": "csv", "path": "rows.csv"})
    (row,) = open_stream(network, None, told.append).rows
    assert told == [f"line 2 is left out: {WRONG[line]}"]
    assert row.features is not None
    assert row.features[0] == 1.5
    assert row.features[1] != row.features[1]  # an empty field is unknown
    assert row.target == 3.0


def test_a_file_that_cannot_be_read_is_refused_before_anything_starts(tmp_path: Path) -> None:
    for kind in ("csv", "lines"):
        network = small(tmp_path, stream={"kind": kind, "path": "rows"})
        with pytest.raises(FileNotFoundError, match="rows"):
            open_stream(network, None, print)
    (tmp_path / "rows").write_text("agent,a,c,target\n")
    network = small(tmp_path, stream={"kind": "csv", "path": "rows"})
    with pytest.raises(ValueError, match="rows must have a column 'b', got agent, a, c, target"):
        open_stream(network, None, print)


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "rows")
    network = small(tmp_path, stream={"kind": "csv", "path": "rows"})
    found = open_stream(network, None, print)
    writing = threading.Thread(
        target=(tmp_path / "rows").write_text, args=(f"agent,a,b,target\n{GOOD}",)
    )
    writing.start()
    (row,) = found.rows
    writing.join()
    assert row.target == 3.0
