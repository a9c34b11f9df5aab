"""Tables in checked batches: every source gives the same rows, and bad ones leave no trace."""

import gzip
import io
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mtcool.learn import Columns, Encoder, read_batches
from mtcool.learn.reading import csv_files, records, tables

COLUMNS = Columns(agent="who", target="y", time="t", arrives="known")
HEADER = "who,t,known,wind,city,ok,y\n"
GOOD = [
    "a,1,1,0.5,rome,true,10",
    "b,1,2.5, 1e3 ,milan,False,-1",
    "a,2,2,,rome,true,0.25",
    "007,2,9,NA,,false,3",
    "b,3,3,-2,oslo,true,4",
]


def read(text, columns=COLUMNS, encoder=None, **options):
    content = text if isinstance(text, bytes) else text.encode()
    found = list(read_batches(io.BytesIO(content), columns, encoder or Encoder(), **options))
    return joined([batch for batch, _ in found]), [row for _, bad in found for row in bad]


def joined(batches):
    width = batches[-1].features.shape[1]
    features = [
        np.pad(b.features, ((0, 0), (0, width - b.features.shape[1])), constant_values=np.nan)
        for b in batches
    ]
    return tables.Batch(
        *(
            np.concatenate(features if name == "features" else [getattr(b, name) for b in batches])
            for name in tables.Batch._fields
        )
    )


def same(one, other, but=()):
    for name in set(tables.Batch._fields) - set(but):
        assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def test_a_table_becomes_numbers():
    encoder = Encoder()
    batch, bad = read(HEADER + "\n".join(GOOD), encoder=encoder)
    assert bad == []
    assert encoder.names == ("wind", "city=rome", "ok", "city=milan", "city=oslo")
    assert_array_equal(batch.line, [2, 3, 4, 5, 6])
    assert_array_equal(batch.agents, ["a", "b", "a", "007", "b"])
    assert_array_equal(batch.target, [10, -1, 0.25, 3, 4])
    assert_array_equal(batch.time, [1, 1, 2, 2, 3])
    assert_array_equal(batch.arrives, [1, 2.5, 2, 9, 3])
    nan = np.nan
    assert_array_equal(
        batch.features,
        [
            [0.5, 1, 1, nan, nan],
            [1000, 0, 0, 1, nan],
            [nan, 1, 1, 0, nan],
            [nan, nan, 0, nan, nan],
            [-2, 0, 1, 0, 1],
        ],
    )


FRAME = pd.read_csv(io.StringIO(HEADER + "\n".join(GOOD)), skipinitialspace=True)


def parquet(path):
    FRAME.to_parquet(path / "t.parquet", row_group_size=2)
    return path / "t.parquet"


def compressed(path):
    (path / "t.csv.gz").write_bytes(gzip.compress((HEADER + "\n".join(GOOD)).encode()))
    return str(path / "t.csv.gz")


def renamed(path):
    text = (HEADER + "\n".join(GOOD)).replace(",", ";")
    (path / "t.data").write_text(text)
    return path / "t.data"


SOURCES = {
    "parquet": parquet,
    "compressed": compressed,
    "semicolons": renamed,
    "pandas": lambda _: FRAME,
    "pandas with odd types": lambda _: FRAME.assign(
        city=FRAME.city.astype("category"), who=["a", "b", "a", 7, "b"]
    ),
    "polars": lambda _: pl.from_pandas(FRAME),
    "pyarrow": lambda _: pa.Table.from_pandas(FRAME),
    "pyarrow in chunks": lambda _: pa.concat_tables(
        [pa.Table.from_pandas(FRAME[k : k + 2]) for k in (0, 2, 4)]
    ),
}


@pytest.mark.parametrize("case", SOURCES)
def test_every_source_gives_the_same_rows(case, tmp_path):
    expected, _ = read(HEADER + "\n".join(GOOD))
    encoder = Encoder()
    found = list(read_batches(SOURCES[case](tmp_path), COLUMNS, encoder))
    batch = joined([part for part, _ in found])
    typed = case not in ("compressed", "semicolons")
    same(batch, expected, but=("line", "agents") if typed else ())
    if typed:
        assert_array_equal(batch.line, [1, 2, 3, 4, 5])
        assert [name.lstrip("0") for name in batch.agents] == ["a", "b", "a", "7", "b"]


def test_standard_input_is_a_source(monkeypatch):
    class Input:
        buffer = io.BytesIO(b"who,y\na,1\n")

    monkeypatch.setattr(sys, "stdin", Input)
    ((batch, _),) = read_batches("-", Columns(agent="who", target="y"), Encoder())
    assert batch.target == [1]


