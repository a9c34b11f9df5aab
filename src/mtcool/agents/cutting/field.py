"""Networks in the field: every agent keeps its clique, and what it heard of each neighbour."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import NamedTuple

import numpy as np

from mtcool.agents.cutting.kinds import cut
from mtcool.agents.cutting.settings import settings_of
from mtcool.agents.field.account import ReceivedWeights
from mtcool.agents.field.agent import FieldAgent
from mtcool.agents.field.clique import FieldClique
from mtcool.agents.field.neighbour import ArrivedRow, Neighbour
from mtcool.agents.received import Position
from mtcool.axes import Location, copy_cliques
from mtcool.graphs import Graph
from mtcool.peers.exchange import Exchange
from mtcool.peers.field.exchange import FieldExchange
from mtcool.peers.field.records import LABELS, WAITING, FieldPeers
from mtcool.peers.settings import Settings
from mtcool.types import Integers, Label


class Owners(NamedTuple):
    """Who has which row of which clique, by clique: agents that have left included."""

    start: Integers
    """What is said of clique c stands in start[c]:start[c + 1]."""
    agent: Integers
    """Whose row it is."""
    slot: Integers
    """Where it is in the clique."""

    @classmethod
    def of(cls, peers: FieldPeers, wanted: Sequence[int]) -> Owners:
        """The rows behind the entries of a network, in the cliques of some agents."""
        agents, cliques, edges = peers.state.agents, peers.state.cliques, peers.state.edges
        ever = agents["ever"].astype(np.int64)
        before = np.cumsum(ever) - ever
        entry = np.repeat(agents["first"] - before, ever) + np.arange(ever.sum())
        agent = np.repeat(np.arange(len(agents)), ever)
        inside = np.zeros(len(agents), np.bool_)
        inside[np.asarray(wanted, np.int64)] = True
        chosen = inside[edges.clique[entry]]
        entry, agent = entry[chosen], agent[chosen]
        clique = edges.clique[entry].astype(np.int64)
        slot = edges.row[entry].astype(np.int64) - cliques["first"][clique]
        order = np.lexsort((slot, clique))
        start = np.searchsorted(clique[order], np.arange(len(agents) + 1))
        return cls(start, agent[order], slot[order])


class DynamicBlock(NamedTuple):
    """A network that agents are cut out of."""

    peers: FieldPeers
    settings: Settings
    names: Sequence[Label]
    """Of all agents that it has known."""
    start: Graph
    """As it was in the beginning."""
    owners: Owners

    def origin(self, index: int) -> tuple[Label, ...] | None:
        """An agent and its neighbours in the beginning; None if it joined later."""
        if index >= self.start.size:
            return None
        return tuple(self.names[j] for j in self.start.neighbours(index).tolist())


@cut.register
def _(
    peers: FieldPeers, settings: Settings, graph: Graph, exchange: Exchange, agents: Sequence[int]
) -> Iterator[FieldAgent]:
    messages, labels = peers.state.counters[[WAITING, LABELS]].tolist()
    if messages or labels:
        raise ValueError(
            "network must have nothing under way when agents are cut out of it, got "
            f"{messages} messages and {labels} labels that are still to come"
        )
    if not isinstance(exchange, FieldExchange):
        raise ValueError(f"exchange must be in the field as the peers are, got {exchange!r}")
    known = exchange.names
    wanted = [known.index(graph.labels[i]) for i in agents]
    block = DynamicBlock(peers, settings, known.labels, known.start, Owners.of(peers, wanted))
    for index in wanted:
        yield _agent(block, index)


def _agent(block: DynamicBlock, index: int) -> FieldAgent:
    state, names, rows = block.peers.state, block.names, block.owners
    a, edges = state.agents[index], state.edges
    here = slice(int(rows.start[index]), int(rows.start[index + 1]))
    owners, slots = rows.agent[here].tolist(), rows.slot[here].tolist()
    neighbours, weights = {}, {}
    for e in range(int(a["first"]), int(a["first"] + a["count"])):
        other = int(edges.clique[e])
        if len(edges.weight):
            weights[names[other]] = float(edges.weight[e])
        if other != index:
            neighbours[names[other]] = _neighbour(block.peers, other, e)
    return FieldAgent(
        names[index],
        index,
        settings_of(block.settings, index),
        _clique(block, index, {names[j]: slot for j, slot in zip(owners, slots, strict=True)}),
        neighbours,
        weights or None,
        {names[j]: _up_to(int(state.agents[j]["begun"])) for j in owners if j != index},
        origin=block.origin(index),
        begun=int(a["begun"]),
        fresh=bool(a["fresh"]),
        present=True,
        messages=int(a["messages"]),
        message_bytes=int(a["bytes"]),
    )


def _clique(block: DynamicBlock, index: int, rows: dict[Label, int]) -> FieldClique:
    c = block.peers.state.cliques[index]
    slots, first = int(c["slots"]), int(c["first"])
    clique = FieldClique(
        settings_of(block.settings, index),
        slots,
        float(c["bound"]),
        rows,
        int(c["doublings"]),
        ReceivedWeights(**{field.name: float(c[field.name]) for field in fields(ReceivedWeights)}),
    )
    there = Location.of(index, first, first + slots)
    copy_cliques(block.peers.state.learner, there, clique.state, Location.of(0, 0, slots))
    return clique


def _neighbour(peers: FieldPeers, other: int, entry: int) -> Neighbour:
    """What an agent keeps of a neighbour."""
    edges = peers.state.edges
    score = float(edges.score[entry]) if len(edges.score) else math.inf
    found = Neighbour(other, score)
    if len(edges.kept) and edges.number[entry] >= 0:
        number, stamp = int(edges.number[entry]), float(edges.stamp[entry])
        found.kept = ArrivedRow(number, stamp, edges.kept[entry].copy())
    return found


def _up_to(rounds: int) -> Position:
    """All of so many rounds were taken, or will never come."""
    position = Position()
    position.last = rounds
    return position
