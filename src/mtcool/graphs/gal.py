"""GAL files, in which geographers keep who is whose neighbour."""

from pathlib import Path

from mtcool.graphs.graph import Graph


def read_gal(path: Path) -> Graph:
    """A GAL file: a first line with the number of agents, then all agents with their neighbours."""
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    # The number of agents alone, or 0, the number, and the names of a map and its key.
    header = lines[0].split() if lines else []
    neighbours = _entries(lines)
    if (header[1:2] or header) != [str(len(neighbours))]:
        raise ValueError(f"line 1 must say {len(neighbours)} agents, got {lines[:1]}")
    edges = [(agent, other) for agent, others in neighbours.items() for other in others]
    return Graph.from_edges(edges, labels=neighbours)


def _entries(lines: list[str]) -> dict[str, list[str]]:
    """Neighbours by agent. Line breaks do not count: some writers leave out empty lines."""
    words = [(word, n) for n, line in enumerate(lines[1:], start=2) for word in line.split()]
    entries: dict[str, list[str]] = {}
    place = 0
    while place < len(words):
        agent, line = words[place]
        size = words[place + 1][0] if place + 1 < len(words) else ""
        if agent in entries or not size.isdecimal() or place + 2 + int(size) > len(words):
            raise ValueError(
                f"line {line} must begin with a new agent and the number of its neighbours, "
                f"followed by their names, got {lines[line - 1]!r}"
            )
        end = place + 2 + int(size)
        entries[agent] = [word for word, _ in words[place + 2 : end]]
        place = end
    return entries
