"""What a point asks of its networks: whether they change, what they may say, and how late."""

from typing import Any, NamedTuple

import msgspec

import mtcool
from mtcool.config import schema
from mtcool.config.algorithms import record_of
from mtcool.experiments.files import spec


class Field(NamedTuple):
    """What differs from the paper's setting, of one algorithm."""

    messages: mtcool.Messages
    delays: mtcool.Delays


def changes_network(point: spec.Point) -> bool:
    """Whether the graph of a point may change.

    Examples
    --------
    >>> alone = schema.AlgorithmSpec(name="alone", algorithm="i_ftrl")
    >>> changes_network(spec.Point(algorithm=[alone], network=spec.Still()))
    False
    """
    return not isinstance(point.network, spec.Still | None)


def field_of(point: spec.Point, one: schema.AlgorithmSpec) -> Field | None:
    """Messages and delays of an algorithm at a point, or None if it lives as in the paper.

    An agent that learns alone sends nothing, but waits for its labels as all others do.

    Examples
    --------
    >>> own = schema.MessagesSpec(every=2)
    >>> one = schema.AlgorithmSpec(name="mine", algorithm="mt_co2ol", messages=own)
    >>> point = spec.Point(algorithm=[one], messages=schema.MessagesSpec(every=4, bits=8))
    >>> found = field_of(point, one).messages
    >>> found.every, found.bits
    (2, 8)
    """
    record = record_of(one)
    if not (record.changing or record.alone):
        return None
    messages, delays = messages_of(point, one), delays_of(point, one)
    if not record.changing:
        late = mtcool.Delays(labels=delays.labels)
        return None if late.is_none else Field(mtcool.Messages(), late)
    plain = messages.is_plain and delays.is_none and not changes_network(point)
    return None if plain else Field(messages, delays)


def messages_of(point: spec.Point, one: schema.AlgorithmSpec) -> mtcool.Messages:
    """What the algorithm's own table says, and for all else that of the point."""
    found = given(point.messages) | given(one.messages)
    if found.get("partners") == "all":
        del found["partners"]
    return mtcool.Messages(**found)


def delays_of(point: spec.Point, one: schema.AlgorithmSpec) -> mtcool.Delays:
    """What the algorithm's own table says, and for all else that of the point."""
    found: dict[str, Any] = given(point.delays) | given(one.delays)
    for key, value in found.items():
        if isinstance(value, schema.DelaySpec):
            found[key] = mtcool.Delay(**msgspec.structs.asdict(value))
    return mtcool.Delays(**found)


def given(table: schema.MessagesSpec | schema.DelaysSpec | None) -> dict[str, Any]:
    """The keys that a table has in the file.

    Examples
    --------
    >>> given(schema.MessagesSpec(every=2))
    {'every': 2}
    """
    if table is None:
        return {}
    return {key: value for key, value in msgspec.structs.asdict(table).items() if value is not None}
