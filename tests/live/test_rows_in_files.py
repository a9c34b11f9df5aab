"""Rows of files that cannot be learned from are left out, each with its line and its reason."""

import asyncio
import io
import json
import os
import threading
from pathlib import Path

import pytest

from live.small_network import opened, small
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


@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_fields_may_have_commas_semicolons_or_tabs_between_them(tmp_path: Path, between) -> None:
    """As the tables of `mtcool learn`."""
    text = '\ufeff"agent",a,b,target\r\n0,1.5,,3\r\n'.replace(",", between)
    (tmp_path / "rows.csv").write_text(text, newline="")
    told: list[str] = []
    network = small(tmp_path, stream={"kind": "csv", "path": "rows.csv"})
    (row,) = open_stream(network, None, told.append).rows
    assert (row.target, row.number, told) == (3.0, 2, [])


STRAY = '0,"1,2,3\n' + "0,1,2,3\n" * 20_000


def test_a_quote_that_is_not_closed_costs_the_lines_it_swallows_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(f"agent,a,b,target\n{GOOD}\n{STRAY}")
    told: list[str] = []
    network = small(tmp_path, stream={"kind": "csv", "path": "rows.csv"})
    rows = list(open_stream(network, None, told.append).rows)
    (sentence,) = told
    assert sentence.startswith("lines 4 to 16388 are left out: field larger than field limit")
    assert sentence.endswith("; perhaps a quote is not closed")
    assert len(rows) == 1 + 20_004 - 16_388


def test_a_field_over_many_lines_is_told_with_all_of_them_and_not_in_full(tmp_path: Path) -> None:
    text = 'agent,a,b,target\n0,"1,2,3\n' + "0,1,2,3\n" * 100 + f'0,"1,2,3\n{GOOD}'
    (tmp_path / "rows.csv").write_text(text)
    told: list[str] = []
    network = small(tmp_path, stream={"kind": "csv", "path": "rows.csv"})
    assert len(list(open_stream(network, None, told.append).rows)) == 1
    (sentence,) = told
    assert sentence.startswith("lines 2 to 103 are left out: a must be a finite number, got '1,2,3")
    assert len(sentence) < 300


def test_a_header_that_cannot_be_read_is_refused_with_file_and_line(tmp_path: Path) -> None:
    network = small(tmp_path, stream={"kind": "csv", "path": "rows.csv"})
    (tmp_path / "rows.csv").write_text(f'agent,"a,b,target\n{STRAY[3:]}')
    with pytest.raises(ValueError, match=r"rows.csv cannot be read at line 1: field larger"):
        open_stream(network, None, print)
    (tmp_path / "rows.csv").write_text('agent,"a,b,target\n' + GOOD * 100)
    with pytest.raises(ValueError, match="must have a column 'target', got agent") as error:
        open_stream(network, None, print)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    "features", [{"a": 1.0, "bb": 2.0}, [1.0], [1.0, 2.0, 3.0]], ids=["name", "few", "many"]
)
def test_features_that_a_node_would_refuse_are_left_out_with_its_words(
    tmp_path: Path, features: list[float] | dict[str, float]
) -> None:
    lines = [{"agent": 0, "features": each, "target": 3.0} for each in (features, {"b": 2.0})]
    (tmp_path / "rows").write_text("\n".join(map(json.dumps, lines)))
    told: list[str] = []
    network = small(tmp_path, hosts=1, stream={"kind": "lines", "path": "rows"})
    (row,) = open_stream(network, None, told.append).rows
    assert row.features is not None
    assert row.features[1] == 2.0

    async def given_to_a_node() -> str:
        async with opened(network) as nodes:
            with pytest.raises(ValueError, match="features must be") as refused:
                await nodes["host0"].learn(0, features, 3.0)
            return str(refused.value)

    words, _, _ = asyncio.run(given_to_a_node()).partition(", got ")
    wrong = "'bb'" if isinstance(features, dict) else features
    assert told == [f"line 1 is left out: {words}, got {wrong}"]


