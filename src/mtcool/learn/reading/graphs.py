"""The network of the agents of a table: from a file, from coordinates, or from a word."""

from __future__ import annotations

import os
from typing import Literal

import numpy as np

from mtcool import validation
from mtcool.files import from_spreadsheet_text
from mtcool.graphs import Graph, as_graph, read_graph
from mtcool.graphs.nearest import nearest, on_the_sphere
from mtcool.learn.reading.parsing import column_of, is_text, named, parse, parse_typed, trimmed
from mtcool.learn.reading.sources import open_source
from mtcool.types import Floats, Given

WORDS = ("complete", "none")


def graph_from(
    source: Given,
    *,
    near: tuple[str, str] | None = None,
    neighbours: int = 5,
    agents: str | None = None,
) -> Graph | Literal["complete"] | None:
    """The network between the agents of a table; its labels are texts, as in `Batch`.

    Parameters
    ----------
    source
        "complete" (all agents are neighbours) or "none" (each is alone); the path of a file that
        `mtcool.graphs.read_graph` reads (edge list, GraphML, GAL and others); a `Graph` or a
        networkx graph. With `near`, the table of the data itself.
    near
        Columns of the latitude and longitude in degrees. Each agent is at the first place that
        its rows give, and an edge joins two agents if one is among the nearest of the other on
        the sphere. Agents without a place are not in the graph.
    neighbours
        The number of nearest agents that `near` looks for.
    agents
        With `near`, the column that names the agents.

    Returns
    -------
    Graph or "complete" or None
        What `mtcool.learn.Model` takes.

    Examples
    --------
    >>> import io
    >>> graph_from("complete"), graph_from("none")
    ('complete', None)
    >>> table = b"city,lat,lon\\nrome,41.9,12.5\\nmilan,45.5,9.2\\nturin,45.1,7.7\\n"
    >>> graph = graph_from(io.BytesIO(table), near=("lat", "lon"), neighbours=1, agents="city")
    >>> graph.labels, graph.neighbours(1)
    (('rome', 'milan', 'turin'), array([0, 1, 2], dtype=int32))
    """
    if near is not None:
        return _nearest(source, near, validation.count("neighbours", neighbours), agents)
    if source is None or (isinstance(source, str) and source in WORDS):
        return "complete" if source == "complete" else None
    if not isinstance(source, str | os.PathLike):
        return _named_by_text(as_graph(source))
    return _named_by_text(read_graph(source))


def _named_by_text(graph: Graph) -> Graph:
    names = [from_spreadsheet_text(str(label)) for label in graph.labels]
    return Graph(graph.ptr, graph.idx, names)


def _nearest(source: Given, near: tuple[str, str], neighbours: int, agents: str | None) -> Graph:
    if isinstance(near, str) or len(near) != 2:
        raise ValueError(f"near must be two columns, the latitude and the longitude, got {near!r}")
    if agents is None:
        raise ValueError("agents must be the column that names the agents, got None")
    if isinstance(source, str) and source == "-":
        raise ValueError("source must be a file that can be read twice with near, got '-'")
    return graph_of_places(places_of(source, agents, near), neighbours)


def graph_of_places(places: dict[str, tuple[float, float]], neighbours: int) -> Graph:
    """Each agent joined to those nearest to it; places are latitudes and longitudes by name."""
    if len(places) < 2:
        raise ValueError(f"near must give places to at least two agents, got {len(places)}")
    degrees = np.array(list(places.values()))
    return nearest(on_the_sphere(*degrees.T), neighbours, labels=places)


def places_of(source: Given, agents: str, near: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """The first latitude and longitude of each agent, in the order of the table."""
    table = open_source(source, agents)
    for name in (agents, *near):
        if table.names.count(name) != 1:
            role = "agents" if name == agents else "near"
            raise ValueError(f"{role} must name one column of {table.name}, got {name!r}")
    places: dict[str, tuple[float, float]] = {}
    for piece in table.pieces([agents, *near]):
        texts = named(column_of(piece.table, agents)).dictionary_encode()
        names = [*trimmed(texts.dictionary).to_pylist(), None]
        codes = texts.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        north, east = (_degrees(column_of(piece.table, name), name) for name in near)
        known = np.flatnonzero((np.abs(north) <= 90.0) & (np.abs(east) <= 360.0))
        # The first row of each code among those whose place is known.
        for row in known[np.sort(np.unique(codes[known], return_index=True)[1])].tolist():
            name = names[codes[row]]
            if name is not None:
                places.setdefault(name, (float(north[row]), float(east[row])))
    return places


def _degrees(column: Given, name: str) -> Floats:
    parsed = parse(column, "number") if is_text(column) else parse_typed(column)
    if parsed is None:
        raise ValueError(f"near must be columns of degrees, got {name!r} of type {column.type}")
    return parsed.values
