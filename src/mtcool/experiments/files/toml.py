"""Values as TOML writes them: an experiment that was a dictionary is kept as a file."""

from collections.abc import Mapping
from typing import Any

import numpy as np


def toml_of(table: Mapping[str, Any]) -> str:
    """The content of an experiment file with these keys.

    >>> print(toml_of({"name": "demo", "graph": {"kind": "ring", "agents": 4}}), end="")
    name = "demo"
    graph = { kind = "ring", agents = 4 }
    """
    return "".join(f"{_key(key)} = {_value(_key(key), value)}\n" for key, value in table.items())


def quoted(text: str) -> str:
    """A text as TOML writes it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise ValueError(f"experiment must have texts as keys, got {key!r}")
    plain = key.isascii() and key.replace("_", "").replace("-", "").isalnum()
    return key if plain else quoted(key)


def _value(place: str, value: object) -> str:
    """A value; `place` names it if no file could hold it."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        pairs = [f"{_key(k)} = {_value(f'{place}.{_key(k)}', v)}" for k, v in value.items()]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    if isinstance(value, list | tuple | np.ndarray):
        items = [_value(f"{place} {k}", item) for k, item in enumerate(value, start=1)]
        return f"[{', '.join(items)}]"
    raise ValueError(
        f"{place} must be a text, a number, true or false, a list or a table, got {value!r}"
    )
