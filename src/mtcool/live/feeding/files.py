"""Rows from CSV and JSON lines, as they arrive: each is read when its line is there."""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TypeAlias

import msgspec

from mtcool.graphs.labels import label_of
from mtcool.live.description import Description, tables
from mtcool.live.feeding.row import Row
from mtcool.types import Label, Plain

Complain: TypeAlias = Callable[[str], None]
"""Takes a sentence about a row that is left out."""
STANDARD_INPUT = "-"


def csv_rows(network: Description, stream: tables.Csv, complain: Complain) -> Iterator[Row]:
    """The rows of a CSV file; those that are wrong are left out, and told."""
    features, agents = _features(network), _agents(network)
    with _opened(network, stream.path) as file:
        reader = csv.DictReader(file)
        for name in (stream.agent, stream.target, *features):
            if name not in (reader.fieldnames or ()):
                found = ", ".join(reader.fieldnames or ["nothing"])
                raise ValueError(f"{stream.path} must have a column {name!r}, got {found}")
        for record in reader:
            try:
                yield Row(
                    _agent(agents, record[stream.agent]),
                    [_number(record[name]) for name in features],
                    float(record[stream.target]),
                )
            except (ValueError, TypeError) as error:
                complain(f"line {reader.line_num} is left out: {error}")


def json_rows(network: Description, stream: tables.JsonLines, complain: Complain) -> Iterator[Row]:
    """The rows of a file of JSON lines; those that are wrong are left out, and told."""
    features, agents = _features(network), _agents(network)
    decoder = msgspec.json.Decoder(_Line)
    with _opened(network, stream.path) as file:
        for number, line in enumerate(file, start=1):
            if line.isspace():
                continue
            try:
                one = decoder.decode(line)
                given = one.features
                if isinstance(given, dict):
                    row = [_or_nan(given.get(name)) for name in features]
                else:
                    row = [_or_nan(value) for value in given]
                yield Row(_agent(agents, one.agent), row, one.target)
            except (ValueError, msgspec.DecodeError) as error:
                complain(f"line {number} is left out: {error}")


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    agent: Plain
    features: list[float | None] | dict[str, float | None]
    target: float


def _features(network: Description) -> list[str]:
    learn, table = network.file.learn, network.file.algorithm
    if learn is not None:
        return list(learn.features)
    assert table is not None  # one of the two is given
    if table.loss is None:
        raise ValueError("a stream from a file needs targets: give algorithm.loss, or learn")
    return [f"x{k}" for k in range(table.dim)]


def _agents(network: Description) -> Mapping[str, Label]:
    """Labels by the words that files have for them."""
    return {str(label): label for label in network.graph.labels}


def _agent(agents: Mapping[str, Label], given: Plain) -> Label:
    name = str(label_of(given))
    if name not in agents:
        raise ValueError(f"agent must be in the network, got {given!r}")
    return agents[name]


def _number(text: str | None) -> float:
    return float(text) if text else math.nan


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


@contextmanager
def _opened(network: Description, path: str) -> Iterator[IO[str]]:
    if path == STANDARD_INPUT:
        yield sys.stdin
        return
    with Path(network.path(path)).open(newline="") as file:
        yield file
