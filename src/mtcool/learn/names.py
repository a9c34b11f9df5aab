"""The agents' names, as callers pass them: what files and messages can hold."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from mtcool.graphs.labels import plain_name
from mtcool.types import Given, Label


def labels_of(agents: Given, argument: str = "agents") -> list[Label]:
    """The names in a sequence, an array or a column of a frame.

    Examples
    --------
    >>> labels_of(["rome", ("milan", 2)])
    ['rome', ('milan', 2)]
    """
    if isinstance(agents, str | bytes) or not hasattr(agents, "__iter__"):
        raise ValueError(f"{argument} must be a sequence of names, got {agents!r}")
    names = agents.tolist() if hasattr(agents, "tolist") else list(agents)
    try:
        different: Iterable[Label] = dict.fromkeys(names)
    except TypeError:
        different = names  # one of them is refused
    for name in different:
        check_name(argument, name)
    return names


def check_name(argument: str, name: Given) -> None:
    """Refuse a name that could not be looked up, saved or sent.

    Examples
    --------
    >>> check_name("agent", float("nan"))
    Traceback (most recent call last):
    ValueError: agent must be a number, a string or a tuple of them, got nan
    """
    if type(name) is str and name.isascii():
        return  # what most names are
    try:
        hash(name)
        msgspec.json.encode(plain_name(name, "saved"))
    except (TypeError, ValueError):
        size = " of 64 bits" if isinstance(name, int) else ""
        raise ValueError(
            f"{argument} must be a number{size}, a string or a tuple of them, got {name!r}"
        ) from None
