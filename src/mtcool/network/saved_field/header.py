"""Messages and delays in the header of a saved network, with exactly these keys."""

from dataclasses import asdict, fields

import msgspec

from mtcool.field import Delay, Delays, Messages
from mtcool.field.settings import FieldSettings
from mtcool.graphs.labels import label_of, plain_name
from mtcool.types import Plain


class SavedMessages(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fields of `Messages`."""

    every: int
    probability: float
    partners: int | None
    choose: str
    budget: int | None
    budget_bytes: int | None
    bits: int | None
    coordinates: int | msgspec.UnsetType | None = msgspec.UNSET
    """Only in the files of 0.2.0."""


class SavedDelay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A `Delay`, with every slow edge once: two names, and rounds."""

    constant: float
    mean: float
    bandwidth: float | None
    edges: list[tuple[Plain, Plain, float]]


class SavedField(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fields of `FieldSettings`, with those of its `Delays` among them."""

    messages: SavedMessages
    gradients: SavedDelay
    rows: SavedDelay
    labels: SavedDelay
    lost: float
    seed: int


def saved_field(field: FieldSettings) -> SavedField:
    """Messages, delays and seed as values that a header can hold."""
    delays = field.delays
    return SavedField(
        messages=SavedMessages(**asdict(field.messages)),
        gradients=_saved_delay(delays.gradients),
        rows=_saved_delay(delays.rows),
        labels=_saved_delay(delays.labels),
        lost=delays.lost,
        seed=field.seed,
    )


def field_from(saved: SavedField) -> FieldSettings:
    """What was saved, checked as a caller's arguments are."""
    if saved.messages.coordinates not in (None, msgspec.UNSET):
        raise ValueError(
            f"coordinates are not sent any more, got coordinates={saved.messages.coordinates}: go "
            "on with mtcool 0.2.0, or make a new network with bits in its messages"
        )
    messages = {field.name: getattr(saved.messages, field.name) for field in fields(Messages)}
    delays = {name: _delay_from(getattr(saved, name)) for name in ("gradients", "rows", "labels")}
    if not 0 <= saved.seed < 2**64:
        raise ValueError(f"seed must be a word of 64 bits, got {saved.seed}")
    return FieldSettings(Messages(**messages), Delays(**delays, lost=saved.lost), saved.seed)


def _saved_delay(delay: Delay) -> SavedDelay:
    edges = {}
    for (one, two), rounds in delay.edges.items():  # which has both orders of the ends
        if (two, one) not in edges:
            edges[one, two] = rounds
    listed = [
        (plain_name(one, "saved"), plain_name(two, "saved"), rounds)
        for (one, two), rounds in edges.items()
    ]
    return SavedDelay(delay.constant, delay.mean, delay.bandwidth, listed)


def _delay_from(saved: SavedDelay) -> Delay:
    edges = {(label_of(one), label_of(two)): rounds for one, two, rounds in saved.edges}
    for pair in edges:
        for name in pair:
            plain_name(name, "saved")  # refuses what could not have been saved
    return Delay(saved.constant, saved.mean, saved.bandwidth, edges)
