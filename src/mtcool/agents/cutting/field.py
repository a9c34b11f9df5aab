"""Networks in the field: every agent keeps its clique, and what it heard of each neighbour."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import NamedTuple

import numpy as np

from mtcool.agents.cutting.kinds import cut
from mtcool.agents.cutting.settings import settings_of
from mtcool.agents.field.account import Account
from mtcool.agents.field.agent import FieldAgent
from mtcool.agents.field.clique import FieldClique
from mtcool.agents.field.neighbour import Kept, Neighbour, Told
from mtcool.agents.field.parts import copy_clique
from mtcool.agents.received import Position
from mtcool.graphs import Graph
from mtcool.peers.exchange import Exchange
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
    entry: Integers
    """The agent's entry for the clique."""

    @classmethod
    def of(cls, peers: FieldPeers) -> Owners:
        """The rows behind the entries of a network."""
        agents, cliques, edges = peers.state.agents, peers.state.cliques, peers.state.edges
        ever = agents["ever"].astype(np.int64)
        before = np.cumsum(ever) - ever
        entry = np.repeat(agents["first"] - before, ever) + np.arange(ever.sum())
        agent = np.repeat(np.arange(len(agents)), ever)
        clique = edges.clique[entry].astype(np.int64)
        slot = edges.row[entry].astype(np.int64) - cliques["first"][clique]
        order = np.lexsort((slot, clique))
        start = np.searchsorted(clique[order], np.arange(len(agents) + 1))
        return cls(start, agent[order], slot[order], entry[order])


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
    rows, names = Owners.of(peers), exchange.directory(graph)
    labels = names.labels
    for i in agents:
        index = names.index(graph.labels[i])
        yield _agent(peers, settings_of(settings, i), index, rows, labels)


def _agent(
    peers: FieldPeers, settings: Settings, index: int, rows: Owners, labels: Sequence[Label]
) -> FieldAgent:
    state, name = peers.state, labels[index]
    a, edges = state.agents[index], state.edges
    here = slice(int(rows.start[index]), int(rows.start[index + 1]))
    owners = rows.agent[here].tolist()
    clique = _clique(
        peers,
        settings,
        index,
        {labels[j]: slot for j, slot in zip(owners, rows.slot[here].tolist(), strict=True)},
    )
    theirs = dict(zip(owners, rows.entry[here].tolist(), strict=True))
    neighbours, weights = {}, {}
    for e in range(int(a["first"]), int(a["first"] + a["count"])):
        other = int(edges.clique[e])
        if len(edges.weight):
            weights[labels[other]] = float(edges.weight[e])
        if other != index:
            neighbours[labels[other]] = _neighbour(peers, other, e, theirs[other])
    heard = {labels[j]: _up_to(int(state.agents[j]["begun"])) for j in owners if j != index}
    return FieldAgent(
        name,
        index,
        settings,
        clique,
        neighbours,
        weights or None,
        heard,
        begun=int(a["begun"]),
        fresh=bool(a["fresh"]),
        present=True,
        messages=int(a["messages"]),
        message_bytes=int(a["bytes"]),
    )


def _clique(
    peers: FieldPeers, settings: Settings, index: int, rows: dict[Label, int]
) -> FieldClique:
    c = peers.state.cliques[index]
    slots, first = int(c["slots"]), int(c["first"])
    clique = FieldClique(
        settings,
        slots,
        float(c["bound"]),
        rows,
        int(c["doublings"]),
        Account(**{field.name: float(c[field.name]) for field in fields(Account)}),
    )
    here, there = slice(0, slots), slice(first, first + slots)
    copy_clique(peers.state.learner, index, there, clique.state, 0, here)
    return clique


def _neighbour(peers: FieldPeers, other: int, entry: int, theirs: int) -> Neighbour:
    """What an agent keeps of a neighbour; `theirs` is the neighbour's entry for the agent."""
    edges = peers.state.edges
    score = float(edges.score[entry]) if len(edges.score) else math.inf
    found = Neighbour(other, score)
    if len(edges.kept) and edges.number[entry] >= 0:
        number, stamp = int(edges.number[entry]), float(edges.stamp[entry])
        found.kept = Kept(number, stamp, edges.kept[entry].copy())
    if len(edges.memory):
        found.memory = edges.memory[entry].copy()
        found.told = Told(edges.kept[theirs].copy(), None)
    return found


def _up_to(rounds: int) -> Position:
    """All of so many rounds were taken, or will never come."""
    position = Position()
    position.last = rounds
    return position
