"""Kinds of losses by name: how files and messages speak of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mtcool.streams.losses import Kind, Linear, Quadratic, subgradient, value, width
from mtcool.streams.regression import Absolute, Hinge, Logistic, Squared
from mtcool.types import Given
from mtcool.validation import finite, one_of

KINDS: Mapping[str, type] = {
    "quadratic": Quadratic,
    "linear": Linear,
    "squared": Squared,
    "absolute": Absolute,
    "logistic": Logistic,
    "hinge": Hinge,
}
"""The package's own kinds."""

_NAMES = {cls: name for name, cls in KINDS.items()}


def name_of(kind: Kind) -> str:
    """The name of a kind: a word for the package's own, "module:Class" for others.

    Parameters
    ----------
    kind
        A kind of loss.

    Examples
    --------
    >>> name_of(Quadratic())
    'quadratic'
    """
    cls = type(kind)
    return _NAMES.get(cls) or f"{cls.__module__}:{cls.__qualname__}"


def is_own(kind: Kind) -> bool:
    """Whether a kind is one of the package's own."""
    return type(kind) in _NAMES


def kind_of(name: str, parameters: Sequence[float] = ()) -> Kind:
    """One of the package's own kinds, from its name and the values of its parameters.

    Nothing is imported by that name: it may come from a stranger.

    Parameters
    ----------
    name
        A key of `KINDS`, such as "quadratic".
    parameters
        Values of the kind's fields, in their order; none for most kinds.

    Examples
    --------
    >>> kind_of("quadratic")
    Quadratic()
    """
    cls = KINDS[one_of("kind", name, tuple(KINDS))]
    return make_kind(cls, dict(zip(_fields(cls, name, parameters), parameters, strict=True)))


def _fields(cls: type, name: str, parameters: Sequence[float]) -> tuple[str, ...]:
    fields: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]
    if len(fields) != len(parameters):
        raise ValueError(
            f"parameters of {name} must be {len(fields)} numbers, got {list(parameters)!r}"
        )
    return fields


def make_kind(cls: type, parameters: Mapping[str, Any]) -> Kind:
    """A kind of the given class, checked; parameters that have a default may be left out.

    Parameters
    ----------
    cls
        A class of kinds: a NamedTuple with a `value`, a `subgradient` and a `width`.
    parameters
        Values of its fields, by name.

    Examples
    --------
    >>> make_kind(Quadratic, {"delta": 1.0})
    Traceback (most recent call last):
    ...
    ValueError: Quadratic has no parameter delta
    """
    kind: Any = cls
    if not (isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_field_defaults")):
        raise ValueError(f"kind must be a NamedTuple class, got {cls!r}")
    for name in parameters:
        if name not in kind._fields:
            known = f"; it has {', '.join(kind._fields)}" if kind._fields else ""
            raise ValueError(f"{cls.__name__} has no parameter {name}{known}")
    for name in kind._fields:
        if name not in parameters and name not in kind._field_defaults:
            raise ValueError(f"{cls.__name__}.{name} is missing")
    return checked_kind(kind(**parameters))


def checked_kind(kind: Kind) -> Kind:
    """The kind with plain numbers as parameters; refuses what the compiled code cannot use."""
    cls: Any = type(kind)
    if isinstance(kind, type):
        raise ValueError(f"kind must be made with its parameters, got the class {kind.__name__}")
    needed: dict[str, Any] = {"value": value, "subgradient": subgradient, "width": width}
    for what, function in needed.items():
        named = isinstance(kind, tuple) and hasattr(cls, "_fields")
        if not named or function.dispatch(cls) is function.dispatch(object):
            raise ValueError(f"kind must be a NamedTuple whose type has a {what}, got {kind!r}")
    numbers = (
        _number(f"{cls.__name__}.{name}", given, cls.__annotations__.get(name))
        for name, given in zip(cls._fields, kind, strict=True)
    )
    made: Kind = cls(*numbers)
    return made


def _number(name: str, given: Given, declared: object) -> float:
    """A float where one is declared: an int would have the kind compiled a second time."""
    if isinstance(given, bool | np.bool_):
        if declared in (float, "float"):
            raise ValueError(f"{name} must be a number, got {given!r}")
        return bool(given)
    number = finite(name, given)
    whole = isinstance(given, int | np.integer) and declared not in (float, "float")
    return int(given) if whole else number
