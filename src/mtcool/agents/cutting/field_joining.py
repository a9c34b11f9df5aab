"""From agents in the field back to a network in one block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from mtcool.agents.cutting.kinds import Joined, join
from mtcool.agents.cutting.settings import joint_settings
from mtcool.agents.field.account import ReceivedWeights
from mtcool.agents.field.agent import FieldAgent
from mtcool.agents.field.neighbour import Neighbour
from mtcool.axes import CLIQUE, EXPERT, ROW, Location, copy_cliques, enlarged, longer
from mtcool.graphs import Graph
from mtcool.learners import MTFTRL, Cliques
from mtcool.learners.mt_ftrl.capacity import with_experts
from mtcool.peers.field import records
from mtcool.peers.field.capacity import Need, enlarge
from mtcool.peers.field.directory import Directory
from mtcool.peers.field.entries import clear
from mtcool.peers.field.exchange import FieldExchange
from mtcool.peers.field.records import Capacity, Edges, FieldPeers
from mtcool.peers.settings import Settings
from mtcool.types import AnyArray, Floats, Integers, State

NONE = -1
ROUNDING = 1e-9  # of sums of weights, which two agents add up


@join.register
def _(first: FieldAgent, graph: Graph, agents: Sequence[FieldAgent]) -> Joined:
    settings = joint_settings(agents)
    _check_places(agents)
    for place, agent in enumerate(agents):
        _check(graph, agents, place, agent)
    fresh = settings.algorithm.peers(settings, graph, _weights(graph, agents))
    peers = _peers(fresh, settings, graph, agents)
    start = _start(agents)
    directory = Directory(start, graph.labels[start.size :])
    exchange = FieldExchange(peers, settings, directory)
    exchange.begin()  # nobody hears what is new; but edges may be slow
    return Joined(settings, _weights(start, agents), None, exchange=exchange)


def _start(agents: Sequence[FieldAgent]) -> Graph:
    """The graph in the beginning, of the agents that there were."""
    places = {agent.name: agent.index for agent in agents}
    origins = [sorted(places[name] for name in agent.origin or ()) for agent in agents]
    while origins and not origins[-1]:
        origins.pop()
    origins = origins or [[0]]  # agents that began with one of them
    ptr = np.cumsum([0, *(len(near) for near in origins)])
    names = [agent.name for agent in agents[: len(origins)]]
    return Graph(ptr, [j for near in origins for j in near], names)


def _peers(
    fresh: FieldPeers, settings: Settings, graph: Graph, agents: Sequence[FieldAgent]
) -> FieldPeers:
    """Peers that know what the agents know; `fresh` ones have the same graph, and know nothing."""
    learner, tables, experts = _learner(settings, agents)
    cliques = _cliques(graph, agents)
    size = Capacity(int(cliques["used"].sum()), int(cliques["slots"].sum()), experts)
    counters = np.zeros(records.COUNTERS, np.int64)
    counters[records.CLOCK] = sum(agent.begun for agent in agents)
    counters[records.AGENTS] = len(agents)
    counters[[records.ENTRIES, records.ROWS, records.EXPERTS]] = size
    bare = fresh._replace(
        state=fresh.state._replace(
            learner=learner,
            agents=_agents(fresh, agents),
            cliques=cliques,
            edges=_edges(fresh.state.edges, graph, agents, cliques["first"]),
            counters=counters,
        ),
        capacity=size,
        tables=fresh.tables if tables is None else tables,
    )
    doubled = tuple((2 * np.unique(cliques["slots"])).tolist())
    most = int(graph.neighbourhood_sizes.max())
    return enlarge(bare, settings, Need(sizes=doubled, neighbours=most))


def _learner(
    settings: Settings, agents: Sequence[FieldAgent]
) -> tuple[State, Integers | None, int]:
    """The state of all cliques; for learners with experts, where they are listed, and how many."""
    slots = np.array([agent.clique.slots for agent in agents])
    bound = np.array([agent.clique.bound for agent in agents])
    start = np.concatenate(([0], np.cumsum(slots)))
    made = settings.clique_learner.make_state(Cliques(start, bound, bound), settings.dim)
    inner: State = getattr(made, "inner", made)
    rows, most, table, tables, experts = int(start[-1]), int(slots.max()), np.zeros((2, 0)), None, 0
    if isinstance(settings.learner, MTFTRL):
        _, which = np.unique(slots, return_index=True)
        tables = np.stack([inner.plan[name][which] for name in ("size", "table", "experts")])
        table, experts = inner.table, int(inner.plan["experts"].sum())
    guesses = 0 if tables is None else int(tables[2].max())
    state = enlarged(made, {CLIQUE: len(agents), ROW: rows, EXPERT: experts})
    state = with_experts(state, table, most, guesses)
    for c, agent in enumerate(agents):
        there = Location.of(c, int(start[c]), int(start[c + 1]))
        copy_cliques(agent.clique.state, Location.of(0, 0, int(slots[c])), state, there)
    return state, tables, experts


def _agents(fresh: FieldPeers, agents: Sequence[FieldAgent]) -> NDArray[np.void]:
    found = fresh.state.agents[: len(agents)].copy()  # with their names, and those around them
    found["ever"] = found["room"] = [len(agent.clique.rows) for agent in agents]
    found["first"] = np.cumsum(found["ever"]) - found["ever"]
    for name in ("begun", "fresh", "messages"):
        found[name] = [getattr(agent, name) for agent in agents]
    found["bytes"] = [agent.message_bytes for agent in agents]
    return found


def _cliques(graph: Graph, agents: Sequence[FieldAgent]) -> NDArray[np.void]:
    found = np.zeros(len(agents), records.CLIQUE)
    for name in ("slots", "doublings", "bound"):
        found[name] = [getattr(agent.clique, name) for agent in agents]
    found["used"] = [len(agent.clique.rows) for agent in agents]
    found["first"] = np.cumsum(found["slots"]) - found["slots"]
    for field in fields(ReceivedWeights):
        found[field.name] = [getattr(agent.clique.account, field.name) for agent in agents]
    for agent in agents:
        for heard, weight in agent.promised.items():
            found["under_way"][graph.index(heard)] += weight
    # What was promised and has not come is lost, because nothing is under way.
    missing = found["under_way"] > ROUNDING * found["received"]
    found["lost"] += np.where(missing, found["under_way"], 0.0)
    found["under_way"] = 0.0
    return found


def _edges(fresh: Edges, graph: Graph, agents: Sequence[FieldAgent], first: Integers) -> Edges:
    """The entries of all agents; `first` has the first row of each clique."""
    length = sum(len(agent.clique.rows) for agent in agents)
    arrays: tuple[AnyArray, ...] = fresh
    # An array that is not used stays empty.
    edges = Edges(*(longer(array[:0], length) if len(array) else array for array in arrays))
    entry = 0
    for place, agent in enumerate(agents):
        for other in _listens(graph, agent, place):
            edges.clique[entry] = other
            edges.row[entry] = first[other] + agents[other].clique.rows[agent.name]
            clear(edges, entry)
            near = agent.neighbours.get(graph.labels[other])
            if near is not None:
                _write(edges, entry, near)
            if len(edges.weight) and agent.weights is not None:
                edges.weight[entry] = agent.weights[graph.labels[other]]
            entry += 1
    return edges


def _listens(graph: Graph, agent: FieldAgent, place: int) -> list[int]:
    """Whom an agent listens to, ascending, then those that it once listened to."""
    present: list[int] = graph.neighbours(place).tolist()
    return present + sorted({graph.index(name) for name in agent.clique.rows} - set(present))


def _write(edges: Edges, entry: int, near: Neighbour) -> None:
    if len(edges.score):
        edges.score[entry] = near.score
    if len(edges.kept) and near.kept is not None:
        edges.number[entry], edges.stamp[entry], edges.kept[entry] = near.kept


def _weights(graph: Graph, agents: Sequence[FieldAgent]) -> Floats:
    """A weight for each entry of the graph."""
    sizes = graph.neighbourhood_sizes
    weights = np.repeat(1.0 / sizes, sizes)
    for i, agent in enumerate(agents):
        if agent.weights is not None:
            near = graph.neighbours(i).tolist()
            weights[graph.ptr[i] : graph.ptr[i + 1]] = [
                agent.weights[graph.labels[j]] for j in near
            ]
    return weights


def _check_places(agents: Sequence[FieldAgent]) -> None:
    """Refuse agents that are not all that their network has known: draws depend on places."""
    for place, agent in enumerate(agents):
        if agent.index != place or not agent.present:
            raise ValueError(
                "agents must be all that their network has known, in this order, got "
                f"{agent.name!r} of index {agent.index} in place {place}: one that has left must "
                "come back before"
            )


def _check(graph: Graph, agents: Sequence[FieldAgent], place: int, agent: FieldAgent) -> None:
    """Refuse an agent that others, or the graph, contradict."""
    near = {graph.labels[j] for j in graph.neighbours(place).tolist() if j != place}
    for name in near ^ set(agent.neighbours):
        knows = "knows" if name in agent.neighbours else "does not know"
        raise ValueError(
            f"agents must have the neighbours of the graph, got {agent.name!r}, which {knows} "
            f"{name!r}"
        )
    known = set(graph.labels)
    for name in agent.clique.rows:
        if name not in known or agent.name not in agents[graph.index(name)].clique.rows:
            raise ValueError(
                f"agents must be all that their network has known, got {agent.name!r}, which has a "
                f"row of {name!r}"
            )
