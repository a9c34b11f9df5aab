"""Features by name, put in the order of the description."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from mtcool.types import Given


def in_order(names: Sequence[str], given: Mapping[str, Given]) -> list[Given]:
    """The value of each feature, NaN where there is none; refuses names that are no features.

    Examples
    --------
    >>> in_order(["sun", "wind"], {"wind": 2.0})
    [nan, 2.0]
    """
    for name in given:
        if name not in names:
            raise ValueError(f"features must be among {', '.join(names)}, got {name!r}")
    return [given.get(name, math.nan) for name in names]
