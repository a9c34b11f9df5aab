"""The two functions that every kind of peers has an implementation of."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from mtcool.agents.agent import Agent
from mtcool.graphs import Graph
from mtcool.peers.exchange import Exchange
from mtcool.peers.settings import Settings
from mtcool.privacy.noise import Noise
from mtcool.types import AnyArray, Floats, PeersBlock


class Joined(NamedTuple):
    """What a network in one block is made of, besides settings and graph."""

    weights: Floats
    """A weight for each entry of the graph."""
    arrays: dict[str, AnyArray]
    """Its state, as it would be saved."""
    noise: Noise | None = None
    """The source of noise of private agents."""


@functools.singledispatch
def cut(
    peers: PeersBlock, settings: Settings, graph: Graph, exchange: Exchange, agent: int
) -> Agent:
    """Cut an agent out of a network, with a copy of its part of the state."""
    raise ValueError(
        f"peers must be of a kind that `mtcool.agents.cut` is registered for, got {peers!r}"
    )


@functools.singledispatch
def join(first: Agent, graph: Graph, agents: Sequence[Any]) -> Joined:
    """Join agents, in the order of the graph, to one block; `first` is the first of them."""
    raise ValueError(
        f"agents must be of a kind that `mtcool.agents.join` is registered for, got {first!r}"
    )
