"""Checks of the tables network, messages and delays: each must mean something where it stands."""

from mtcool.algorithms import OWN, algorithm
from mtcool.config import schema
from mtcool.config.algorithms import record_of
from mtcool.experiments.files import spec
from mtcool.experiments.files.in_the_field import changes_network, delays_of, given, messages_of


def check_field(point: spec.Point) -> None:
    """Refuse a table that nobody reads, and algorithms that cannot live with what it asks."""
    tables = {key: getattr(point, key) for key in spec.FIELD}
    asked = ["network"] if changes_network(point) else []
    asked += [key for key, table in tables.items() if table is not None]
    for key in asked:
        if not any(record_of(one).changing for one in point.algorithm):
            raise ValueError(f"{key} has no meaning without an algorithm {_readers()}, got a table")
    if isinstance(point.network, spec.Moving) and isinstance(point.graph, schema.GraphFile):
        raise ValueError(
            "graph.kind must not be file for agents that move, whose names are numbers, "
            f"got {point.graph.path!r}"
        )
    for one in point.algorithm:
        _check_algorithm(point, one, asked)


def _check_algorithm(point: spec.Point, one: schema.AlgorithmSpec, asked: list[str]) -> None:
    record = record_of(one)
    for key in spec.FIELD:
        own = given(getattr(one, key))
        waits = record.alone and key == "delays" and set(own) == {"labels"}
        if own and not record.changing and not waits:
            raise ValueError(
                f"{one.name}: {key} apply only to {_readers()}, but for delays of labels to "
                f"those who learn alone, got {own!r}"
            )
    for key in asked:
        if not record.changing and not record.alone:
            raise ValueError(
                f"{one.name}: algorithm must be {_readers()}, or learn alone, in a file with "
                f"the table {key}, got {one.algorithm!r}"
            )
    if changes_network(point) and record.changing and one.weights != "uniform":
        raise ValueError(
            f"{one.name}: weights must be uniform in a network that changes, got {one.weights!r}"
        )
    for key, made in (("messages", messages_of), ("delays", delays_of)):
        try:
            made(point, one)
        except ValueError as error:
            raise ValueError(f"{one.name}: {key}: {error}") from None


def _readers() -> str:
    """Names of the algorithms to which these tables mean something."""
    return " or ".join(name for name in OWN if algorithm(name).changing)
