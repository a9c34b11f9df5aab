"""What is under way: messages and labels, in lists by the round in which they are due.

A list is a bucket, chosen by the round modulo their number, so that putting something in and taking
it out takes the same time however much is under way. What is due in a later round of the same
bucket goes back to its end, once in `BUCKETS` rounds. Lists keep the order in which their entries
came.
"""

import math

import numpy as np
from numpy.typing import NDArray

from mtcool.field.draws import draw
from mtcool.field.vectors import whole
from mtcool.kernels import inline
from mtcool.peers.field.records import BUCKETS, LABELS, FieldState, Queue
from mtcool.types import Integers

END = -1
NEVER = -1
FOREVER = 2.0**62  # rounds: the clock plus so many is still a number


@inline
def delay(constant: float, mean: float, seed: np.uint64, kind: int, i: int, j: int, n: int) -> int:
    """Whole rounds: a constant, and a random part with an exponential law."""
    rounds = constant
    if mean > 0.0:
        rounds -= mean * math.log(1.0 - draw(seed, kind, i, j, n, 0))
    return whole(math.floor(min(rounds, FOREVER)))


@inline
def append(
    first: Integers, last: Integers, entries: NDArray[np.void], place: int, due: int
) -> None:
    """Add an entry at the end of the list of the round in which it is due."""
    bucket = due % BUCKETS
    entries[place]["due"], entries[place]["next"] = due, END
    if first[bucket] == END:
        first[bucket] = place
    else:
        entries[last[bucket]]["next"] = place
    last[bucket] = place


@inline
def take_list(first: Integers, now: int) -> int:
    """Take the list that has what is due now; returns its first entry, or -1."""
    bucket = now % BUCKETS
    place = whole(first[bucket])
    first[bucket] = END
    return place


@inline
def next_due(
    first: Integers, last: Integers, entries: NDArray[np.void], place: int, now: int
) -> int:
    """The next entry of a list that is due now, from this one on; the others go back to theirs."""
    while place != END and entries[place]["due"] != now:
        following = whole(entries[place]["next"])
        append(first, last, entries, place, entries[place]["due"])
        place = following
    return place


@inline
def put_message(queue: Queue, waiting: int, due: int) -> int:
    """A place for a message that is due at the end of this round, beside so many that wait.

    There is a free one. Who puts many keeps count.
    """
    place = whole(queue.places[waiting])
    append(queue.first, queue.last, queue.messages, place, due)
    return place


@inline
def put_label(state: FieldState, due: int) -> int:
    """A place for a label that is due at the end of this round; there is one that is free."""
    queue, counters = state.queue, state.counters
    place = whole(queue.label_places[counters[LABELS]])
    counters[LABELS] += 1
    append(queue.label_first, queue.label_last, queue.labels, place, due)
    return place


@inline
def free_label(state: FieldState, place: int) -> None:
    """Give the place of a label back."""
    state.counters[LABELS] -= 1
    state.queue.label_places[state.counters[LABELS]] = place
