"""Features as numbers: the same in batches of any size, from any kind of column."""

import datetime
import itertools
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mtcool.learn import Encoder

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["rome", "milan", "turin", "oslo", None]),
        st.sampled_from([0.5, 2.0, None]),
        st.sampled_from(["x", "y", None]),
        st.booleans(),
    ),
    min_size=1,
    max_size=12,
)
NAMES = ("city", "age", "shop", "ill")


def columns_of(rows):
    return dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True))


def padded(parts):
    width = max(part.shape[1] for part in parts)
    return np.vstack(
        [np.pad(p, ((0, 0), (0, width - p.shape[1])), constant_values=np.nan) for p in parts]
    )


@given(ROWS, st.lists(st.integers(0, 12), max_size=4), st.integers(1, 3))
def test_rows_are_encoded_the_same_in_batches_of_any_size(rows, cuts, limit):
    whole, parts, single = (Encoder(limit) for _ in range(3))
    at_once = whole.encode(columns_of(rows))
    edges = sorted({0, len(rows), *(cut for cut in cuts if cut < len(rows))})
    batches = [rows[a:b] for a, b in itertools.pairwise(edges)]
    in_parts = padded([parts.encode(columns_of(batch)) for batch in batches])
    one_by_one = [single.encode_one(dict(zip(NAMES, row, strict=True)))[None] for row in rows]

    assert whole.names == parts.names == single.names
    assert whole.crowded == parts.crowded == single.crowded
    assert_array_equal(in_parts, at_once)
    assert_array_equal(padded(one_by_one), at_once)


def test_a_feature_that_is_missing_at_first_keeps_its_place():
    rows = [{"a": None, "b": 1.0, "c": None}, {"a": 2.0, "b": 3.0, "c": "x"}, {"a": 4.0, "c": "y"}]
    single = Encoder()
    assert_array_equal(single.encode_one(rows[0]), [np.nan, 1.0, np.nan])
    single = Encoder.from_plain(json.loads(json.dumps(single.to_plain())))
    assert dict(single.kinds) == {"b": "number"}
    assert_array_equal(single.encode_one(rows[1]), [2.0, 3.0, 1.0])
    assert_array_equal(single.encode_one(rows[2]), [4.0, np.nan, 0.0, 1.0])
    whole = Encoder()
    whole.encode({name: [row.get(name) for row in rows] for name in "abc"})
    assert single.names == whole.names == ("a", "b", "c=x", "c=y")


@pytest.mark.parametrize("column", [[None], pa.nulls(1), pa.array([None], pa.string())])
def test_columns_without_any_value_keep_a_place_for_a_number_or_a_category(column):
    for value, name in ((2.0, "a"), ("x", "a=x")):
        encoder = Encoder()
        encoder.encode({"a": column, "b": [1.0]})
        assert_array_equal(encoder.encode_one({"a": value}), [value if name == "a" else 1, np.nan])
        assert encoder.names == (name, "b")


def test_names_come_in_the_order_of_rows_then_of_columns():
    encoder = Encoder()
    encoder.encode({"a": ["x", "y", "z"], "n": [1, 2, 3], "b": ["u", "u", "v"]})
    assert encoder.names == ("a=x", "n", "b=u", "a=y", "a=z", "b=v")


COLUMNS = {
    "lists": {"n": [1.5, None], "ok": [True, False], "city": ["rome", None]},
    "numpy": {
        "n": np.array([1.5, np.nan]),
        "ok": np.array([True, False]),
        "city": np.array(["rome", None], dtype=object),
    },
    "pandas": pd.DataFrame({"n": [1.5, None], "ok": [True, False], "city": ["rome", None]}),
    "nullable": pd.DataFrame(
        {"n": [1.5, None], "ok": [True, False], "city": ["rome", None]}
    ).convert_dtypes(),
    "categorical": pd.DataFrame(
        {
            "n": [1.5, None],
            "ok": [True, False],
            "city": pd.Categorical(["rome", None], categories=["oslo", "rome"]),
        }
    ),
    "polars": pl.DataFrame({"n": [1.5, None], "ok": [True, False], "city": ["rome", None]}),
    "pyarrow": pa.table({"n": [1.5, None], "ok": [True, False], "city": ["rome", None]}),
    "dictionary": {
        "n": pa.array([1.5, None]),
        "ok": pa.array([True, False]),
        "city": pa.DictionaryArray.from_arrays([1, None], ["oslo", "rome"]),
    },
}


@pytest.mark.parametrize("case", COLUMNS)
def test_every_kind_of_column_gives_the_same_numbers(case):
    table = COLUMNS[case]
    columns = {name: table[name] for name in ("n", "ok", "city")}
    encoder = Encoder()
    expected = [[1.5, 1.0, 1.0], [np.nan, 0.0, np.nan]]
    assert_array_equal(encoder.encode(columns), expected)
    assert encoder.names == ("n", "ok", "city=rome")


