"""What a column is: numbers, categories, dates and times, decided once and kept."""

import datetime
import io
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from mtcool.learn import Columns, Encoder, read_batches
from mtcool.learn.reading import parsing, records, tables

PLAIN = Columns(agent="who", target="y")
TIMED = Columns(agent="who", target="y", time="t")


def read(source, columns=PLAIN, encoder=None, on_bad="skip", **options):
    given = io.BytesIO(source.encode()) if isinstance(source, str) else source
    encoder = Encoder() if encoder is None else encoder
    return list(read_batches(given, columns, encoder, on_bad=on_bad, **options))


def bad_lines(found):
    return [row.line for _, bad in found for row in bad]


def test_text_that_appears_late_in_a_column_of_numbers_is_a_bad_row(monkeypatch):
    monkeypatch.setattr(records, "BLOCK", 100)
    encoder = Encoder()
    found = read("who,x,y\n" + "a,1,2\n" * 200 + "a,calm,2\n" * 50 + "a,3,2\n", encoder=encoder)
    assert encoder.names == ("x",)
    assert bad_lines(found) == list(range(202, 252))


def test_text_that_is_rare_at_first_does_not_turn_numbers_into_categories():
    encoder = Encoder()
    assert bad_lines(read("who,x,y\na,calm,1\na,2,1\n", encoder=encoder)) == [2]
    assert encoder.kinds == {"x": "number"}


def test_numbers_among_texts_are_texts_and_units_make_a_text():
    encoder = Encoder()
    assert bad_lines(read("who,x,y\na,7 km,1\na,B2,1\na,3,1\n", encoder=encoder)) == []
    assert encoder.names == ("x=7 km", "x=B2", "x=3")


NOTATIONS = {
    "1,234": "with commas",
    "-1,234,567.5": "with commas",
    "1.234,5": "with commas",
    "0,5": "with commas",
    "1'234": "with gaps",
    "1 234": "with gaps",
    "1\u202f234": "with gaps",
    "1’234.50": "with gaps",
    "1.234.567": "with several points",
    "$1,234.50": "with a sign of money or percent",
    "1\u202f234,50\xa0€": "with a sign of money or percent",
    "₹ 1,234": "with a sign of money or percent",
    "(1,234.50)": "in brackets",
    "12.5-": "with a minus behind them",
    "−3.5": "with a minus that is no hyphen",
    "12 %": "with a sign of money or percent",
    "0x1F": "in hexadecimal",
}


@pytest.mark.parametrize("number", NOTATIONS)
def test_numbers_in_a_notation_that_is_not_read_do_not_become_categories(number):
    """Neither where most of them are written so, nor where some are: nobody would notice."""
    how, encoder = NOTATIONS[number], Encoder()
    few = "".join(f"a,{k},1\n" for k in range(4))
    mixed = f"who,x,y\nb,,1\nc,7,\n{few}" + f'a,"{number}",1\na,Rome,1\n' * 5
    refused = (
        f"column 'x' must not hold numbers {how}, got {number!r} in line 8; write decimals with a "
        "point and nothing else, as in 1234.5, or name the column as a category"
    )
    with pytest.raises(ValueError, match=re.escape(refused)):
        read(mixed, encoder=encoder)
    assert encoder.names == ()
    columns = Columns(agent="who", target="y", categories=("x",))
    read(mixed, columns, encoder)
    assert f"x={number}" in encoder.names
    ((_, (bad,)),) = read(f'who,x,y\n{few}a,"{number}",1\n')
    assert bad.line == 6
    assert f"in column 'x' is not a number, it is written {how}; write decimals" in bad.reason


@pytest.mark.parametrize(
    "text",
    ["1,2,3", "(a)", "1-", "10.0.0.1", "1st, 250", "0xG", "12,", "v1,234", "%", "1, 234", "-"],
)
def test_names_with_digits_and_commas_are_categories(text):
    encoder = Encoder()
    read(f'who,x,y\na,"{text}",1\na,Rome,1\n', encoder=encoder)
    assert encoder.names == (f"x={text}", "x=Rome")


def test_a_column_of_numbers_can_be_named_a_category():
    encoder = Encoder()
    columns = Columns(agent="who", target="y", categories=("x",))
    read("who,x,y\na,007,1\na, 7,1\nb,007 ,1\n", columns, encoder)
    assert encoder.names == ("x=007", "x=7")
    frame = pd.DataFrame({"who": ["a"], "x": [7], "y": [1.0]})
    ((batch, _),) = read(frame, columns, encoder)
    assert_array_equal(batch.features, [[0, 1]])


def test_texts_in_a_frame_are_categories_whatever_they_look_like():
    encoder = Encoder()
    read(pl.DataFrame({"who": ["a"], "x": ["7"], "y": [1.0]}), encoder=encoder)
    assert encoder.names == ("x=7",)


