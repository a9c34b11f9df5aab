"""Where agents are drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import networkx as nx

from mtcool.live.page.network_view import AgentView
from mtcool.types import Label

FEW = 200
"""Agents of a graph that is laid out by its edges; larger ones are laid out by hosts."""
GOLDEN = math.pi * (3.0 - math.sqrt(5.0))


def places_of(agents: Mapping[Label, AgentView]) -> list[tuple[float, float]]:
    """Coordinates of all agents, in their order.

    Examples
    --------
    >>> places_of({"rome": AgentView("rome")})
    [(0.0, 0.0)]
    """
    if len(agents) > FEW:
        return _by_hosts(agents)
    graph: nx.Graph[Label] = nx.Graph()
    graph.add_nodes_from(agents)
    graph.add_edges_from(edges_of(agents))
    parts = [graph.subgraph(part) for part in nx.connected_components(graph)]
    found = {label: place for part in _side_by_side(parts) for label, place in part.items()}
    return [found[label] for label in agents]


def edges_of(agents: Mapping[Label, AgentView]) -> list[tuple[Label, Label]]:
    """Every edge once."""
    order = {label: k for k, label in enumerate(agents)}
    pairs = {
        (min(label, other, key=order.__getitem__), max(label, other, key=order.__getitem__))
        for label, agent in agents.items()
        for other in agent.neighbours
    }
    return sorted(pairs, key=lambda pair: (order[pair[0]], order[pair[1]]))


def _side_by_side(parts: Sequence[nx.Graph[Label]]) -> list[dict[Label, tuple[float, float]]]:
    """Parts that are not connected, in rows."""
    wide = math.ceil(math.sqrt(len(parts)))
    placed = []
    for k, part in enumerate(parts):
        size = math.sqrt(len(part))
        inner = {} if len(part) == 1 else nx.kamada_kawai_layout(part, scale=size)
        x, y = 4.0 * size * (k % wide), 4.0 * size * (k // wide)
        zero = (0.0, 0.0)
        placed.append(
            {
                label: (x + float(inner.get(label, zero)[0]), y + float(inner.get(label, zero)[1]))
                for label in part
            }
        )
    return placed


def _by_hosts(agents: Mapping[Label, AgentView]) -> list[tuple[float, float]]:
    """Hosts on a circle, and the agents of each like the seeds of a sunflower."""
    shares: dict[str | None, list[Label]] = {}
    for label, agent in agents.items():
        shares.setdefault(agent.host, []).append(label)
    radius = math.sqrt(max(len(share) for share in shares.values()))
    circle = 0.0 if len(shares) == 1 else 1.3 * radius / math.sin(math.pi / len(shares))
    found: dict[Label, tuple[float, float]] = {}
    for k, share in enumerate(shares.values()):
        angle = 2.0 * math.pi * k / len(shares)
        x, y = circle * math.cos(angle), circle * math.sin(angle)
        for i, label in enumerate(share):
            turn, away = i * GOLDEN, math.sqrt(i + 0.5)
            found[label] = x + away * math.cos(turn), y + away * math.sin(turn)
    return [found[label] for label in agents]
