"""Graphs from files: the formats that networkx reads, GAL, and edge lists.

An edge list has a line for each edge, the names of two agents first. A header line is understood.
"""

import importlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mtcool.csv_rows import delimiter_of, rows
from mtcool.graphs.gal import read_gal
from mtcool.graphs.graph import Graph, as_graph

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


def read_graph(path: str | os.PathLike[str]) -> Graph:
    """A graph from a file, whose suffix tells the format; agents are named as in the file.

    `.graphml`, `.gml`, `.adjlist`, `.net` (Pajek) and `.g6` are read by networkx. `.gal` has a line
    for each agent and one with its neighbours. `.csv`, `.txt`, `.edges` and `.edgelist` are lists
    of edges: two names in a line; what follows is ignored. In `.csv` a comma, a semicolon or a tab
    stands between them.

    Parameters
    ----------
    path
        The file, with one of the suffixes above.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "cities.csv").write_text("source,target\\nrome,milan\\nmilan,turin")
    ...     graph = read_graph(Path(folder) / "cities.csv")
    >>> graph.labels
    ('rome', 'milan', 'turin')
    """
    if not isinstance(path, str | os.PathLike):
        raise ValueError(f"path must be that of a file, got {path!r}")
    file = Path(path)
    reader = READERS.get(file.suffix.lower())
    if reader is None:
        raise ValueError(f"path must end in one of {', '.join(READERS)}, got {str(path)!r}")
    what = "a list of edges" if file.suffix.lower() in EDGE_LISTS else "a graph that networkx reads"
    what = "a GAL file" if reader is read_gal else what
    try:
        return as_graph(reader(file))
    except OSError as error:
        raise ValueError(f"path must be a file, got {str(path)!r}: {error.strerror}") from None
    except Exception as error:  # of networkx and its XML parser: damage shows in many ways
        raise ValueError(f"path must be {what}, got {str(path)!r}: {error}") from error


def read_edges(path: Path, blanks: bool = False) -> list[tuple[str, str]]:
    """The pairs of names in an edge list; what follows two names, or a #, is ignored.

    Between names stands a comma, a semicolon or a tab, as in the first line, or blanks do.
    """
    # The mark that some programs put at the start of a file would become part of the first name.
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    said = [line.partition("#")[0] for line in lines]
    if blanks:
        split = ((number, line.split()) for number, line in enumerate(said, start=1))
        table = [(number, fields) for number, fields in split if fields]
    else:
        table = list(rows((f"{line}\n" for line in said), delimiter_of(said)))
    edges = [fields for _, fields in table]
    commented = lines and lines[0].lstrip().startswith("#")
    columns = _ends_in(edges[0]) if edges else None
    if columns is not None and _names_agents(edges, columns):
        if not commented:
            raise ValueError(
                f"the first line may be a header or an edge, got {' '.join(edges[0])!r}, which "
                "names agents of other lines; put a line that starts with # above it if it is an "
                "edge"
            )
        columns = None
    if columns is not None or (edges and not commented and _starts_with_header(edges)):
        table = table[1:]
    first, second = columns or (0, 1)
    for number, fields in table:
        if len(fields) <= max(first, second) or not (fields[first] and fields[second]):
            raise ValueError(f"line {number} must name two agents, got {lines[number - 1]!r}")
    return [(fields[first], fields[second]) for _, fields in table]


def _ends_in(header: Sequence[str]) -> tuple[int, int] | None:
    """The two columns that a header calls the ends of an edge."""
    names = [name.lower() for name in header]
    for ends in ENDS:
        columns = [names.index(name) for name in names if name in ends]
        if len(columns) == 2 and set(names) >= ends:
            return columns[0], columns[1]
    return None


def _names_agents(edges: Sequence[Sequence[str]], columns: tuple[int, int]) -> bool:
    """Whether a word of the header is the name of an agent below it."""
    names = {fields[k] for fields in edges[1:] for k in columns if k < len(fields)}
    return any(edges[0][k] in names for k in columns)


def _starts_with_header(edges: Sequence[Sequence[str]]) -> bool:
    """Whether the first line is a header; refuse one that could be a header or an edge."""
    (first, *others), names = edges, {name for fields in edges[1:] for name in fields[:2]}
    if not others or set(first[:2]) & names or any(map(_is_number, first[:2])):
        return False
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


def _joined(edges: list[tuple[str, str]]) -> Graph:
    if not edges:
        raise ValueError("it has no edges")
    return Graph.from_edges(edges)


def _networkx(name: str) -> Callable[[Path], Any]:
    """A reader of networkx, which is slow to import."""
    return lambda path: getattr(importlib.import_module("networkx"), name)(path)


EDGE_LISTS: dict[str, Callable[[Path], Any]] = {
    **dict.fromkeys(
        (".edgelist", ".edges", ".txt"), lambda path: _joined(read_edges(path, blanks=True))
    ),
    ".csv": lambda path: _joined(read_edges(path)),
}
READERS: dict[str, Callable[[Path], Any]] = {
    ".graphml": _networkx("read_graphml"),
    ".gml": _networkx("read_gml"),
    ".adjlist": _networkx("read_adjlist"),
    ".net": _networkx("read_pajek"),
    ".g6": _networkx("read_graph6"),
    ".gal": read_gal,
    **EDGE_LISTS,
}
"""By the suffix of the file."""
