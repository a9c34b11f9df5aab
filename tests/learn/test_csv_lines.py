"""Records of CSV files and their lines are those of Python's own reader, for blocks of any size."""

import csv
import io

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mtcool.learn.reading import csv_files, records
from mtcool.learn.reading.csv_files import CsvFile

TOKENS = ["a", "b", ",", '"', "\n", "\r\n", ',"', '",', '""', "é"]


def reference(text):
    """Rows with the line in which each begins, and the lines of rows with a wrong length."""
    reader = csv.reader(io.StringIO(text, newline=""))
    rows, wrong, end = [], [], 0
    for row in reader:
        begin, end = end + 1, reader.line_num
        if len(row) == 2:
            rows.append((begin, *(field.replace("\r\n", "\n") or None for field in row)))
        elif row:
            wrong.append(begin)
    return rows[1:], wrong


def read(text, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "BLOCK", block)
        patch.setattr(csv_files, "BLOCK", 1000)
        pieces = list(CsvFile(io.BytesIO(text.encode()), "f", "x").pieces(["x", "y"]))
    rows = [
        (int(line), row["x"], row["y"])
        for piece in pieces
        for line, row in zip(piece.lines, piece.table.to_pylist(), strict=True)
    ]
    return rows, [bad.line for piece in pieces for bad in piece.bad]


@settings(max_examples=300)
@given(st.lists(st.sampled_from(TOKENS), max_size=25).map("".join), st.sampled_from([1, 3, 8, 99]))
@example('a,"b\n\nc"\n\n\r\nd,e', 99)
@example('5" pipe,b\n"a ""x""",c\na,5"\n', 99)
@example('"q"x,b\na\n', 3)
def test_rows_and_lines_are_those_of_the_csv_module(body, block):
    text = "x,y\n" + body
    try:
        found = read(text, block)
    except ValueError as error:
        assert "a quote in it may not be closed" in str(error)  # noqa: PT017
        # One more line would be part of the field that is still open.
        *_, last = csv.reader(io.StringIO(text + "\nlast,line", newline=""))
        assert last != ["last", "line"]
    else:
        assert found == reference(text)


def test_a_quote_that_is_never_closed_is_named_by_its_line_before_all_is_read(monkeypatch):
    sent = []

    def read(size):
        sent.append(size)
        return b"a,b\n" * (size // 4) if len(sent) > 1 else b'a,b\n\na,"b\n'

    monkeypatch.setattr(records, "LONGEST", 1000)
    monkeypatch.setattr(records, "BLOCK", 400)
    blocks = records.read_blocks(read, b",", 2, "data.csv")
    assert next(blocks).lines.tolist() == [2]
    with pytest.raises(
        ValueError, match=r"data\.csv, line 4: the record that begins here does not end"
    ):
        next(blocks)
    assert sum(sent) <= 2000


@pytest.mark.parametrize("start", ["", "\ufeff", "\n\n", "\r\n"])
@pytest.mark.parametrize("header", ['"x",y', '"x", y ', 'x,y,"two\nlines"'])
def test_marks_blank_lines_and_quotes_around_the_header_are_understood(start, header):
    row = "1,2,3" if header.count(",") == 2 else "1,2"
    text = f"{start}{header}\n{row}\n"
    rows, wrong = read(text, 99)
    assert rows == [(text.count("\n"), "1", "2")]
    assert wrong == []


def test_lines_may_end_as_those_of_old_macintoshes():
    assert read("x,y\r1,2\r\r3,4\r", 99) == ([(2, "1", "2"), (4, "3", "4")], [])


def test_lines_may_end_as_those_of_old_macintoshes_where_a_field_has_a_newline():
    assert read('x,y\r1,"2\n3"\r4,5\r', 99) == ([(2, "1", "2\n3"), (4, "4", "5")], [])


@pytest.mark.parametrize("rows", ["", "1,2\n" * 100_000])
def test_a_quote_that_is_not_closed_in_the_header_is_refused_with_its_line(rows):
    with pytest.raises(ValueError, match="f, line 2: the record that begins here does not end"):
        read(f'\nx,"y\n{rows}', 99)


def test_a_header_that_comes_in_parts_is_read_to_its_end():
    class Slow(io.BytesIO):
        def read(self, size=-1):
            return super().read(min(size, 3))

    rows = list(CsvFile(Slow(b'\n\r\nx,"y\nz"\r\n1,2\r\n'), "f", "x").pieces(["x", "y\nz"]))
    assert [piece.lines.tolist() for piece in rows] == [[5]]


def test_a_header_without_a_line_break_has_no_rows():
    assert read("x,y", 99) == ([], [])