def test_no_rows_decide_nothing():
    encoder = Encoder()
    assert encoder.encode({"n": np.empty(0), "c": pa.array([], pa.string())}).shape == (0, 0)
    assert encoder.to_plain() == Encoder().to_plain()


def test_categories_beyond_the_limit_share_a_column_and_are_counted():
    encoder = Encoder(categories=2)
    rows = encoder.encode({"c": ["a", "b", "c", "d", "a", "c"]})
    assert encoder.names == ("c=a", "c=b", "c=(other)")
    assert_array_equal(rows[:, 2], [np.nan, np.nan, 1, 1, 0, 1])
    assert dict(encoder.crowded) == {"c": 3}
    assert_array_equal(encoder.encode_one({"c": "e"}), [0, 0, 1])
    assert dict(encoder.crowded) == {"c": 4}
    encoder.encode({"c": ["f"]}, grow=False)
    assert dict(encoder.crowded) == {"c": 4}


def test_without_growing_nothing_changes_and_an_unknown_category_is_none_of_the_known():
    encoder = Encoder()
    encoder.encode({"c": ["a", "b"], "n": [1, 2]})
    before = json.dumps(encoder.to_plain())
    assert_array_equal(encoder.encode({"c": ["z"], "new": [3]}, grow=False), [[0, np.nan, 0]])
    assert_array_equal(encoder.encode_one({"c": "z", "new": "w"}, grow=False), [0, np.nan, 0])
    assert json.dumps(encoder.to_plain()) == before


def test_an_encoder_goes_on_after_json_as_if_nothing_had_happened():
    encoder = Encoder(categories=2)
    encoder.decide("code", "category")
    encoder.encode({"c": ["a", "b", "c"], "n": [1, 2, 3], "code": [7, 8.0, 7]})
    again = Encoder.from_plain(json.loads(json.dumps(encoder.to_plain())))
    more = {"c": ["x", "a"], "n": [4, 5], "code": [9, 7], "late": [True, False]}
    assert_array_equal(again.encode(more), encoder.encode(more))
    assert again.names == encoder.names
    assert again.crowded == encoder.crowded
    assert again.names[2:4] == ("code=7", "c=b")


REFUSED = {
    "text in a number": ({"n": ["calm"]}, "feature 'n' must be a number as before, got 'calm'"),
    "arrow text": ({"n": pa.array(["calm"])}, "feature 'n' must be a number as before, got 'calm'"),
    "infinity": (
        {"new": ["a"], "n": np.array([np.inf])},
        "feature 'n' must be finite, got inf in row 0",
    ),
    "dates": ({"new": ["a"], "d": np.array(["2020-01-01"], "M8[D]")}, "feature 'd' .* the date"),
    "arrow dates": ({"d": pa.array([datetime.date(2020, 1, 1)])}, "got the date 2020-01-01; name"),
    "lists": ({"d": pa.array([[1]])}, "feature 'd' must be a number or a category, got list"),
    "both": ({"d": ["a", 1]}, "feature 'd' must be all numbers or all texts, got 1.0 too"),
    "lengths": ({"new": ["a"], "n": [1, 2]}, r"columns must have one length, got lengths \[1, 2\]"),
    "a matrix": ({"d": np.ones((2, 2))}, r"column 'd' must have one dimension, got shape \(2, 2\)"),
    "an object": ({"d": [object()]}, "feature 'd' must be a number, a truth value or a text"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_leaves_the_encoder_as_it_was(case):
    columns, words = REFUSED[case]
    encoder = Encoder()
    encoder.encode({"n": [1.0]})
    before = encoder.to_plain()
    with pytest.raises(ValueError, match=words):
        encoder.encode(columns)
    assert encoder.to_plain() == before


@pytest.mark.parametrize(
    "x", [{"new": "a", "n": "calm"}, {"new": 1, "d": datetime.date.today()}, {"n": -np.inf}]
)
def test_a_refused_example_leaves_the_encoder_as_it_was(x):
    encoder = Encoder()
    encoder.encode_one({"n": 1})
    before = encoder.to_plain()
    with pytest.raises(ValueError, match=r"feature '[nd]' must be"):
        encoder.encode_one(x)
    assert encoder.to_plain() == before


@pytest.mark.parametrize(
    "slot", [[None, False, None], ["x", 1, None], ["x", True, 3], ["x", False, "rome"], ["x"], 7]
)
def test_a_forged_slot_is_refused(slot):
    plain = {"categories": 3, "kinds": {}, "slots": [slot], "crowded": {}}
    with pytest.raises(ValueError, match="plain must describe an encoder, got"):
        Encoder.from_plain(plain)


@pytest.mark.parametrize("plain", [None, {}, {"categories": 0}, [], {"categories": 3, "kinds": 1}])
def test_a_damaged_description_is_refused(plain):
    with pytest.raises(ValueError, match="plain must describe an encoder, got"):
        Encoder.from_plain(plain)
