"""An experiment that was a dictionary, as the file that is kept with its results."""

from collections.abc import Mapping

import numpy as np
import tomli_w

from mtcool.types import Plain


def toml_of(table: Mapping[str, Plain]) -> str:
    """Return the content of an experiment file with these keys.

    Examples
    --------
    >>> print(toml_of({"name": "demo", "graph": {"kind": "ring", "agents": 4}}), end="")
    name = "demo"
    <BLANKLINE>
    [graph]
    kind = "ring"
    agents = 4
    """
    return tomli_w.dumps({key: _plain(str(key), value) for key, value in _items("", table)})


def _items(place: str, table: Mapping[str, Plain]) -> list[tuple[str, Plain]]:
    for key in table:
        if not isinstance(key, str):
            raise ValueError(f"{place or 'experiment'} must have strings as keys, got {key!r}")
    return list(table.items())


def _plain(place: str, value: Plain) -> Plain:
    """The value without NumPy's types; `place` names it if no file could hold it."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(f"{place}.{key}", item) for key, item in _items(place, value)}
    if isinstance(value, list | tuple):
        return [_plain(f"{place} {k}", item) for k, item in enumerate(value, start=1)]
    if not isinstance(value, bool | str | int | float):
        raise ValueError(
            f"{place} must be a string, a number, true or false, a list or a table, got {value!r}"
        )
    return value
