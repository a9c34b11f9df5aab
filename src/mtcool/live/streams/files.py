"""Rows from tables and JSON lines, as they arrive: each is read when its line is there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO, TypeAlias

import msgspec
import numpy as np

from mtcool.graphs.labels import label_of
from mtcool.learn.reading.checking import Checker
from mtcool.learn.reading.encoding import Encoder
from mtcool.learn.reading.pieces import pyarrow
from mtcool.learn.reading.sources import OpenTable, open_source
from mtcool.learn.reading.tables import Columns, checked_features
from mtcool.live.config import Description, tables
from mtcool.live.features import in_order
from mtcool.live.streams.row import Row
from mtcool.live.streams.text import arrives, check_text, lines_of, table_of
from mtcool.types import Label, Plain

Complain: TypeAlias = Callable[[str], None]
"""Takes a sentence about a row that is left out."""
Words: TypeAlias = Mapping[str, Label]
"""Labels of agents by the words that files have for them; agents may join while one is read."""
Features: TypeAlias = list[float | None] | dict[str, float | None]
"""Numbers in the order of the network file, or by name; None is unknown."""
LONGEST = 200
"""Characters of a reason that a sentence shows: names of agents in files may be of any length."""


def csv_rows(
    network: Description, stream: tables.Csv, agents: Words, complain: Complain
) -> Iterator[Row]:
    """The rows of a table, by the rules of `mtcool learn`; bad ones are left out, and told.

    A file that is missing, or lacks a column, is refused at once.
    """
    # Ctrl-C is left to the handler of the program, which lets rows under way be finished.
    pyarrow().enable_signal_handlers(False)
    if not arrives(network, stream.path):
        with table_of(network, stream.path) as file:
            _opened(network, stream, file)
    return _csv_rows(network, stream, agents, complain)


def _opened(
    network: Description, stream: tables.Csv, file: str | BinaryIO
) -> tuple[OpenTable, Checker]:
    columns = Columns(stream.agent, stream.target, features=tuple(_features(network)))
    table, encoder = open_source(file, stream.agent, live=True), Encoder()
    features = checked_features(table, columns, encoder)
    for name in features:
        encoder.decide(name, "number")
    return table, Checker(columns.roles, features, encoder, -math.inf, table.unit, live=True)


def _csv_rows(
    network: Description, stream: tables.Csv, agents: Words, complain: Complain
) -> Iterator[Row]:
    with table_of(network, stream.path) as file:
        table, checker = _opened(network, stream, file)
        for piece in table.pieces(checker.names):
            checked = checker.check(piece)
            good, lines = checked.good, piece.lines[checked.good].tolist()
            features = np.column_stack([checked.features[name] for name in checker.features])
            columns = (checked.agents[good], features[good].tolist(), checked.target[good].tolist())
            rows = dict(zip(lines, map(Row, *columns), strict=True))
            for line, found in sorted({**dict([*piece.bad, *checked.bad]), **rows}.items()):
                if not isinstance(found, Row):
                    complain(_left_out(table.unit, line, found))
                elif found.agent in agents:
                    yield found._replace(agent=agents[str(found.agent)], number=line)
                else:
                    complain(_left_out(table.unit, line, _stranger(found.agent)))


def json_rows(
    network: Description, stream: tables.JsonLinesTable, agents: Words, complain: Complain
) -> Iterator[Row]:
    """The rows of a file of JSON lines; those that are wrong are left out, and told.

    A file that is missing is refused at once.
    """
    features = _features(network)
    if not arrives(network, stream.path):
        with lines_of(network, stream.path):
            pass
    return _json_rows(network, stream, features, agents, complain)


def _json_rows(
    network: Description,
    stream: tables.JsonLinesTable,
    features: list[str],
    agents: Words,
    complain: Complain,
) -> Iterator[Row]:
    decoder = msgspec.json.Decoder(_Line)
    with lines_of(network, stream.path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.isspace():
                continue
            try:
                check_text(line)
                one = decoder.decode(line)
                numbers = _numbers(features, one.features)
                row = Row(_agent(agents, one.agent), numbers, one.target, number=number)
            except RecursionError:
                complain(_left_out("line", number, "it must not be nested so deeply"))
            except (ValueError, msgspec.DecodeError) as error:
                complain(_left_out("line", number, str(error)))
            else:
                yield row


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    agent: Plain
    features: Features
    target: float


def _left_out(unit: str, number: int, reason: str) -> str:
    """Says which row is left out, and why."""
    short = reason if len(reason) <= LONGEST else f"{reason[:LONGEST]} [...]"
    return f"{unit} {number} is left out: {short}"


def _stranger(given: Plain) -> str:
    return f"agent must be in the network, got {given!r}"


def _features(network: Description) -> list[str]:
    learn, table = network.file.learn, network.file.algorithm
    if learn is not None:
        return list(learn.features)
    assert table is not None  # one of the two is given
    if table.loss is None:
        raise ValueError("a stream from a file needs targets: give algorithm.loss, or learn")
    return [f"x{k}" for k in range(table.dim)]


def _agent(agents: Words, given: Plain) -> Label:
    name = str(label_of(given))
    if name not in agents:
        raise ValueError(_stranger(given))
    return agents[name]


def _numbers(features: list[str], given: Features) -> list[float]:
    """A number for each feature, NaN where it is unknown; refuses what a node would refuse."""
    if isinstance(given, dict):
        given = in_order(features, given)
    if len(given) != len(features):
        raise ValueError(f"features must be {len(features)} numbers, got {given!r}")
    return [math.nan if value is None else value for value in given]