def test_a_column_without_values_is_decided_by_the_first_that_come(monkeypatch):
    monkeypatch.setattr(records, "BLOCK", 30)
    encoder = Encoder()
    found = read("who,x,z,y\n" + "a,,,1\n" * 20 + "a,5,red,1\n" * 20, encoder=encoder)
    assert encoder.names == ("x", "z=red")
    assert bad_lines(found) == []


@pytest.mark.parametrize("block", [30, 1 << 20])
def test_texts_that_stand_for_no_number_do_not_say_what_a_column_is(block, monkeypatch):
    monkeypatch.setattr(records, "BLOCK", block)
    monkeypatch.setattr(parsing, "SAMPLE", 10)
    encoder = Encoder()
    rows = "a,NA,NA,1\n" * 20 + "a,5,red,1\n" * 10 + "a,NA,NA,1\n" * 10
    found = read("who,x,z,y\n" + rows, encoder=encoder)
    assert set(encoder.names) == {"x", "z=red", "z=NA"}
    assert bad_lines(found) == []


def test_a_column_of_objects_is_read_as_text_is():
    frame = pd.DataFrame({"who": ["a", "b", 3], "x": [1, 2.5, "calm"], "y": [1.0, 2.0, 3.0]})
    encoder = Encoder()
    ((batch, bad),) = read(frame, encoder=encoder)
    assert_array_equal(batch.features, [[1], [2.5]])
    assert [row.line for row in bad] == [3]


def test_categories_of_frames_are_categories_whatever_they_hold():
    for column in (pd.Categorical([2, 1]), pd.Categorical(["2", "1"], categories=["1", "2"])):
        encoder = Encoder()
        read(pd.DataFrame({"who": column, "c": column, "y": [1.0, 2.0]}), encoder=encoder)
        assert encoder.names == ("c=2", "c=1")
    encoder = Encoder()
    column = pl.Series(["x", "y"], dtype=pl.Categorical)
    read(pl.DataFrame({"who": column, "c": column, "y": [1.0, 2.0]}), encoder=encoder)
    assert encoder.names == ("c=x", "c=y")


def test_a_number_that_is_not_one_names_no_agent():
    frame = pl.DataFrame({"who": [7.0, float("nan"), None], "y": [1.0, 2.0, 3.0]})
    ((batch, bad),) = read(frame)
    assert_array_equal(batch.agents, ["7"])
    assert [row.reason for row in bad] == ["no agent in column 'who'"] * 2


@pytest.mark.parametrize("column", [pa.array([[1]]), pa.array([b"x"])])
def test_a_column_of_another_type_is_refused_and_leaves_the_encoder_as_it_was(column):
    encoder = Encoder()
    with pytest.raises(ValueError, match="column 'x' must hold a number, got"):
        read(pa.table({"who": ["a"], "w": [1], "x": column, "y": [1.0]}), encoder=encoder)
    assert encoder.to_plain() == Encoder().to_plain()


def test_truth_values_are_targets():
    ((batch, _),) = read("who,y\na,True\nb,false\n")
    assert_array_equal(batch.target, [1, 0])
    ((batch, _),) = read(pd.DataFrame({"who": [1, 2], "y": [True, False]}))
    assert_array_equal(batch.target, [1, 0])
    assert_array_equal(batch.agents, ["1", "2"])


def test_a_nan_in_a_polars_frame_is_a_bad_row_and_a_null_is_unknown():
    frame = pl.DataFrame({"who": ["a"] * 3, "x": [1.0, float("nan"), None], "y": [1.0, 2.0, 3.0]})
    ((batch, bad),) = read(frame)
    assert_array_equal(batch.features, [[1], [np.nan]])
    assert [(row.line, row.reason) for row in bad] == [(2, "nan in column 'x' is not finite")]


STAMPS = {
    "days": (["1970-01-02", "1970-01-03"], [86400, 172800]),
    "minutes": (["1970-01-01 00:01", "1970-01-01T00:02"], [60, 120]),
    "fractions": (["1970-01-01 00:00:01.5", "1970-01-01 00:00:02.123456789"], [1.5, 2.123456]),
    "zones": (["1970-01-01T01:00:00+01:00", "1970-01-01T00:00:07Z"], [0, 7]),
    "numbers": (["-1.5", "1e3"], [-1.5, 1000]),
}


@pytest.mark.parametrize("case", STAMPS)
def test_times_are_numbers_dates_and_time_stamps(case):
    texts, seconds = STAMPS[case]
    ((batch, _),) = read("who,t,y\n" + "".join(f"a,{t},1\n" for t in texts), TIMED)
    assert_array_equal(batch.time, seconds)
    assert_array_equal(batch.arrives, seconds)


DAY = datetime.datetime(1970, 1, 2)


