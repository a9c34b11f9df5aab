"""The agents of a graph, each once, in the order of the graph."""

from __future__ import annotations

from collections.abc import Iterable

from mtcool.agents.agent import Agent
from mtcool.graphs import Graph, GraphLike, as_graph
from mtcool.types import Label


def in_order(agents: Iterable[Agent], graph: GraphLike) -> tuple[Graph, list[Agent]]:
    """The graph, and its agents in its order; refuses strangers, gaps and repetitions."""
    if not isinstance(agents, Iterable):
        raise ValueError(f"agents must be agents of a network, got {agents!r}")
    whole = as_graph(graph)
    by_name: dict[Label, Agent] = {}
    for agent in agents:
        if not all(hasattr(agent, name) for name in ("name", "settings", "receive")):
            raise ValueError(f"agents must be agents of a network, got {agent!r} among them")
        if agent.name in by_name:
            raise ValueError(f"agents must have different names, got {agent.name!r} twice")
        by_name[agent.name] = agent
    known = set(whole.labels)
    missing = [label for label in whole.labels if label not in by_name]
    unknown = [name for name in by_name if name not in known]
    if missing or unknown:
        raise ValueError(
            f"agents must be exactly those of the graph; missing: {missing}, unknown: {unknown}"
        )
    return whole, [by_name[label] for label in whole.labels]
