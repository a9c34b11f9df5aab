"""A part of a graph, which is all that a host needs of it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from mtcool.graphs import Graph
from mtcool.types import Integers, Label

if TYPE_CHECKING:
    from mtcool.live.config.reading import Description

_Whole = TypeVar("_Whole")


def part_of(graph: Graph, nodes: Integers) -> Graph:
    """The graph that some nodes, in this order, and the edges between them make.

    Examples
    --------
    >>> from mtcool import graphs
    >>> part = part_of(graphs.ring(6), np.array([3, 2, 0]))
    >>> part.labels, part.neighbours(0)
    ((3, 2, 0), array([0, 1], dtype=int32))
    """
    place = np.full(graph.size, -1, np.int64)
    place[nodes] = np.arange(nodes.size)
    owner = np.repeat(place, np.diff(graph.ptr))
    other = place[graph.idx]
    inside = (owner >= 0) & (other >= 0)
    owner, other = owner[inside], other[inside]
    order = np.lexsort((other, owner))
    ptr = np.searchsorted(owner[order], np.arange(nodes.size + 1))
    return Graph(ptr, other[order], [graph.labels[i] for i in nodes.tolist()])


def within(graph: Graph, nodes: Integers, steps: int) -> Integers:
    """The nodes that are at most so many edges away from some of these, in their order.

    Examples
    --------
    >>> from mtcool import graphs
    >>> within(graphs.ring(9), np.array([4]), 2)
    array([2, 3, 4, 5, 6])
    """
    near = np.zeros(graph.size, np.bool_)
    near[nodes] = True
    for _ in range(steps):
        near[graph.idx[np.repeat(near, np.diff(graph.ptr))]] = True
    return np.flatnonzero(near)


def by_host(
    description: Description, make: Callable[[Graph], _Whole], steps: int
) -> Callable[[Label], _Whole]:
    """Makes what the agents of one host are cut out of: they, and who is so many edges away.

    One edge leads to their neighbours; the second to all who give these their weights. The last
    one is kept, because agents are made host by host.
    """
    graph, home = description.graph, description.home

    @functools.lru_cache(maxsize=1)
    def of_host(host: str) -> _Whole:
        own = np.array([graph.index(agent) for agent in description.agents_of(host)], np.int64)
        return make(part_of(graph, within(graph, own, steps)))

    anywhere = next(iter(description.places))
    return lambda agent: of_host(home.get(agent, anywhere))
