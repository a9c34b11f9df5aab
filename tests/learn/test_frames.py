"""Frames of pandas, polars and pyarrow go into a model as they are."""

import decimal
import pickle

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mtcool.learn import Model

COLUMNS = {
    "town": ["rome", "milan", "rome", "turin"],
    "sun": [1, 2, None, 4],
    "pressure": [1.5, 2.5, 3.5, None],
    "wind": ["north", "south", None, "north"],
    "holiday": [True, False, None, True],
}
VALUES = list(zip(*COLUMNS.values(), strict=True))
TOWNS = nx.path_graph(["rome", "milan", "turin"])
TARGET = [1.0, 2.0, 3.0, 4.0]
MADE = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas with an index": lambda: pd.DataFrame(COLUMNS, index=[7, 7, 3, 1]),
    "nullable": lambda: pd.DataFrame(COLUMNS).convert_dtypes(),
    "arrow in pandas": lambda: pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "categories of pandas": lambda: pd.DataFrame(COLUMNS).astype(
        {"wind": "category", "town": "category"}
    ),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "categories of polars": lambda: pl.DataFrame(COLUMNS).with_columns(
        pl.col("wind", "town").cast(pl.Categorical)
    ),
    "pyarrow": lambda: pa.table(COLUMNS),
    "a batch": lambda: pa.RecordBatch.from_pydict(COLUMNS),
    "a table of parts": lambda: pa.concat_tables(
        [pa.table(COLUMNS).slice(0, 1), pa.table(COLUMNS).slice(1)]
    ),
    "columns": lambda: COLUMNS,
}


def without_town(frame):
    if isinstance(frame, dict):
        return {name: column for name, column in frame.items() if name != "town"}
    if isinstance(frame, pd.DataFrame):
        return frame.drop(columns="town")
    return frame.drop("town") if isinstance(frame, pl.DataFrame) else frame.drop_columns("town")


@pytest.mark.parametrize("kind", MADE)
def test_every_frame_is_learned_from_like_its_rows_one_by_one(kind):
    frame, rows = MADE[kind](), [dict(zip(COLUMNS, row, strict=True)) for row in VALUES]
    model, slow = Model(TOWNS), Model(TOWNS)
    model.learn_many(frame["town"], without_town(frame), TARGET)
    for x, y in zip(rows, TARGET, strict=True):
        slow.learn_one(x["town"], without_town(x), y)
    assert model.agents == slow.agents == ("rome", "milan", "turin")
    assert model.encoder.names == slow.encoder.names
    many = model.predict_many(frame["town"], without_town(frame))
    np.testing.assert_array_equal(
        many, [slow.predict_one(x["town"], without_town(x)) for x in rows]
    )


@pytest.mark.parametrize("make", [pd.Series, pl.Series, pa.array, lambda y: pa.chunked_array([y])])
def test_targets_may_be_a_column(make):
    model = Model(None)
    model.learn_many(["rome"] * 4, {"sun": [1, 2, 3, 4]}, make(TARGET))
    assert model.rows("rome") == 4


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"sun": [decimal.Decimal("1.5"), None]}),
        pa.table({"sun": [decimal.Decimal("1.5"), None]}),
        pd.DataFrame({"sun": [decimal.Decimal("1.5"), None]}),
    ],
)
def test_decimals_are_numbers(frame):
    model = Model(None)
    model.learn_many(["rome", "rome"], frame, [1.0, 2.0])
    assert dict(model.encoder.kinds) == {"sun": "number"}


@pytest.mark.parametrize("frame", [pd.DataFrame(index=[0, 1]), pl.DataFrame(), {}])
def test_without_features_the_level_is_learned(frame):
    model = Model(None)
    model.learn_many(["rome", "milan"], frame, [1.0, 3.0])
    np.testing.assert_array_equal(model.predict_many(["rome", "milan"], frame), [1.0, 3.0])


REFUSED = [
    (pl.LazyFrame({"sun": [1.0]}), "features must be a frame in memory, got a lazy one"),
    (pd.DataFrame({"rain": [1.0, 2.0]}), "agents must have 2 names, got 1"),
    (pd.DataFrame({"rain": ["a"], "hail": [np.inf]}), "feature 'hail' must be finite"),
    ({"rain": 1.0}, "column 'rain' must be a sequence of values, got 1.0"),
    ({"rain": "much"}, "column 'rain' must be a sequence of values, got 'much'"),
    ([["much"]], "features must be numbers or a frame"),
    ([[np.inf]], "features must be finite or NaN"),
    ([[1.0], [2.0]], "agents must have 2 names, got 1"),
    (pd.Series([1.0]), "features must be a matrix or a frame, got shape"),
]


@pytest.mark.parametrize(("features", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_refused_features_leave_no_trace(features, words):
    model = Model("complete")
    model.learn_many(["rome"], {"sun": [1.0]}, [2.0])
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=words):
        model.learn_many(["oslo"], features, [1.0])
    with pytest.raises(ValueError, match=words):
        model.predict_many(["oslo"], features)
    assert pickle.dumps(model) == before
