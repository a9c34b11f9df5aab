"""The channels of agents that are silent in some rounds, and what their rounds may cost."""

from typing import NamedTuple

import numpy as np

from mtcool.field.messages import MOST, Messages
from mtcool.field.settings import FieldSettings
from mtcool.field.sizes import HEAD, NUMBER, content_size, name_sizes
from mtcool.graphs import Graph
from mtcool.peers.entries import Entries, freeze
from mtcool.peers.quiet import Policy
from mtcool.privacy.settings import PrivacySettings
from mtcool.types import Floats, Integers


class Silence(NamedTuple):
    """Two channels for each agent that has neighbours; fields as in `QuietPeers`."""

    entries: Entries
    """Of all channels."""
    owner: Integers
    """The agent of each channel."""
    silent: Integers
    own: Integers


def silence_of(entries: Entries, graph: Graph) -> Silence:
    """Add a channel for the silent rounds of each agent that has neighbours.

    Examples
    --------
    >>> from mtcool.graphs import complete
    >>> entries = Entries(np.array([0, 2, 4]), *np.array([[0, 1, 0, 1], [0, 2, 1, 3]]), np.ones(4))
    >>> silence_of(entries, complete(2)).silent
    array([2, 3])
    """
    agents, by = np.arange(graph.size), entries.by
    mine = np.flatnonzero(entries.clique == by)
    if len(mine) < graph.size:
        absent = int(np.setdiff1d(agents, by[mine])[0])
        raise ValueError(
            "weights must be positive for the agents themselves where rounds may be silent, got 0 "
            f"for agent {graph.labels[absent]!r}"
        )
    others = np.flatnonzero(np.diff(entries.ptr) > 1)
    silent = agents.copy()
    silent[others] = graph.size + np.arange(len(others))
    again = mine[others]
    whole = Entries(
        np.concatenate((entries.ptr, entries.ptr[-1] + 1 + np.arange(len(others)))),
        np.concatenate((entries.clique, entries.clique[again])),
        np.concatenate((entries.row, entries.row[again])),
        np.concatenate((entries.weight, np.ones(len(others)))),
    )
    own = mine - entries.ptr[:-1]
    freeze(*whole, silent, own)
    return Silence(whole, np.concatenate((agents, others)), silent, own)


def policy_of(field: FieldSettings) -> Policy:
    """When agents talk, as plain numbers."""
    given = field.messages
    return Policy(
        np.uint64(field.seed),
        given.every,
        given.probability,
        MOST if given.budget is None else given.budget,
        MOST if given.budget_bytes is None else given.budget_bytes,
    )


def cost_of_talking(entries: Entries, products: Integers, graph: Graph, dim: int) -> Integers:
    """Messages of a round in which each agent talks, and their bytes, (2, agents).

    A request, an answer with the rows of experts, and sums, for each neighbour.
    """
    agents, names = np.arange(graph.size), name_sizes(graph.labels)
    others = entries.clique != entries.by
    carried = np.array([_carried(count, dim) for count in range(int(products.max()) + 1)])
    each = others * (carried[products] + names[entries.clique])
    number = np.bincount(entries.by[others], minlength=len(agents))
    size = np.bincount(entries.by, weights=each, minlength=len(agents)).astype(np.int64)
    return np.stack((3 * number, size + number * (HEAD + 2 * names)))


def _carried(experts: int, dim: int) -> int:
    """Bytes of an answer and of sums, without the names of their senders."""
    model = content_size(8 * dim)
    rows = HEAD + model + content_size(8 * dim * experts)
    return rows + HEAD + NUMBER + model + content_size(8 * experts)


def limits(
    messages: Messages, privacy: PrivacySettings, silence: Silence, cost: Integers
) -> Integers:
    """The most rounds of every channel, for which its noise is made: all, if it is for silence.

    For talking, as many as the policy allows, at least one. The paper's noise is made for all.
    """
    limit = np.array(privacy.horizon, np.int64)[silence.owner]
    talking = np.flatnonzero(silence.silent != np.arange(len(silence.silent)))
    if privacy.calibration == "paper":
        return limit
    limit[talking] = -(-limit[talking] // messages.every)
    for budget, each in zip((messages.budget, messages.budget_bytes), cost, strict=True):
        if budget is not None:
            limit[talking] = np.minimum(limit[talking], budget // each[talking])
    return np.asarray(np.maximum(limit, 1))


def places(entries: Entries, products: Integers, own: Integers, dim: int) -> Integers:
    """Where the products of each agent's own clique begin in what the agent publishes."""
    before = np.concatenate(([0], np.cumsum(products)))
    first = entries.ptr[: len(own)]
    return np.asarray(dim + before[first + own] - before[first])


def shares_of_time(messages: Messages, q: Floats, owner: Integers) -> Floats:
    """How often each channel is active, if its agent is with probability q."""
    share = messages.probability / messages.every
    silent = np.arange(len(owner)) >= len(q)
    two = np.isin(owner, owner[silent])
    return q[owner] * np.where(silent, 1.0 - share, np.where(two, share, 1.0))
