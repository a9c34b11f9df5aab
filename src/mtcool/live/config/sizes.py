"""How long questions and replies of a network may be: its limit must leave room for them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mtcool.graphs import Graph
from mtcool.graphs.labels import plain_name
from mtcool.learners import MTFTRL
from mtcool.live.config import tables
from mtcool.live.wire import HEAD, name_bytes
from mtcool.types import Label

USUAL = 1 << 20
"""Bytes of a question or a reply that are taken where the file does not say, and needs no more."""
NUMBER = 8
AROUND = 96
"""Bytes of an item beside names and vectors, at most: its kind, counts, and how long parts are."""


def largest_of(file: tables.NetworkFile, graph: Graph, home: Mapping[Label, str]) -> int:
    """Bytes of one question or reply that hosts take from each other.

    As the file says, or else so many that all agents can be asked and told what they must be. A
    file that says less is refused, because such a network could never talk.

    Parameters
    ----------
    file
        What the file says.
    graph
        Who is whose neighbour.
    home
        The host of each agent.

    Examples
    --------
    >>> from mtcool.live import described
    >>> table = {"name": "demo", "graph": {"kind": "ring", "agents": 4}, "shards": {"count": 2}}
    >>> table |= {"learn": {"features": ["x"]}}
    >>> described(table).largest
    1048576
    >>> described(table | {"limits": {"message": 99}})
    Traceback (most recent call last):
    ...
    ValueError: limits.message must be at least 425 bytes for what these hosts ask and reply, got 99
    """
    needed, given = needed_by(file, graph, home), file.limits.message
    if given is None:
        return max(USUAL, needed)
    if given < needed:
        raise ValueError(
            f"limits.message must be at least {needed} bytes for what these hosts ask and reply, "
            f"got {given}"
        )
    return given


def needed_by(file: tables.NetworkFile, graph: Graph, home: Mapping[Label, str]) -> int:
    """Bytes of the longest question, reply or message to learn from, or some more.

    A question asks all neighbours that an agent has on one host.

    Parameters
    ----------
    file, graph, home
        As in `largest_of`.

    Examples
    --------
    >>> from mtcool.live import described
    >>> network = described({"name": "demo", "graph": {"kind": "ring", "agents": 4},
    ...     "shards": {"count": 2}, "algorithm": {"dim": 100}})
    >>> needed_by(network.file, network.graph, network.home)
    1002
    """
    asked = _most_asked(graph, home)
    if asked == 0:
        return 0
    answer, message = _numbers(file, graph)
    labels = graph.labels
    # Names that are whole numbers are all of one length, at most; and there may be a million.
    few = labels[-1:] if isinstance(labels, range) else labels
    name = max(name_bytes(plain_name(label, "sent")) for label in few)
    question = asked * (2 * name + AROUND)
    reply = asked * (NUMBER * answer + name + AROUND)
    told = NUMBER * message + 2 * name + AROUND
    return HEAD + max(question, reply, told)


def _most_asked(graph: Graph, home: Mapping[Label, str]) -> int:
    """How many neighbours an agent has on one other host, at most."""
    hosts = {host: k for k, host in enumerate(dict.fromkeys(home.values()))}
    if len(hosts) == 1:
        return 0
    where = np.array([hosts[home[label]] for label in graph.labels], np.int64)
    owner = np.repeat(np.arange(graph.size), np.diff(graph.ptr))
    there = where[graph.idx]
    away = there != where[owner]
    pairs = owner[away] * len(hosts) + there[away]
    return int(np.unique(pairs, return_counts=True)[1].max(initial=0))


def _numbers(file: tables.NetworkFile, graph: Graph) -> tuple[int, int]:
    """Numbers in an answer to a request for a row, and in a message to learn from."""
    table = file.algorithm
    if file.learn is not None:
        from mtcool.learn.exchange import knowledge_size, lesson_size, products_size

        width = len(file.learn.features) + 1
        products = products_size(width) if file.learn.share == "rows" else 0
        return knowledge_size(width) + products, lesson_size(width)
    assert table is not None  # one of the two is given
    experts = 0 if file.privacy is None else _experts(table, int(np.diff(graph.ptr).max()))
    return table.dim * (1 + experts), table.dim + max(1, experts)


def _experts(table: tables.AlgorithmTable, size: int) -> int:
    """Experts of the largest clique of a private network, whose rows travel.

    Those of a learner from outside are not known: if they need more, replies are refused in words.
    """
    if table.learner not in (None, "MTFTRL"):
        return 0
    given = table.learner_parameters.get("experts", table.experts)
    if not isinstance(given, str | list):
        return 0  # it is refused where the learner is made
    learner = MTFTRL(experts=given if isinstance(given, str) else tuple(given))
    return len(learner.variances(size))
