"""What is under way: messages and labels, in lists by the round in which they are due.

A list is a bucket, chosen by the round modulo their number, so that putting something in and taking
it out takes the same time however much is under way. What is due in a later round of the same
bucket stays, and is passed over once in `BUCKETS` rounds. Lists keep the order in which their
entries came.
"""

import math

import numpy as np
from numpy.typing import NDArray

from mtcool.field.draws import draw
from mtcool.field.vectors import whole
from mtcool.kernels import inline
from mtcool.peers.field.records import (
    BUCKETS,
    FREE,
    LABELS,
    LABELS_FREE,
    WAITING,
    FieldState,
)
from mtcool.types import Integers

END = -1
FOREVER = 2.0**62  # rounds: the clock plus so many is still a number


@inline
def delay(constant: float, mean: float, seed: np.uint64, kind: int, i: int, j: int, n: int) -> int:
    """Whole rounds: a constant, and a random part with an exponential law."""
    rounds = constant
    if mean > 0.0:
        rounds -= mean * math.log1p(-draw(seed, kind, i, j, n, 0))
    return whole(math.floor(min(rounds, FOREVER)))


@inline
def put_message(state: FieldState, due: int) -> int:
    """A place for a message that is due at the end of this round; there is one that is free."""
    queue, counters = state.queue, state.counters
    place = counters[FREE]
    counters[FREE] = queue.messages[place]["next"]
    counters[WAITING] += 1
    queue.messages[place]["due"] = due
    append(queue.first, queue.last, queue.messages, place, due)
    return whole(place)


@inline
def put_label(state: FieldState, due: int) -> int:
    """A place for a label that is due at the end of this round; there is one that is free."""
    queue, counters = state.queue, state.counters
    place = counters[LABELS_FREE]
    counters[LABELS_FREE] = queue.labels[place]["next"]
    counters[LABELS] += 1
    queue.labels[place]["due"] = due
    append(queue.label_first, queue.label_last, queue.labels, place, due)
    return whole(place)


@inline
def append(
    first: Integers, last: Integers, entries: NDArray[np.void], place: int, due: int
) -> None:
    """Add an entry at the end of the list of its bucket."""
    bucket = due % BUCKETS
    entries[place]["next"] = END
    if first[bucket] == END:
        first[bucket] = place
    else:
        entries[last[bucket]]["next"] = place
    last[bucket] = place


@inline
def take_due(
    first: Integers, last: Integers, entries: NDArray[np.void], now: int, cursor: Integers
) -> int:
    """Take the next entry that is due now out of its list; -1 if there is none.

    The cursor holds the last entry that is not due, -1 at the beginning: none is looked at twice.
    """
    bucket = now % BUCKETS
    before = cursor[0]
    place = first[bucket] if before == END else entries[before]["next"]
    while place != END and entries[place]["due"] != now:
        before, place = place, entries[place]["next"]
    cursor[0] = before
    if place == END:
        return END
    after = entries[place]["next"]
    if before == END:
        first[bucket] = after
    else:
        entries[before]["next"] = after
    if last[bucket] == place:
        last[bucket] = before
    return whole(place)


@inline
def free_message(state: FieldState, place: int) -> None:
    """Give the place of a message back."""
    state.queue.messages[place]["next"] = state.counters[FREE]
    state.counters[FREE] = place
    state.counters[WAITING] -= 1


@inline
def free_label(state: FieldState, place: int) -> None:
    """Give the place of a label back."""
    state.queue.labels[place]["next"] = state.counters[LABELS_FREE]
    state.counters[LABELS_FREE] = place
    state.counters[LABELS] -= 1
