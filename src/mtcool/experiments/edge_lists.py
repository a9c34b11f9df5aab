"""Edge lists: a line for each edge, the names of two agents first. A header line is understood."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import networkx as nx

# What people call the ends of an edge.
ENDS = (
    {"source", "target"},
    {"src", "dst"},
    {"from", "to"},
    {"start", "end"},
    {"head", "tail"},
    {"left", "right"},
    {"node1", "node2"},
    {"id1", "id2"},
    {"agent1", "agent2"},
    {"u", "v"},
    {"i", "j"},
)


def read_edges(path: Path, delimiter: str | None = None) -> "nx.Graph[Any]":
    """The graph of an edge list; what stands behind two names, or behind a #, is not used."""
    # The mark that some programs put before a text would become part of the first name.
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    edges = []
    for number, line in enumerate(lines, start=1):
        fields = _fields(line.partition("#")[0], delimiter)
        if len(fields) >= 2:
            edges.append(fields)
        elif fields:
            raise ValueError(f"line {number} must name two agents, got {line!r}")
    commented = lines and lines[0].lstrip().startswith("#")
    if edges and not commented and _starts_with_header(edges):
        edges = edges[1:]
    return nx.Graph([(fields[0], fields[1]) for fields in edges])


def _fields(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None:
        return line.split()
    row = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    fields = [field.strip() for field in row]
    return fields if any(fields) else []


def _starts_with_header(edges: Sequence[Sequence[str]]) -> bool:
    """Is the first line a header? Refused if it may be one or an edge."""
    (first, *others), names = edges, {name for fields in edges[1:] for name in fields[:2]}
    if not others or set(first[:2]) & names or any(map(_is_number, first[:2])):
        return False
    if {name.lower() for name in first[:2]} in ENDS:
        return True
    # A word above a column of numbers is its name.
    for column, word in enumerate(first):
        below = [fields[column] if column < len(fields) else "" for fields in others]
        if not _is_number(word) and all(map(_is_number, below)):
            return True
    raise ValueError(
        f"the first line may be a header or an edge, got {' '.join(first[:2])!r}, which no other "
        "line names; leave it out, or put a line that starts with # above it if it is an edge"
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