def test_a_line_that_is_nested_too_deeply_is_left_out(tmp_path: Path) -> None:
    deep = "[" * 5000 + "]" * 5000
    lines = [f'{{"agent": {agent}, "features": [1, 2], "target": 3}}\n' for agent in (deep, 0)]
    (tmp_path / "rows").write_text("".join(lines))
    told: list[str] = []
    network = small(tmp_path, stream={"kind": "lines", "path": "rows"})
    (row,) = open_stream(network, None, told.append).rows
    assert told == ["line 1 is left out: it must not be nested so deeply"]
    assert row.agent == 0


CSV = f"agent,a,b,target\n{GOOD}".encode()
LINES = b'{"agent": 0, "features": [1.5, null], "target": 3}\n'
MARK = b"\xef\xbb\xbf"


def as_standard_input(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))


@pytest.mark.parametrize("path", ["rows", "-"])
@pytest.mark.parametrize(("kind", "data"), [("csv", CSV), ("lines", LINES)])
def test_a_byte_order_mark_is_not_part_of_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, data: bytes, path: str
) -> None:
    (tmp_path / "rows").write_bytes(MARK + data)
    as_standard_input(MARK + data, monkeypatch)
    told: list[str] = []
    source = open_stream(small(tmp_path, stream={"kind": kind, "path": path}), None, told.append)
    (row,) = source.rows
    assert (row.agent, row.target, told) == (0, 3.0, [])


@pytest.mark.parametrize("path", ["rows", "-"])
@pytest.mark.parametrize(
    ("kind", "data", "line"),
    [("csv", CSV + b"Z\xfcrich,1,2,3\n" + CSV[-9:], 3), ("lines", b'"Z\xfcrich"\n' + LINES * 2, 1)],
)
def test_a_row_that_is_not_in_utf_8_is_left_out_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, data: bytes, line: int, path: str
) -> None:
    (tmp_path / "rows").write_bytes(data)
    as_standard_input(data, monkeypatch)
    told: list[str] = []
    source = open_stream(small(tmp_path, stream={"kind": kind, "path": path}), None, told.append)
    assert len(list(source.rows)) == 2
    assert told == [f"line {line} is left out: it must be text in UTF-8, got the byte 0xfc"]


def test_a_header_that_is_not_in_utf_8_is_refused_with_file_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = CSV.decode().encode("utf-16")
    (tmp_path / "rows.csv").write_bytes(data)
    as_standard_input(data, monkeypatch)
    words = r" cannot be read at line 1: it must be text in UTF-8, got the byte 0xff"
    with pytest.raises(ValueError, match=f"^rows.csv{words}$"):
        open_stream(small(tmp_path, stream={"kind": "csv", "path": "rows.csv"}), None, print)
    source = open_stream(small(tmp_path, stream={"kind": "csv"}), None, print)
    with pytest.raises(ValueError, match=f"^standard input{words}$"):
        next(source.rows)


def test_a_file_that_cannot_be_read_is_refused_before_anything_starts(tmp_path: Path) -> None:
    for kind in ("csv", "lines"):
        network = small(tmp_path, stream={"kind": kind, "path": "rows"})
        with pytest.raises(FileNotFoundError, match="rows"):
            open_stream(network, None, print)
        with pytest.raises(IsADirectoryError):
            open_stream(small(tmp_path, stream={"kind": kind, "path": "."}), None, print)
    (tmp_path / "rows").write_text("agent,a,c,target\n")
    network = small(tmp_path, stream={"kind": "csv", "path": "rows"})
    with pytest.raises(ValueError, match="rows must have a column 'b', got agent, a, c, target"):
        open_stream(network, None, print)


def test_a_file_as_standard_input_is_read_from_its_beginning_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rows").write_text(f"agent,a,b,target\n{GOOD * 3}")
    network = small(tmp_path, stream={"kind": "csv"})
    with (tmp_path / "rows").open() as file:
        monkeypatch.setattr("sys.stdin", file)
        for _ in range(2):
            found = open_stream(network, None, print)
            assert not found.waits
            assert [row.number for row in found.rows] == [2, 3, 4]


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
    assert found.waits
    assert row.target == 3.0
