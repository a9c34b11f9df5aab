"""Frames of pandas, polars and pyarrow, and mappings of columns, as columns by name."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import numpy as np

from mtcool.types import Given


def columns_of(features: Given) -> dict[str, Given] | None:
    """The columns of a frame, or of a mapping of columns, by name; None if this is neither.

    Examples
    --------
    >>> import pandas as pd
    >>> columns_of(pd.DataFrame({"age": [31, 40]}))
    {'age': array([31, 40])}
    """
    if isinstance(features, np.ndarray | list | tuple):
        return None
    if isinstance(features, Mapping):
        return {str(name): _checked(name, column) for name, column in features.items()}
    if hasattr(features, "collect"):
        raise ValueError("features must be a frame in memory, got a lazy one; use its `collect()`")
    names = getattr(features, "column_names", None)  # of pyarrow
    if names is not None:
        return {str(name): features.column(k) for k, name in enumerate(names)}
    if hasattr(features, "columns") and hasattr(features, "__getitem__"):
        return {str(name): _values(features[name]) for name in features.columns}
    return None


def listed(column: Given) -> Given:
    """A column of pyarrow as a list of its values; anything else as it is.

    Examples
    --------
    >>> import pyarrow as pa
    >>> listed(pa.chunked_array([["rome"], ["milan"]]))
    ['rome', 'milan']
    """
    return column.to_pylist() if hasattr(column, "to_pylist") else column


def _checked(name: Given, column: Given) -> Given:
    if isinstance(column, str | bytes) or not hasattr(column, "__len__"):
        raise ValueError(f"column {name!r} must be a sequence of values, got {column!r}")
    return column


def _values(series: Given) -> Given:
    """Numbers as an array; texts, categories and what may be missing as a list."""
    values = series.to_numpy()
    if values.dtype.kind in "biuf":
        return values
    return [float(v) if isinstance(v, Decimal) else v for v in series.to_list()]
