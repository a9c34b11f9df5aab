"""What agents in the field keep: one block of arrays for all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtcool.peers.protocol import Units
from mtcool.types import Floats, Indices, Integers, State

# An agent. Its entries are first:first + room in the arrays of entries: `count` of them are in use,
# ascending by neighbour, and those up to `ever` belong to neighbours that vanished.
AGENT = np.dtype(
    [
        ("first", np.int64),
        ("count", np.int32),
        ("ever", np.int32),
        ("room", np.int32),
        ("name", np.int32),  # bytes of its name in a message
        ("present", np.int8),
        ("fresh", np.int8),  # it joined a running network and was never active
        ("begun", np.int64),  # rounds that it has begun
        ("messages", np.int64),  # that its own activations have caused
        ("bytes", np.int64),
        ("around", np.int64),  # bytes of the names of all its neighbours together
    ],
    align=True,
)

# The clique of an agent. Its rows are first:first + slots, and the first `used` were given out.
CLIQUE = np.dtype(
    [
        ("first", np.int64),
        ("slots", np.int64),
        ("used", np.int64),
        ("doublings", np.int64),
        ("bound", np.float64),  # b, the largest weight that it was told to expect
        ("first_bound", np.float64),  # what it was told first
        ("received", np.float64),  # R, the sum of the weights that it has received
        ("lag", np.float64),  # most that it received between reading a row and its gradient
        ("lags", np.float64),  # twice the sum of weights times lags
        ("late", np.float64),  # sum of the weights of gradients for rows of another round
        ("under_way", np.float64),  # sum of the weights of gradients that are still to come
        ("lost", np.float64),  # sum of the weights of gradients that will not come
    ]
)

# A clique that an agent listened to in a round whose label is still to come.
TARGET = np.dtype(
    [
        ("clique", np.uint32),
        ("entry", np.uint32),  # where the edge was; it may have moved
        ("weight", np.float64),
        ("stamp", np.float64),  # what the clique had received when it gave the row
        ("help", np.float64),  # <gradient, own row - its row>
    ]
)

# A message under way: a gradient for a clique, or a row for an agent.
MESSAGE = np.dtype(
    [
        ("due", np.int64),  # the round at whose end it arrives
        ("next", np.int64),  # in the list of its bucket; -1 ends it
        ("sender", np.uint32),  # of a gradient: the agent that was active; of a row: who answers
        ("receiver", np.uint32),
        ("row", np.int32),  # of a gradient: where it belongs; of a row: -1
        ("entry", np.uint32),  # of a row: where the edge was; it may have moved
        ("number", np.int64),  # of the round of the active agent
        ("weight", np.float64),
        ("stamp", np.float64),
    ]
)

# A round whose label is still to come.
LABEL = np.dtype(
    [
        ("due", np.int64),
        ("next", np.int64),
        ("agent", np.int64),
        ("number", np.int64),
        ("count", np.int64),  # of its targets
        ("first", np.int64),  # of them
        ("room", np.int64),  # how many there is room for from there on, also if the place is free
    ]
)

BUCKETS = 4096
"""Lists of what is due: an entry stands in the list of its round modulo this number."""

# Where the counters are in `FieldState.counters`.
CLOCK, AGENTS, ENTRIES, ROWS, EXPERTS, WAITING, LABELS, TARGETS, VERSION = range(9)
COUNTERS = 9
# What `Round.key` holds: agent and version that the scratch is about; how many are asked and heard,
# the agent itself included; to how many others its gradient goes; bytes of the partners' names.
AGENT_OF, VERSION_OF, ASKED, HEARD, TOLD, NAMES = range(6)
KEYS = 6


class Rules(NamedTuple):
    """What `Messages` and `Delays` say, as plain numbers for compiled code."""

    seed: np.uint64
    plain: bool
    """Everybody asks everybody, exactly and at once: the fast way."""
    every: int
    probability: float
    partners: int
    best: bool
    budget: int
    budget_bytes: int
    bits: int
    """Zero if rows and gradients are not rounded."""
    power: float
    kappa: float
    silent: bool
    may_miss: bool
    late: bool
    """Something takes time, so that lags are measured."""
    lost: float
    row_constant: float
    row_mean: float
    row_bandwidth: float
    """Bytes that pass in a round; infinite if there is no limit."""
    gradient_constant: float
    gradient_mean: float
    gradient_bandwidth: float
    label_constant: float
    label_mean: float
    request_bytes: int
    """Without names, as the two that follow."""
    answer_bytes: int
    gradient_bytes: int


class Queue(NamedTuple):
    """Messages and labels under way, in lists by the round in which they are due."""

    first: Integers
    """First message of each bucket, or -1."""
    last: Integers
    places: Integers
    """Free places for messages, behind so many that mean nothing as there are waiting."""
    messages: NDArray[np.void]
    """Of type `MESSAGE`."""
    content: Floats
    """A vector for each message."""
    label_first: Integers
    label_last: Integers
    label_places: Integers
    """The same for labels."""
    labels: NDArray[np.void]
    """Of type `LABEL`."""
    gradients: Floats
    """A gradient for each label."""
    targets: NDArray[np.void]
    """Of type `TARGET`: whom the rounds of the labels listened to.

    Those of a label stand in a row, where its place has room for so many, or else behind all
    others, the first `TARGETS`. Room that nobody uses any more is found again in `capacity.py`.
    """


class Edges(NamedTuple):
    """The entries of all agents: an array that nobody needs is empty."""

    clique: Indices
    """The neighbour."""
    row: Indices
    """The agent's row, among the rows of all cliques."""
    weight: Floats
    """As given; empty if weights are uniform."""
    score: Floats
    """How much a neighbour's rows have helped; infinite if none was used."""
    number: Integers
    """The round of the agent that its kept row was asked for in; -1 if there is none."""
    stamp: Floats
    kept: Floats
    """The last row that arrived."""
    row_delay: Floats
    """Rounds that a row takes more than by the general law."""
    gradient_delay: Floats


