"""The two functions that every kind of peers has an implementation of."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from mtcool.agents.agent import Agent
from mtcool.graphs import Graph
from mtcool.peers.exchange import Exchange
from mtcool.peers.field.exchange import FieldExchange
from mtcool.peers.settings import Settings
from mtcool.privacy.noise import Noise
from mtcool.types import AnyArray, Floats, PeersBlock


class Joined(NamedTuple):
    """What a network in one block is made of, besides its graph."""

    settings: Settings
    weights: Floats
    """A weight for each entry of the graph; in the field, of the graph in the beginning."""
    arrays: dict[str, AnyArray] | None
    """Its state, as it would be saved."""
    noise: Noise | None = None
    """The source of noise of private agents."""
    exchange: FieldExchange | None = None
    """Of agents in the field, instead of arrays: it knows how the graph has changed."""


@functools.singledispatch
def cut(
    peers: PeersBlock, settings: Settings, graph: Graph, exchange: Exchange, agents: Sequence[int]
) -> Iterator[Agent]:
    """Cut agents out of a network, each with a copy of its part of the state.

    Parameters
    ----------
    peers
        The agents of a network in one block: its kind decides how they are cut.
    settings
        What all agents were told.
    graph
        Who talks to whom.
    exchange
        What plays the rounds of the block.
    agents
        Those that are wanted, by their places in the graph.

    Examples
    --------
    >>> import mtcool
    >>> net = mtcool.i_ftrl(mtcool.graphs.star(4), dim=1)
    >>> [agent.name for agent in cut(net.peers, net.settings, net.graph, net.exchange, [1, 3])]
    [1, 3]
    """
    raise ValueError(
        f"peers must be of a kind that `mtcool.agents.cut` is registered for, got {peers!r}"
    )


@functools.singledispatch
def join(first: Agent, graph: Graph, agents: Sequence[Any]) -> Joined:
    """Join agents, in the order of the graph, to one block.

    Parameters
    ----------
    first
        The first of the agents: its kind decides how they are joined.
    graph
        Who talks to whom.
    agents
        All agents, in the order of the graph.

    Examples
    --------
    >>> import mtcool
    >>> net = mtcool.i_ftrl(mtcool.graphs.star(4), dim=1)
    >>> agents = list(net.agents().values())
    >>> join(agents[0], net.graph, agents).settings == net.settings
    True
    """
    raise ValueError(
        f"agents must be of a kind that `mtcool.agents.join` is registered for, got {first!r}"
    )
