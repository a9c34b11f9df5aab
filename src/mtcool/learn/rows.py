"""Features as callers pass them, as rows of numbers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.learn.frames import columns_of
from mtcool.learn.reading.encoding import Encoder
from mtcool.types import Floats, Given


def row_of(encoder: Encoder, x: Mapping[str, object] | ArrayLike, *, grow: bool) -> Floats:
    """One row of numbers, from features by name or from a sequence; NaN where one is unknown."""
    if isinstance(x, Mapping):
        return encoder.encode_one(x, grow=grow)
    row = validation.numbers("x", x, unknown=True)
    if row.ndim != 1:
        raise ValueError(f"x must be a mapping or a sequence of numbers, got {x!r}")
    return row


def rows_of(encoder: Encoder, features: Given, names: int, *, grow: bool) -> Floats:
    """Rows of numbers, one for each name; all is checked before the encoder grows."""
    columns = columns_of(features)
    if columns is not None:
        for column in columns.values():
            _check_names(names, len(column))
        if not columns:  # such a frame of polars or pyarrow does not know its number of rows
            return np.full((names, encoder.width), np.nan)
        return encoder.encode(columns, grow=grow)
    try:
        rows = np.asarray(features, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"features must be numbers or a frame: {error}") from None
    if rows.ndim != 2:
        raise ValueError(f"features must be a matrix or a frame, got shape {rows.shape}")
    if np.isinf(rows).any():
        raise ValueError("features must be finite or NaN, got an infinite one")
    _check_names(names, len(rows))
    return rows


def _check_names(names: int, rows: int) -> None:
    if names != rows:
        raise ValueError(f"agents must have {rows} names, got {names}")