class FieldState(NamedTuple):
    """All that a network in the field knows, and all that is saved of it."""

    learner: State
    agents: NDArray[np.void]
    """Of type `AGENT`."""
    cliques: NDArray[np.void]
    """Of type `CLIQUE`."""
    edges: Edges
    queue: Queue
    counters: Integers
    """See `CLOCK` and those that follow."""


class RoundScratch(NamedTuple):
    """Scratch for the round that is played: whom the active agent listens to."""

    asked: Indices
    """The entries of the partners and of the agent itself, ascending."""
    waits: Integers
    """In how many rounds their answers, or the gradients for those heard, arrive; -1 for never."""
    heard: Indices
    """The entries whose rows are there, ascending."""
    weights: Floats
    """Theirs, as the two that follow."""
    stamps: Floats
    """What their cliques had received when they gave their rows."""
    helps: Floats
    """<gradient, own row - their row>, if the best are chosen."""
    others: Integers
    """Neighbours that may be asked."""
    scores: Floats
    keys: Floats
    draws: Floats
    order: Integers
    chosen: Integers
    """Which of them are."""
    own: Floats
    """The agent's row in its own clique, (dim,)."""
    coded: Floats
    """What is sent, (dim,)."""
    key: Integers
    """See `AGENT_OF` and those that follow."""


class Capacity(NamedTuple):
    """How much there is room for."""

    entries: int
    rows: int
    experts: int


class FieldPeers(NamedTuple):
    """Agents in this process that live in the field."""

    state: FieldState
    units: Units
    rules: Rules
    capacity: Capacity
    tables: Integers
    """For every number of slots that a clique may have: it, where its experts are, and how many."""
    models: Floats
    """Scratch for the rows that one agent fetches, (most, dim)."""
    gradients: Floats
    """Scratch for the gradient that it observes, (1, dim)."""
    work: RoundScratch
