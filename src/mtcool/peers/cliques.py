"""Peers that keep a model of each neighbour's task: MT-CO2OL, i-FTRL, the pairwise approach."""

from typing import NamedTuple

from mtcool.kernels import inline
from mtcool.learners.learner import predict_row, update_row
from mtcool.peers.protocol import Units, fetch, observe, send, to_units
from mtcool.streams.losses import Kind, subgradient
from mtcool.types import Floats, Indices, Integers, State


class CliquePeers(NamedTuple):
    """Agents in this process that run a learner on the virtual clique of their neighbourhood.

    Entry e in ptr[i]:ptr[i + 1] says that agent i listens with `weight[e]` to clique `clique[e]`,
    where its own task is `row[e]`. Unsigned: a loop need not ask whether an index is negative.
    """

    ptr: Integers
    clique: Indices
    row: Indices
    weight: Floats
    state: State
    """State of the learner for all cliques."""
    units: Units
    models: Floats
    """Scratch for the models that one agent fetches, (largest number of entries, d)."""
    gradients: Floats
    """Scratch for the gradient that it observes, (1, d)."""


@fetch.register
def _(peers: CliquePeers, agent: int) -> tuple[Floats, Floats]:
    first, last = peers.ptr[agent], peers.ptr[agent + 1]
    fetch_rows(peers.state, peers.clique[first:last], peers.row[first:last], peers.models)
    return peers.models[: last - first], peers.weight[first:last]


@inline
def fetch_rows(state: State, cliques: Indices, rows: Indices, models: Floats) -> None:
    """Write the model of each row, one below the other."""
    for e in range(rows.shape[0]):
        # int: learners are compiled once, for 64-bit indices, whoever calls them
        predict_row(state, int(cliques[e]), int(rows[e]), models[e])


@observe.register
def _(peers: CliquePeers, agent: int, kind: Kind, row: Floats, x: Floats) -> int:
    subgradient(kind, row, x, peers.gradients[0])
    return 1


@send.register
def _(peers: CliquePeers, agent: int, gradients: Floats) -> bool:
    if not to_units(gradients[0], peers.units):
        return False
    learn(peers, peers.ptr[agent], peers.ptr[agent + 1], gradients[0])
    return True


@inline
def learn(peers: CliquePeers, first: int, last: int, gradient: Floats) -> None:
    """Let the cliques of the entries first:last learn from a gradient, in units."""
    cliques, rows = peers.clique[first:last], peers.row[first:last]
    weights = peers.weight[first:last]
    for e in range(rows.shape[0]):
        update_row(peers.state, int(cliques[e]), int(rows[e]), weights[e], gradient)
