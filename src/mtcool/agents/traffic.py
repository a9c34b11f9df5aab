"""What an activation costs: messages to other agents and their bytes, by the encoding itself.

The size of a message depends on its sender's name and on how many numbers it carries, and not on
the numbers. So one message of each shape is encoded, and counted as often as it would be sent.
"""

import functools
from typing import NamedTuple

import numpy as np

from mtcool.agents.messages import Gradient, LossShared, Message, RowRequest, Rows, Sums, encode
from mtcool.field.sizes import name_size, name_sizes
from mtcool.graphs import Graph
from mtcool.peers.cliques import CliquePeers
from mtcool.peers.field.records import FieldPeers
from mtcool.peers.private import PrivatePeers
from mtcool.peers.settings import Settings
from mtcool.peers.single_task import SingleTaskPeers
from mtcool.streams.kinds import name_of
from mtcool.streams.losses import Losses
from mtcool.types import AnyArray, Integers, PeersBlock

NUMBER = 1.0  # of a message: a float, so that all are as long


class Traffic(NamedTuple):
    """What leaves agents when each of them is active once; what an agent tells itself is free.

    Examples
    --------
    >>> import numpy as np
    >>> Traffic(messages=np.array([3, 3]), size=np.array([90, 90])).messages.sum()
    np.int64(6)
    """

    messages: Integers
    """Requests, answers, gradients, sums and losses."""
    size: Integers
    """Their bytes."""


@functools.singledispatch
def traffic(peers: PeersBlock, settings: Settings, graph: Graph, losses: Losses) -> Traffic | None:
    """Messages and bytes of an activation, for every agent.

    None if nothing is registered for this kind of peers: then nobody knows what travels.

    Parameters
    ----------
    peers
        The agents of a network in one block: its kind decides what they send.
    settings
        What all agents were told.
    graph
        Who talks to whom.
    losses
        What agents learn from: ST-FTRL sends the losses themselves.

    Examples
    --------
    >>> import mtcool
    >>> net = mtcool.mt_co2ol(mtcool.graphs.star(3), dim=1)
    >>> losses = mtcool.streams.quadratic([[0.5]])
    >>> traffic(net.peers, net.settings, net.graph, losses).messages.tolist()
    [6, 3, 3]
    """
    return None


@traffic.register
def _(peers: SingleTaskPeers, settings: Settings, graph: Graph, losses: Losses) -> Traffic:
    others = graph.neighbourhood_sizes - 1
    kind, row = losses.kind, np.zeros(losses.rows.shape[1])
    loss = _without_name(LossShared(0, NUMBER, name_of(kind), list(kind), row))
    return Traffic(others, others * (loss + name_sizes(graph.labels)))


@traffic.register
def _(peers: CliquePeers, settings: Settings, graph: Graph, losses: Losses) -> Traffic:
    model, no_experts = np.zeros(settings.dim), np.zeros(0)
    told = _without_name(Gradient(0, NUMBER, model))
    if settings.algorithm.kept_by_members:  # nobody is asked
        # A clique has two members, or one that tells nobody.
        members = np.bincount(peers.clique)
        others = _per_agent(peers, members[peers.clique] > 1)
        return Traffic(others, others * (told + name_sizes(graph.labels)))
    carried = told + _without_name(Rows(0, model, no_experts))
    return _asked_and_told(peers, graph, np.full(1, carried))


@traffic.register
def _(peers: PrivatePeers, settings: Settings, graph: Graph, losses: Losses) -> Traffic:
    # Not counted is the noise that private agents publish once, before they learn.
    model, experts = np.zeros(settings.dim), peers.products
    carried = np.zeros(int(experts.max()) + 1, np.int64)
    for count in np.unique(experts):
        answer = Rows(0, model, np.zeros(count * settings.dim))
        told = Sums(0, NUMBER, model, np.zeros(count))
        carried[count] = _without_name(answer) + _without_name(told)
    return _asked_and_told(peers, graph, carried[experts])


@functools.singledispatch
def said(peers: PeersBlock, agents: Integers) -> Traffic | None:
    """What the activations of these agents have cost so far, if they do not always cost as much.

    None if they do: then `traffic` knows.

    Examples
    --------
    >>> import mtcool
    >>> seldom = mtcool.Messages(every=2)
    >>> net = mtcool.mt_co2ol(mtcool.graphs.star(3), 1, rates="adaptive", messages=seldom)
    >>> net.update(0, [0.5])
    >>> said(net.peers, np.arange(3)).messages
    array([6, 0, 0])
    """
    return None


@said.register
def _(peers: FieldPeers, agents: Integers) -> Traffic:
    counts = peers.state.agents
    return Traffic(counts["messages"][agents], counts["bytes"][agents])


def _asked_and_told(peers: CliquePeers | PrivatePeers, graph: Graph, carried: Integers) -> Traffic:
    """Count a request, its answer and what is told in the end; `carried` is in the last two."""
    names = name_sizes(graph.labels)
    # There may be many millions of models to fetch: few bytes for each, and no copies.
    agents = np.arange(graph.size, dtype=peers.clique.dtype)
    from_others = peers.clique != np.repeat(agents, np.diff(peers.ptr))
    size = names.astype(np.int32)[peers.clique]
    size += carried.astype(np.int32)
    size *= from_others
    others = _per_agent(peers, from_others)
    asked = others * (_without_name(RowRequest(0)) + 2 * names)
    return Traffic(3 * others, asked + _per_agent(peers, size))


def _per_agent(peers: CliquePeers | PrivatePeers, values: AnyArray) -> Integers:
    """Sum over what each agent fetches, which is one model at least."""
    sums: Integers = np.add.reduceat(values, peers.ptr[:-1], dtype=np.int64)
    return sums


def _without_name(message: Message) -> int:
    """Bytes of a message without its sender's name."""
    return len(encode(message)) - name_size(message.sender)
