"""What cannot be a table, or has not the columns that are asked for, is refused in one sentence."""

import io
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mtcool.learn import Columns, Encoder, read_batches
from mtcool.learn.running.feed import count_rows

COLUMNS = Columns(agent="who", target="y")

REFUSED = {
    "an empty file": (b"", COLUMNS, "the file must be a table with a header, got an empty file"),
    "UTF-16": ("who,y\n".encode("utf-16"), COLUMNS, "must be a table of UTF-8 text, got b'.xff"),
    "no such column": (
        b"whom,x,y\n",
        COLUMNS,
        "agent must be a column of the file, such as 'whom', got 'who'",
    ),
    "no such feature": (
        b"who,x,y\n",
        Columns(agent="who", target="y", features=("x", "zz")),
        "features must be a column of the file, such as 'who', 'x', 'y', got 'zz'",
    ),
    "a column twice": (
        b"who,x,x,y\n",
        COLUMNS,
        "features must be one column of .*'x', which is two",
    ),
    "a category that is none": (
        b"who,x,y\n",
        Columns(agent="who", target="y", categories=("y",)),
        "categories must be among the features, got 'y'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_wrong_table_is_refused_when_it_is_opened(case):
    content, columns, words = REFUSED[case]
    with pytest.raises(ValueError, match=words):
        read_batches(io.BytesIO(content), columns, Encoder())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"agent": ""}, "columns must be names, got ''"),
        ({"agent": None, "target": 3}, "columns must be names, got 3"),
        ({"agent": "a", "target": "a"}, "columns must be different, got 'a' twice"),
        ({"agent": "a", "features": ["x", "a"]}, "columns must be different, got 'a' twice"),
        ({"agent": "a", "arrives": "b"}, "arrives must not be given without time, got 'b'"),
        ({"agent": "a", "features": "x,y"}, "features must be a list of names, got 'x,y'"),
    ],
)
def test_wrong_columns_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        Columns(**given)


def test_wrong_arguments_are_refused(tmp_path):
    file = io.BytesIO(b"who,y\n")
    for source, words in [
        (None, "source must be a path, .* got None"),
        (tmp_path, "source must be a file that can be read, got .*: Is a directory"),
        (tmp_path / "none.csv", r"source must be a file .*none\.csv': No such file"),
        (io.StringIO("who,y\n"), "source must be a file opened in binary mode"),
    ]:
        with pytest.raises(ValueError, match=words):
            read_batches(source, COLUMNS, Encoder())
    for given, words in [
        ({"columns": "who"}, "columns must be Columns, got 'who'"),
        ({"encoder": None}, "encoder must be an Encoder, got None"),
        ({"on_bad": "ask"}, "on_bad must be one of skip, stop, got 'ask'"),
        ({"rows": 0}, "rows must be a whole number of at least 1, got 0"),
    ]:
        arguments = {"columns": COLUMNS, "encoder": Encoder(), **given}
        with pytest.raises(ValueError, match=words):
            read_batches(file, **arguments)


def test_a_damaged_parquet_file_is_refused(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 and nothing")
    with pytest.raises(ValueError, match="source must be a whole Parquet file, got"):
        read_batches(tmp_path / "t.parquet", COLUMNS, Encoder())


def test_damage_inside_a_parquet_file_is_told_with_its_name(tmp_path):
    path = tmp_path / "t.parquet"
    names = [f"agent {k * k}" for k in range(500)]
    pq.write_table(pa.table({"who": names, "y": [1.5 * k for k in range(500)]}), path)
    content = bytearray(path.read_bytes())
    for byte in range(4, 400):
        content[byte] ^= 0x5A
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"a whole Parquet file, got .*t\.parquet: [^\n]*$"):
        list(read_batches(path, COLUMNS, Encoder()))


@pytest.mark.parametrize("kept", [4, 100])
def test_rows_of_a_damaged_file_are_not_counted(tmp_path, kept):
    path = tmp_path / "t.parquet"
    path.write_bytes((b"PAR1" + bytes(200))[:kept])
    assert count_rows(path) is None


def test_columns_without_a_name_are_left_out():
    encoder = Encoder()
    list(read_batches(io.BytesIO(b",who,x,y\n0,a,5,1\n"), COLUMNS, encoder))
    assert encoder.names == ("x",)


def test_without_pyarrow_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'pip install "mtcool\[learn\]"'):
        read_batches(io.BytesIO(b"who,y\n"), COLUMNS, Encoder())


def table_of_invoices(rows):
    lines = [f"a,inv-{k},{'paid' if k % 2 else 'open'},{k}" for k in range(rows)]
    return io.BytesIO("\n".join(["who,invoice,state,y", *lines, ""]).encode())


def test_texts_that_name_rows_are_refused_unless_they_are_called_a_category():
    words = "column 'invoice' must not hold another text in nearly every row, got 150 in the first"
    encoder = Encoder()
    with pytest.raises(ValueError, match=words):
        list(read_batches(table_of_invoices(150), COLUMNS, encoder))
    assert encoder.width == 0
    named = Columns(agent="who", target="y", categories=("invoice",))
    list(read_batches(table_of_invoices(150), named, encoder))
    assert encoder.width == 152


def test_few_texts_may_all_be_different():
    [(batch, _)] = read_batches(table_of_invoices(99), COLUMNS, Encoder())
    assert batch.features.shape == (99, 101)


def test_a_decimal_comma_is_named():
    file = io.BytesIO(b"who;x;y\na;1;2,5\n")
    with pytest.raises(ValueError, match=r"'2,5' in column 'y' .*decimals with a point"):
        list(read_batches(file, COLUMNS, Encoder()))


def test_batches_get_shorter_the_more_features_there_are():
    width = 400
    head = ",".join(["who", *(f"x{k}" for k in range(width)), "y"])
    row = ",".join(["a", *["1"] * width, "2"])
    content = "\n".join([head, *[row] * 500]).encode()
    sizes = [len(batch.line) for batch, _ in read_batches(io.BytesIO(content), COLUMNS, Encoder())]
    assert sum(sizes) == 500
    assert len(sizes) > 1
