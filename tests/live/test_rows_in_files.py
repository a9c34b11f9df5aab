"""Rows of files that cannot be learned from are left out, each with its line and its reason."""

import asyncio
import gzip
import io
import json
import os
import threading
from pathlib import Path

import pytest

from live.small_network import opened, small
from mtcool.learn import Columns, Encoder, read_batches
from mtcool.live.streams import open_stream

GOOD = "0,1.5,,3\n"
WRONG = {
    "0,inf,2,3": "'inf' in column 'a' is not finite",
    "0,1,x,3": "'x' in column 'b' is not a number",
    "0,1,true,3": "'true' in column 'b' is not a number",
    '0,1,"1,250",3': "'1,250' in column 'b' is not a number, it is written with commas; write "
    "decimals with a point and nothing else, as in 1234.5",
    "0,1,2,nan": "'nan' in column 'target' is not finite",
    "0,1,2,-inf": "'-inf' in column 'target' is not finite",
    "0,1,2,true": "'true' in column 'target' is not a number",
    "0,1,2,": "no target in column 'target'",
    ",1,2,3": "no agent in column 'agent'",
    "0,1": "2 fields instead of 4",
    "0,1,2,3,4": "5 fields instead of 4",
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


def rows_of(folder: Path, name: str = "rows.csv") -> tuple[list[tuple], list[str]]:
    """The rows of a file, as texts with their offsets, and what is said of others."""
    told: list[str] = []
    network = small(folder, stream={"kind": "csv", "path": name})
    found = [
        (str(row.agent), *map(repr, row.features or ()), repr(row.target), row.offset)
        for row in open_stream(network, None, told.append).rows
    ]
    return found, told


MIXED = f"""agent,a,b,target
{GOOD}x,1,2,3
0,word,2,3
0,1,2,
0,1
"0","1.25",NA,-0
 1 ,+.5,nan,1e-3
5,9007199254740993,"""
OFFSETS = [
    ("0", "1.5", "nan", "3.0", (2, 160997163208911)),
    ("0", "1.25", "nan", "-0.0", (7, 163910348964876)),
    ("1", "0.5", "nan", "0.001", (8, 174989154920515)),
    ("5", "9007199254740992.0", "0.1", "1.0", (9, 42484701509713)),
]
"""As they were before tables were read by the reader of `mtcool learn`."""


def test_rows_are_bad_for_the_reasons_of_mtcool_learn(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(MIXED + "inf,1\n")
    _, told = rows_of(tmp_path)
    encoder = Encoder()
    encoder.decide("a", "number")
    encoder.decide("b", "number")
    source = tmp_path / "rows.csv"
    (_, bad), *_ = read_batches(source, Columns("agent", "target"), encoder, on_bad="skip")
    reasons = {f"line {row.line} is left out: {row.reason.partition(';')[0]}" for row in bad}
    ours = set(told) - {"line 3 is left out: agent must be in the network, got 'x'"}
    assert reasons - ours == {"line 8 is left out: 'nan' in column 'b' is not finite"}
    assert ours < reasons
    assert len(ours) == 4


def test_numbers_and_offsets_are_those_that_databases_have(tmp_path: Path) -> None:
    """A host keeps the offset of the last row of each agent, with a checksum of its numbers."""
    (tmp_path / "rows.csv").write_text(MIXED + "0.1,1\n")
    rows, _ = rows_of(tmp_path)
    assert rows == OFFSETS
    (tmp_path / "rows.csv").write_text(MIXED.replace("\n", "\r\n") + "0.1,1", newline="")
    assert rows_of(tmp_path)[0] == OFFSETS


def test_a_table_may_be_compressed(tmp_path: Path) -> None:
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress((MIXED + "0.1,1\n").encode()))
    assert rows_of(tmp_path, "rows.csv.gz")[0] == OFFSETS
    (tmp_path / "rows.csv").write_text("agent,a,b,target\n" + GOOD * 30_000)
    content = gzip.compress((tmp_path / "rows.csv").read_bytes())
    (tmp_path / "rows.csv.gz").write_bytes(content[:-100])
    with pytest.raises(
        ValueError, match=r"rows\.csv\.gz cannot be read to its end, only up to line"
    ):
        rows_of(tmp_path, "rows.csv.gz")


def test_what_a_row_is_does_not_depend_on_those_after_it(tmp_path: Path) -> None:
    """A file grows between two runs: its first rows must be those that were fed."""
    lines = ["0,true,1,true\n", "0,1,yes,0\n", "0,1,1,1\n", "0,0x1F,1,1\n", *[GOOD] * 2000]
    (tmp_path / "rows.csv").write_text("agent,a,b,target\n" + "".join(lines))
    rows, told = rows_of(tmp_path)
    for count in range(5):
        (tmp_path / "rows.csv").write_text("agent,a,b,target\n" + "".join(lines[:count]))
        assert rows_of(tmp_path) == (rows[: count > 2], told[: count - (count > 2)])


STRAY = '0,"1,2,3\n' + "0,1,2,3\n" * 20_000


def test_a_quote_that_is_not_closed_costs_the_lines_it_swallows_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(f"agent,a,b,target\n{GOOD}\n{STRAY}")
    told: list[str] = []
    network = small(tmp_path, stream={"kind": "csv", "path": "rows.csv"})
    rows = list(open_stream(network, None, told.append).rows)
    (sentence,) = told
    assert sentence.startswith(
        "line 4 is left out: the record that begins here does not end; a quo"
    )
    assert sentence.endswith("a quote in it may not be closed; with it goes all up to line 16388")
    assert len(rows) == 1 + 20_004 - 16_388


def test_a_quote_that_is_not_closed_costs_the_end_of_a_short_file(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(f'agent,a,b,target\n{GOOD}0,"1,2,3\n{GOOD}')
    rows, (sentence,) = rows_of(tmp_path)
    assert len(rows) == 1
    assert sentence.startswith("line 3 is left out: the record that begins here does not end")
    assert sentence.endswith("with it goes all up to line 4")


def test_a_field_over_many_lines_is_told_with_the_first_and_not_in_full(tmp_path: Path) -> None:
    text = 'agent,a,b,target\n0,"1,2,3\n' + "0,1,2,3\n" * 100 + f'0,"1,2,3\n{GOOD}'
    (tmp_path / "rows.csv").write_text(text)
    told: list[str] = []
    network = small(tmp_path, stream={"kind": "csv", "path": "rows.csv"})
    assert len(list(open_stream(network, None, told.append).rows)) == 1
    (sentence,) = told
    assert sentence.startswith(r"line 2 is left out: '1,2,3\n0,1,2,3\n")
    assert sentence.endswith("in column 'a' is not a number")
    assert len(sentence) < 300


def test_a_header_that_cannot_be_read_is_refused_with_file_and_line(tmp_path: Path) -> None:
    network = small(tmp_path, stream={"kind": "csv", "path": "rows.csv"})
    for rest in (STRAY[3:], GOOD * 100):
        (tmp_path / "rows.csv").write_text(f'\nagent,"a,b,target\n{rest}')
        words = (
            r"rows\.csv, line 2: the record that begins here does not end; a quote in it may not"
        )
        with pytest.raises(ValueError, match=words):
            open_stream(network, None, print)


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
    words = {"csv": "bytes that are no text in UTF-8"}
    reason = words.get(kind, "it must be text in UTF-8, got the byte 0xfc")
    assert told == [f"line {line} is left out: {reason}"]


def test_a_header_that_is_not_in_utf_8_is_refused_with_the_name_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = CSV.decode().encode("utf-16")
    (tmp_path / "rows.csv").write_bytes(data)
    as_standard_input(data, monkeypatch)
    words = r" must be a table of UTF-8 text, got b'\\xff.*; spreadsheets save it as CSV UTF-8"
    with pytest.raises(ValueError, match=f"rows.csv{words}$"):
        open_stream(small(tmp_path, stream={"kind": "csv", "path": "rows.csv"}), None, print)
    source = open_stream(small(tmp_path, stream={"kind": "csv"}), None, print)
    with pytest.raises(ValueError, match=f"^standard input{words}$"):
        next(source.rows)


def test_a_file_that_cannot_be_read_is_refused_before_anything_starts(tmp_path: Path) -> None:
    for path, reason in [("rows", "No such file or directory"), (".", "Is a directory")]:
        words = f"source must be a file that can be read, got .*: {reason}"
        with pytest.raises(ValueError, match=words):
            open_stream(small(tmp_path, stream={"kind": "csv", "path": path}), None, print)
    with pytest.raises(FileNotFoundError, match="rows"):
        open_stream(small(tmp_path, stream={"kind": "lines", "path": "rows"}), None, print)
    with pytest.raises(IsADirectoryError):
        open_stream(small(tmp_path, stream={"kind": "lines", "path": "."}), None, print)
    (tmp_path / "rows").write_text("agent,a,c,target\n")
    network = small(tmp_path, stream={"kind": "csv", "path": "rows"})
    words = "features must be a column of .*rows, such as 'agent', 'a', 'c', 'target', got 'b'"
    with pytest.raises(ValueError, match=words):
        open_stream(network, None, print)
    (tmp_path / "rows").write_text("agent,a,b,b,target\n")
    with pytest.raises(ValueError, match=r"features must be one column .* got 'b', which is two"):
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


def test_ctrl_c_is_left_to_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pyarrow would end the reading, and rows under way were not waited for."""
    said: list[bool] = []
    monkeypatch.setattr("pyarrow.enable_signal_handlers", said.append)
    (tmp_path / "rows.csv").write_text(MIXED + "0.1,1\n")
    assert len(rows_of(tmp_path)[0]) == 4
    assert said == [False]


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


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_row_is_there_when_its_line_is_however_the_bytes_of_a_pipe_come(
    tmp_path: Path, end: str
) -> None:
    os.mkfifo(tmp_path / "rows")
    network = small(tmp_path, stream={"kind": "csv", "path": "rows"})
    rows, seen = open_stream(network, None, print).rows, [threading.Event() for _ in range(3)]
    late: list[int] = []

    def write() -> None:
        with (tmp_path / "rows").open("wb", buffering=0) as file:
            file.write(MARK)
            for byte in f"agent,a,b,target{end}".encode():
                file.write(bytes([byte]))
            for number, event in enumerate(seen):
                # After a lone carriage return the next byte tells whether its line has ended.
                file.write(f"{number},1,".encode())
                file.write(f"2,3{end}{end}".encode())
                if not event.wait(20.0):
                    late.append(number)

    writing = threading.Thread(target=write)
    writing.start()
    for number, event in enumerate(seen):
        row = next(rows)
        event.set()
        assert (row.agent, row.number) == (number, 2 + 2 * number)
    assert list(rows) == []
    writing.join()
    assert not late
