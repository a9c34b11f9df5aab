"""What people are shown of a status: another server may answer where a host was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta, Struct

from mtcool.types import Plain

Count: TypeAlias = Annotated[int, Meta(ge=0)]
Step: TypeAlias = Annotated[str, Meta(pattern="^[0-9]{1,2}$|^1[0-6][0-9]$")]
"""Of a latency: less than `STEPS` of them."""
Name: TypeAlias = int | str | list[int | str]


class _Privacy(Struct):
    released: Count
    remaining: Count


class _Agent(Struct):
    agent: Name
    activations: Count
    loss: float | None
    alone: float | None
    counted: Count
    health: str
    neighbours: list[Name]
    privacy: _Privacy | None


class _Link(Struct):
    outbox: Count
    answers: bool
    sent: Count
    taken: Count
    trouble: str | None
    bytes: Count


class _Reason(Struct):
    host: str
    reason: str
    count: Count


class _Sent(Struct):
    sent: dict[str, Count]


class _Latency(Struct):
    steps: dict[Step, Count]


class _Latencies(Struct):
    predict: _Latency
    learn: _Latency


class _Status(Struct):
    host: str
    network: str
    revision: Count
    began: float
    activations: Count
    agents: list[_Agent]
    links: dict[str, _Link]
    outbox: Count
    refused: Count
    reasons: list[_Reason]
    denied: list[_Reason]
    trouble: dict[str, str]
    messages: _Sent
    bytes: _Sent
    old: Count
    missing: Count
    unwritten: Count
    latency: _Latencies
    release: str | None = None
    """Hosts of 0.2.0 do not tell it."""


def refused_in(statuses: Mapping[str, Mapping[str, Plain]]) -> list[tuple[str, str, str, int]]:
    """Who has refused whom, why, and how often, as hosts tell of it by name.

    What only those tell who were refused is there, too.

    Examples
    --------
    >>> rome = {"reasons": [], "denied": [{"host": "oslo", "reason": "too late", "count": 2}]}
    >>> refused_in({"rome": rome})
    [('oslo', 'rome', 'too late', 2)]
    """
    found: dict[tuple[str, str, str], int] = {}
    for host, status in statuses.items():
        for one in status["reasons"]:
            found[host, one["host"], one["reason"]] = one["count"]
    for host, status in statuses.items():
        for one in status["denied"]:
            found.setdefault((one["host"], host, one["reason"]), one["count"])
    return [(*who, count) for who, count in found.items()]


def is_status(told: Plain) -> bool:
    """Whether somebody has told what a node tells of itself.

    Examples
    --------
    >>> is_status({"status": "ok"})
    False
    """
    try:
        msgspec.convert(told, _Status)
    except msgspec.ValidationError:
        return False
    return True