@pytest.mark.parametrize(
    "stamp",
    [
        DAY,
        DAY.date(),
        DAY.replace(tzinfo=datetime.UTC),
        pd.Timestamp(DAY),
        86400,
        "1970-01-02",
    ],
)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_times_in_frames_are_seconds(frame, stamp):
    table = frame({"who": ["a"], "t": [stamp], "y": [1.0]})
    assert [batch.time.tolist() for batch, _ in read(table, TIMED)] == [[86400.0]]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("2020-02-30", "'2020-02-30' in column 't' is not a date, perhaps"),
        ("7", "'7' in column 't' is not a date"),
        ("2020-03-01T00:00Z", "is not a date, perhaps with a time, without a zone"),
    ],
)
def test_a_time_of_another_form_is_a_bad_row(wrong, words):
    text = f"who,t,y\na,2020-01-01,1\na,2020-01-02,1\na,{wrong},1\na,2020-04-01,1\n"
    ((batch, (bad,)),) = read(text, TIMED)
    assert (len(batch.line), bad.line) == (3, 4)
    assert words in bad.reason


def test_a_time_is_compared_with_the_last_accepted_row_across_batches(monkeypatch):
    monkeypatch.setattr(records, "BLOCK", 12)
    # Line 4 is bad for its target, so its late time does not count.
    text = "who,t,y\na,5,1\na,5,1\na,9,\na,6,1\na,5.5,1\na,6,1\n"
    found = read(text, TIMED)
    assert bad_lines(found) == [4, 6]
    reasons = [row.reason for _, bad in found for row in bad]
    assert reasons[1] == "'5.5' in column 't' goes back before '6'"
    assert bad_lines(read(text, TIMED, after=5.5)) == [2, 3, 4, 6]


def test_without_a_time_every_accepted_row_has_its_own():
    found = read("who,y\na,1\na,\na,2\na,3\n", rows=2)
    assert [batch.time.tolist() for batch, _ in found] == [[0, 1], [2]]
    assert_array_equal(found[0][0].arrives, [0, 1])


def test_typed_times_of_two_kinds_are_refused():
    frame = pd.DataFrame({"who": ["a"], "t": [DAY], "known": [3], "y": [1.0]})
    columns = Columns(agent="who", target="y", time="t", arrives="known")
    with pytest.raises(ValueError, match=r"arrives must hold a date, .*'known' of type int64"):
        read(frame, columns)


@pytest.mark.parametrize(
    "source",
    [
        "who,d,y\na,2020-01-01,1\n",
        "who,d,y\na,2020-01-01T10:00Z,1\n",
        "who,d,y\na,31/12/2020 10:00,1\n",
        pd.DataFrame({"who": ["a"], "d": [DAY], "y": [1.0]}),
    ],
)
def test_dates_as_features_are_refused_by_name_with_a_hint(source):
    with pytest.raises(
        ValueError, match=r"feature 'd' .* the date .*name it as time, or as arrives if"
    ):
        read(source)


def test_without_a_target_the_encoder_stays_as_it_is_and_reads_what_it_knows():
    encoder = Encoder()
    read("who,x,city,y\na,1,rome,2\n", encoder=encoder)
    before = encoder.to_plain()
    columns = Columns(agent="who")
    ((batch, _),) = read("who,x,city,y,new\nb,3,oslo,5,6\n", columns, encoder)
    assert_array_equal(batch.features, [[3, 0]])
    assert np.isnan(batch.target).all()
    assert encoder.to_plain() == before
    with pytest.raises(ValueError, match=r"features must be a column of the file.*got 'city'"):
        read("who,x\nb,3\n", columns, encoder)


def test_many_categories_make_short_batches(monkeypatch):
    monkeypatch.setattr(tables, "CELLS", 1000)
    text = "who,c,y\n" + "".join(f"a,c{k},1\n" for k in range(90))
    found = read(text)
    assert [batch.features.size <= 1000 for batch, _ in found] == [True] * len(found)
    assert sum(len(batch.line) for batch, _ in found) == 90


def test_the_first_batch_comes_before_the_second_block_is_read(monkeypatch):
    """Constant memory: an endless file gives batches."""

    class Endless:
        sent = 0

        def read(self, size):
            self.sent += size
            return b"a,1\n" * (size // 4) if self.sent > size else b"who,y\n"

    monkeypatch.setattr(records, "BLOCK", 400)
    file = Endless()
    batches = read_batches(file, PLAIN, Encoder())
    opened = file.sent
    assert [len(next(batches)[0].line) for _ in range(3)] == [100] * 3
    assert file.sent <= opened + 3 * 400


def test_only_the_first_values_decide_so_that_texts_are_tried_quickly(monkeypatch):
    monkeypatch.setattr(parsing, "SAMPLE", 2)
    encoder = Encoder()
    assert bad_lines(read("who,x,y\na,1,1\na,2,1\na,r,1\na,s,1\na,t,1\n", encoder=encoder)) == [
        4,
        5,
        6,
    ]
