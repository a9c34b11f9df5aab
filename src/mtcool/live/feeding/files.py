"""Rows from CSV and JSON lines, as they arrive: each is read when its line is there."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from textwrap import shorten
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from mtcool.graphs.labels import label_of
from mtcool.live.description import Description, tables
from mtcool.live.features import in_order
from mtcool.live.feeding.row import Row
from mtcool.live.feeding.text import arrives, check_text, lines_of, name_of
from mtcool.types import Label, Plain

if TYPE_CHECKING:
    from _csv import Reader  # a private module: for types alone

Complain: TypeAlias = Callable[[str], None]
"""Takes a sentence about a row that is left out."""
Words: TypeAlias = Mapping[str, Label]
"""Labels of agents by the words that files have for them; agents may join while one is read."""
Features: TypeAlias = list[float | None] | dict[str, float | None]
"""Numbers in the order of the network file, or by name; None is unknown."""
DELIMITERS = ",;\t"
LONGEST = 200
"""Characters of a file's own words in a sentence."""


def csv_rows(
    network: Description, stream: tables.Csv, agents: Words, complain: Complain
) -> Iterator[Row]:
    """The rows of a CSV file; those that are wrong are left out, and told.

    A file that is missing, or lacks a column, is refused at once.
    """
    features = _features(network)
    if not arrives(network, stream.path):
        with lines_of(network, stream.path) as lines:
            _header(stream, features, _reader(stream, lines))
    return _csv_rows(network, stream, features, agents, complain)


def _reader(stream: tables.Csv, lines: Iterator[str]) -> Reader:
    """A reader of the fields, between which are commas, semicolons or tabs: the header tells."""
    first = next(lines, "")
    found = (d for d in DELIMITERS if stream.agent in (f.strip('" \r\n') for f in first.split(d)))
    return csv.reader(itertools.chain([first], lines), delimiter=next(found, ","))


def _header(stream: tables.Csv, features: list[str], reader: Reader) -> list[str]:
    """The names of the columns; refuses a file that lacks one."""
    file = name_of(stream.path)
    try:
        names = _fields(reader)
    except StopIteration:
        names = []
    except ValueError as error:
        raise ValueError(f"{file} cannot be read at line 1: {error}") from None
    for name in (stream.agent, stream.target, *features):
        if name not in names:
            found = shorten(", ".join(names or ["nothing"]), LONGEST)
            raise ValueError(f"{file} must have a column {name!r}, got {found}")
    return names


def _csv_rows(
    network: Description,
    stream: tables.Csv,
    features: list[str],
    agents: Words,
    complain: Complain,
) -> Iterator[Row]:
    with lines_of(network, stream.path) as lines:
        reader = _reader(stream, lines)
        names = _header(stream, features, reader)
        for first, fields in _records(reader, complain):
            try:
                if len(fields) != len(names):
                    raise ValueError(f"it must have {len(names)} fields, as the first line has")
                record = dict(zip(names, fields, strict=True))
                row = Row(
                    _agent(agents, record[stream.agent]),
                    [_number(name, record[name], empty=math.nan) for name in features],
                    _number(stream.target, record[stream.target]),
                    number=first,
                )
            except ValueError as error:
                complain(_left_out(str(error), first, reader.line_num))
            else:
                yield row


def _records(reader: Reader, complain: Complain) -> Iterator[tuple[int, list[str]]]:
    """The fields of each row, and the line on which it begins."""
    while True:
        first = reader.line_num + 1
        try:
            fields = _fields(reader)
        except StopIteration:
            return
        except ValueError as error:
            complain(_left_out(str(error), first, reader.line_num))
            continue
        if fields:
            yield first, fields


def _fields(reader: Reader) -> list[str]:
    """The next row; refuses one that cannot be read. The reader goes on with the line after it."""
    try:
        fields = next(reader)
    except csv.Error as error:
        raise ValueError(f"{error}; perhaps a quote is not closed") from None
    check_text("".join(fields))
    return fields


def json_rows(
    network: Description, stream: tables.JsonLines, agents: Words, complain: Complain
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
    stream: tables.JsonLines,
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
                complain(_left_out("it must not be nested so deeply", number, number))
            except (ValueError, msgspec.DecodeError) as error:
                complain(_left_out(str(error), number, number))
            else:
                yield row


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    agent: Plain
    features: Features
    target: float


def _left_out(reason: str, first: int, last: int) -> str:
    """Says which lines are left out, and why; a field that has run away is not told in full."""
    lines = f"line {first} is" if first == last else f"lines {first} to {last} are"
    short = reason if len(reason) <= LONGEST else f"{reason[:LONGEST]} [...]"
    return f"{lines} left out: {short}"


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
        raise ValueError(f"agent must be in the network, got {given!r}")
    return agents[name]


def _number(column: str, text: str, empty: float | None = None) -> float:
    """The number in a field; an empty one may stand for another. Refuses what is not finite."""
    if empty is not None and not text.strip():
        return empty
    try:
        number = float(text)
    except ValueError:
        number = math.inf
    if math.isinf(number) or (empty is None and math.isnan(number)):
        raise ValueError(f"{column} must be a finite number, got {text!r}")
    return number


def _numbers(features: list[str], given: Features) -> list[float]:
    """A number for each feature, NaN where it is unknown; refuses what a node would refuse."""
    if isinstance(given, dict):
        given = in_order(features, given)
    if len(given) != len(features):
        raise ValueError(f"features must be {len(features)} numbers, got {given!r}")
    return [_or_nan(value) for value in given]


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value
