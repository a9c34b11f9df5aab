"""The description of a network in the database of a host."""

from __future__ import annotations

import msgspec
import numpy as np

from mtcool.config.outside import is_outside
from mtcool.config.schema import GraphFile
from mtcool.live.config import tables
from mtcool.live.config.reading import Description, described

READ = (GraphFile, tables.BirthsGraph, tables.FlightsGraph, tables.SchoolsGraph)
"""Graphs that a description names, and that are read."""


def kept_description(network: Description) -> bytes:
    """A description as it is kept in a database: with its graph, which may stand in a file."""
    file = network.file
    if isinstance(file.graph, READ):
        graph, labels = network.graph, network.graph.labels
        owner = np.repeat(np.arange(graph.size), np.diff(graph.ptr))
        ends = zip(owner.tolist(), graph.idx.tolist(), strict=True)
        edges = tuple((labels[i], labels[j]) for i, j in ends if i < j)
        written = tables.EdgesTable(edges=edges, agents=tuple(labels))  # type: ignore[arg-type]
        file = msgspec.structs.replace(file, graph=written)
    return msgspec.json.encode(file)


def description_in(kept: bytes) -> Description:
    """The description in a database, which must not name files that would be opened."""
    if isinstance(msgspec.json.decode(kept, type=tables.NetworkFile).graph, READ):
        raise ValueError("graph must stand in the database with its edges, got one that is read")
    return described(msgspec.json.decode(kept))


def check_runs_nothing(network: Description) -> None:
    """Refuse names of code from outside: what stands in a database must not decide what runs."""
    table = network.file.algorithm
    if table is None:
        return
    for key in ("algorithm", "learner", "aggregator"):
        name = getattr(table, key)
        if is_outside(name):
            raise ValueError(
                f"algorithm.{key} of a network in a database must be one of mtcool's own, because "
                f"a name from outside is imported, which runs it, got {name!r}: give the network's "
                "file (--network) if you trust it"
            )
