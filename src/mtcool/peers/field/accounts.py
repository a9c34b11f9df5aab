"""What the cliques of a network in the field have received, as bounds want to know it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mtcool.peers.field.records import FieldPeers
from mtcool.peers.settings import Settings
from mtcool.types import State

if TYPE_CHECKING:
    from mtcool.theory import Received


def received(peers: FieldPeers, settings: Settings, agents: int) -> Received:
    """The account of all cliques; there are so many agents, and each of them has one."""
    from mtcool.theory import Received

    state = peers.state
    # An agent that is known and has not joined yet has no clique.
    there = np.flatnonzero(state.cliques["slots"][:agents])
    cliques = state.cliques[there]
    inner: State = getattr(state.learner, "inner", state.learner)
    updates = inner.n[there].astype(np.float64)
    if settings.rates == "adaptive":
        lagged = state.learner.received[there]
    elif cliques["late"].any():
        raise ValueError(
            f'rates must be "adaptive" for a bound where gradients are late, got {settings.rates!r}'
        )
    else:
        lagged = cliques["bound"] ** 2 * updates
    # Where nobody sums weights up, they are at most their bound.
    weights = cliques["received"] if peers.rules.late else cliques["bound"] * updates
    bits, root = peers.rules.bits, np.sqrt(settings.dim)
    return Received(
        members=[_members(peers, agent) for agent in there.tolist()],
        slots=cliques["slots"].astype(np.float64),
        start=cliques["slots"] / 2.0 ** cliques["doublings"],
        bound=cliques["bound"].copy(),
        first_bound=cliques["first_bound"].copy(),
        updates=updates,
        squares=np.maximum(lagged - cliques["lags"], 0.0),
        lagged=lagged,
        lag=cliques["lag"].copy(),
        late=cliques["late"].copy(),
        # What is under way may be lost: rounding leaves a little of what has come.
        lost=cliques["lost"] + np.maximum(cliques["under_way"], 0.0),
        # On average a row is moved by at most half a step in each coordinate.
        moved=weights * root / (2.0**bits - 1.0) if bits > 0 else np.zeros(len(there)),
        power=peers.rules.power,
        in_expectation=bits > 0,
    )


def _members(peers: FieldPeers, agent: int) -> list[int]:
    """All agents that ever had a row in the clique of an agent."""
    a = peers.state.agents[agent]
    first = int(a["first"])
    return peers.state.edges.clique[first : first + int(a["ever"])].tolist() or [agent]