BAD = {
    "no agent": (",3,3,1,rome,true,1", "no agent in column 'who'"),
    "a blank agent": ("  ,3,3,1,rome,true,1", "no agent in column 'who'"),
    "no target": ("a,3,3,1,rome,true,", "no target in column 'y'"),
    "NA for a target": ("a,3,3,1,rome,true,NA", "no target in column 'y'"),
    "text for a target": ("a,3,3,1,rome,true,much", "'much' in column 'y' is not a number"),
    "a unit": ("a,3,3,1,rome,true,5 kW", "'5 kW' in column 'y' is not a number"),
    "NaN for a target": ("a,3,3,1,rome,true,nan", "'nan' in column 'y' is not finite"),
    "infinity": ("a,3,3,-inf,rome,true,1", "'-inf' in column 'wind' is not finite"),
    "too large a target": (
        "a,3,3,1,rome,true,-1e101",
        "'-1e101' in column 'y' is larger than 1e+100 in size",
    ),
    "too large": ("a,3,3,1e999,rome,true,1", "'1e999' in column 'wind' is not finite"),
    "text in a number": (
        "a,3,3,calm,paris,true,1",
        "'calm' in column 'wind' is not a number; name the column as a category if it is one",
    ),
    "no truth": ("a,3,3,1,paris,maybe,1", "'maybe' in column 'ok' is not true or false"),
    "no time": ("a,,3,1,rome,true,1", "no time in column 't'"),
    "no arrival": ("a,3,,1,rome,true,1", "no arrives in column 'known'"),
    "a time that is none": ("a,soon,3,1,rome,true,1", "'soon' in column 't' is not a number"),
    "back in time": ("a,-1,3,1,paris,true,1", "'-1' in column 't' goes back before "),
    "an early target": (
        "a,3,2.5,1,rome,true,1",
        "'2.5' in column 'known' is before '3' in column 't'",
    ),
    "few fields": ("a,3,3", "3 fields instead of 7"),
    "many fields": ("a,3,3,1,rome,true,1,1", "8 fields instead of 7"),
    "bytes": ("a,3,3,1,r\xf6me,true,1", "bytes that are no text in UTF-8"),
    "a NUL": ("a,3,3,1,r\0me,true,1", "bytes that are no text in UTF-8"),
}
# In Latin-1, so that one of the bad rows is no UTF-8 and all others are.
AS_BYTES = {case: (row.encode("latin-1"), reason) for case, (row, reason) in BAD.items()}
GOOD_BYTES = [row.encode() for row in GOOD]


def table_of(rows):
    return HEADER.encode() + b"".join(row + b"\n" for row in rows)


@pytest.mark.parametrize("case", AS_BYTES)
def test_a_bad_row_stops_with_its_line_column_and_value_after_the_rows_before_it(case):
    row, reason = AS_BYTES[case]
    encoder, lines = Encoder(), []
    content = table_of([*GOOD_BYTES[:4], row, *GOOD_BYTES[4:]])

    def consume():
        for batch, _ in read_batches(io.BytesIO(content), COLUMNS, encoder):
            lines.extend(batch.line)

    with pytest.raises(ValueError, match="the file, line 6: ") as caught:
        consume()
    assert reason in str(caught.value)
    assert str(caught.value).endswith('; on_bad="skip" goes on without such rows')
    assert lines == [2, 3, 4, 5]
    assert "city=oslo" not in encoder.names
    assert "city=paris" not in encoder.names


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(GOOD)), st.sampled_from(sorted(BAD))), max_size=3),
    st.integers(1, 7),
    st.sampled_from([60, 10_000]),
)
def test_bad_rows_leave_no_trace_but_their_lines(planted, rows, block):
    """Also where they are all that a small block of the file holds."""
    lines = [(k, 1, row, None) for k, row in enumerate(GOOD_BYTES)]
    for k, case in planted:
        # A time is bad after another; what a column is, the first good rows must have shown.
        first = {"back in time": 1, "text in a number": 4, "no truth": 4}.get(case, 0)
        lines.append((max(k, first), 0, *AS_BYTES[case]))
    lines.sort(key=lambda line: line[:2])
    content = table_of([row for *_, row, _ in lines])
    expected, clean, encoder = read(table_of(GOOD_BYTES))[0], Encoder(), Encoder()
    read(table_of(GOOD_BYTES), encoder=clean)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "BLOCK", block)
        patch.setattr(csv_files, "BLOCK", block)
        batch, bad = read(content, encoder=encoder, on_bad="skip", rows=rows)
    same(batch, expected, but=("line",))
    assert encoder.to_plain() == clean.to_plain()
    numbers = [(number, reason) for number, (*_, reason) in enumerate(lines, start=2)]
    assert_array_equal(batch.line, [number for number, reason in numbers if reason is None])
    found = [(row.line, row.reason) for row in bad]
    wanted = [(number, reason) for number, reason in numbers if reason is not None]
    assert [line for line, _ in found] == [line for line, _ in wanted]
    for (_, given_reason), (_, reason) in zip(found, wanted, strict=True):
        assert given_reason.startswith(reason)
