"""Open the stream of a network file."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from mtcool.learn.running.built_in import built_in
from mtcool.live.config import Description, tables
from mtcool.live.offset import Offset
from mtcool.live.streams.files import Complain, csv_rows, json_rows
from mtcool.live.streams.row import Row
from mtcool.live.streams.synthetic import synthetic_rows
from mtcool.live.streams.text import arrives
from mtcool.types import Label

QUIET = 2.0
"""Seconds after which people who wait are told how far it is."""


class OpenStream(NamedTuple):
    """A stream that is open."""

    rows: Iterator[Row]
    total: int | None
    """How many rows there are, if that is known."""
    waits: bool
    """Whether rows come when they come, as from standard input or a pipe."""
    agents: dict[str, Label]
    """Agents whose rows are read, by their names in files."""

    def take(self, network: Description) -> None:
        """Read rows of agents that have joined, too."""
        self.agents.update(_words(network))


def open_stream(network: Description, rounds: int | None, complain: Complain) -> OpenStream | None:
    """The stream that the file of a network names, cut after so many rounds; None if it has none.

    Parameters
    ----------
    network
        The network.
    rounds
        How many rows there are at most, from the first of the stream on.
    complain
        Is told of rows that are left out.

    Examples
    --------
    >>> from mtcool.live.config import described
    >>> network = described({"name": "demo", "graph": {"kind": "ring", "agents": 4},
    ...     "learn": {"features": ["x"]}, "shards": {"count": 1}, "stream": {"kind": "synthetic"}})
    >>> source = open_stream(network, 3, print)
    >>> source.total, len(list(source.rows))
    (3, 3)
    """
    stream = network.file.stream
    total: int | None = None
    waits, agents = False, _words(network)
    match stream:
        case None:
            return None
        case tables.Synthetic():
            total = stream.rounds if rounds is None else rounds
            rows = synthetic_rows(network, stream, total)
        case tables.Csv():
            rows = csv_rows(network, stream, agents, complain)
            waits = arrives(network, stream.path)
        case tables.JsonLinesTable():
            rows = json_rows(network, stream, agents, complain)
            waits = arrives(network, stream.path)
        case _:
            rows, total = _built_in_rows(network, stream)
    if rounds is not None:
        rows = itertools.islice(rows, rounds)
        total = rounds if total is None else min(rounds, total)
    return OpenStream(rows, total, waits, agents)


def _words(network: Description) -> dict[str, Label]:
    return {str(label): label for label in network.graph.labels}


def _built_in_rows(
    network: Description, stream: tables.Births | tables.Flights | tables.Schools
) -> tuple[Iterator[Row], int]:
    """The rows of a built-in stream; targets are taken to be known at once."""
    word = str(type(stream).__struct_config__.tag)
    table, learn = built_in(word), network.file.learn
    if learn is None or list(table.names) != list(learn.features):
        raise ValueError(
            f"learn.features must be {list(table.names)!r} for the stream {word!r}, got "
            f"{None if learn is None else learn.features!r}"
        )
    labels, known = table.graph.labels, set(network.graph.labels)
    for label in labels:
        if label not in known:
            raise ValueError(f"graph must have all agents of {word!r}, got none named {label!r}")
    target = table.target
    if learn.task == "classification":
        target = (target > np.median(target)).astype(np.float64)
    found = zip(table.agent.tolist(), table.features.tolist(), target.tolist(), strict=True)
    rows = (Row(labels[agent], row, y, number=k) for k, (agent, row, y) in enumerate(found, 1))
    return rows, len(target)


def check_fed(
    network: Description, offsets: Mapping[Label, Offset], tell: Callable[[str], None]
) -> int:
    """Refuse a stream that is another one than was fed before; returns how many rows were.

    Parameters
    ----------
    network
        The network, with a stream that does not come only once.
    offsets
        How far rows were fed to each agent.
    tell
        Is told every two seconds how far it is.
    """
    fed = {agent: offset for agent, offset in offsets.items() if offset.row > 0}
    last = max((offset.row for offset in fed.values()), default=0)
    source = open_stream(network, last, lambda _: None) if fed else None
    missing, count, said = set(fed), 0, time.monotonic()
    for row in () if source is None else source.rows:
        offset = fed.get(row.agent)
        if offset is not None and row.number <= offset.row:
            count += 1
            if row.number == offset.row and row.offset == offset:
                missing.discard(row.agent)
        if time.monotonic() > said + QUIET:
            said = time.monotonic()
            tell(f"{count:,} rows that were fed before are read again")
    for agent in sorted(missing, key=str):
        raise ValueError(
            f"stream must be the one that was fed before, got another row {fed[agent].row:,} than "
            f"agent {agent!r} has learned from: --again feeds it from its beginning"
        )
    return count
