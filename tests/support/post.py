"""Messages and labels under way: how long each of them takes, and which are lost."""

import heapq
import itertools

from mtcool.field.draws import (
    DELAY_GRADIENT,
    DELAY_LABEL,
    DELAY_ROW,
    LOST_GRADIENT,
    LOST_ROW,
    draw,
)
from mtcool.kernels import kernel
from mtcool.peers.field.queue import delay

LOST = -1


class UnderWay:
    """What arrives in some rounds, those of a round in the order in which they were put in."""

    def __init__(self):
        self._heap, self._order = [], itertools.count()

    def __len__(self):
        return len(self._heap)

    def put(self, due, item):
        """Let something arrive at the end of round `due`."""
        heapq.heappush(self._heap, (due, next(self._order), item))

    def until(self, now):
        """Take out all that is due at the end of round `now`."""
        while self._heap and self._heap[0][0] <= now:
            yield heapq.heappop(self._heap)[2]


class Waits:
    """Rounds until something arrives, drawn as in a network that holds all agents in one block.

    Of an agent its name and its index are read.
    """

    def __init__(self, rules, field):
        self._rules, self._delays = rules, field.delays

    def of_row(self, asker, other, number, size):
        """Of the answer to a request, or `LOST`."""
        rules, edges = self._rules, self._delays.rows.edges
        constant = rules.row_constant + edges.get((asker.name, other.name), 0.0)
        constant += size / rules.row_bandwidth
        if self._is_lost(LOST_ROW, asker, other, number):
            return LOST
        return self._drawn(constant, rules.row_mean, DELAY_ROW, asker.index, other.index, number)

    def of_gradient(self, sender, other, number, size):
        """Of a gradient, or `LOST`."""
        rules, edges = self._rules, self._delays.gradients.edges
        constant = rules.gradient_constant + edges.get((sender.name, other.name), 0.0)
        constant += size / rules.gradient_bandwidth
        if self._is_lost(LOST_GRADIENT, sender, other, number):
            return LOST
        mean, ends = rules.gradient_mean, (sender.index, other.index)
        return self._drawn(constant, mean, DELAY_GRADIENT, *ends, number)

    def of_label(self, agent, number):
        """Of what an agent learns from."""
        constant, mean = self._rules.label_constant, self._rules.label_mean
        return self._drawn(constant, mean, DELAY_LABEL, agent.index, 0, number)

    def _drawn(self, constant, mean, kind, i, j, n):
        return rounds_late(constant, mean, self._rules.seed, kind, i, j, n)

    def _is_lost(self, kind, one, two, number):
        seed, lost = self._rules.seed, self._rules.lost
        return lost > 0.0 and drawn(seed, kind, one.index, two.index, number) < lost


# Compiled, because logarithms in Python may differ in their last bit.


@kernel
def drawn(seed, kind, i, j, n):
    return draw(seed, kind, i, j, n, 0)


@kernel
def rounds_late(constant, mean, seed, kind, i, j, n):
    return delay(constant, mean, seed, kind, i, j, n)
