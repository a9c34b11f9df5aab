"""Frames of pandas, polars and pyarrow as columns by name."""

from __future__ import annotations

import numpy as np

from mtcool.types import Given


def columns_of(features: Given) -> dict[str, Given] | None:
    """The columns of a frame by name; None if this is not a frame.

    Examples
    --------
    >>> import pandas as pd
    >>> columns_of(pd.DataFrame({"age": [31, 40]}))
    {'age': array([31, 40])}
    """
    if isinstance(features, np.ndarray | list | tuple):
        return None
    names = getattr(features, "column_names", None)  # of pyarrow
    if names is not None:
        return {str(name): features.column(k) for k, name in enumerate(names)}
    if hasattr(features, "columns") and hasattr(features, "__getitem__"):
        return {str(name): _values(features[name]) for name in features.columns}
    return None


def _values(series: Given) -> Given:
    """Numbers as an array; texts, categories and what may be missing as a list."""
    values = series.to_numpy()
    return values if values.dtype.kind in "biuf" else series.to_list()
