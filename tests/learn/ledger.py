"""Books that are kept beside a panel, from predictions and targets alone, to check its promises."""

from typing import NamedTuple

import numpy as np

from mtcool.learners.panel.constants import CREDIT, TRUST
from mtcool.learners.panel.fields import (
    ACCOUNT,
    ALONE,
    BALANCE,
    FILTERS,
    LISTENS,
    MISSED,
    MISSES,
    ROWS,
    WORST,
)
from mtcool.learners.panel.guard import EMPTY

WEIGHTS = 1  # row of `Scratch.expert`


def loss_of(panel, score, target):
    if panel.logistic:
        return np.logaddexp(0.0, score if target < 0.5 else -score)
    return (score - target) ** 2


def longest(panel, worst, credit):
    """The step d with d^2 + 2 B d = credit; with log loss, d = credit."""
    if credit <= 0.0:
        return 0.0
    return credit if panel.logistic else credit / (np.hypot(worst, np.sqrt(credit)) + worst)


class Ledger:
    """Of one agent: what sharing and each of its neighbours have cost it."""

    def __init__(self, panel, agent):
        self.agent, self.first, self.last = agent, panel.ptr[agent], panel.ptr[agent + 1]
        self.targets, self.worst = [], 0.0
        self.excess, self.bound, self.moved = 0.0, 0.0, 0.0
        self.won, self.later, self.later_moved, self.later_bound = 0.0, 0.0, 0.0, 0.0
        entries = range(self.first + 1, self.last)
        self.account = dict.fromkeys(entries, TRUST)
        self.closed = set()

    def unit(self, panel):
        """The agent's variance or its filter's error alone, or the median of what is claimed.

        Of an agent with few rows the variance, if it is more than that.
        """
        rows = len(self.targets)
        if panel.logistic:
            return 1.0
        if rows >= 5 and np.ptp(self.targets) > 0.0:
            number = panel.number[panel.idx[self.first]]
            missed = number[ALONE + MISSED] / max(number[ALONE + MISSES], 1.0)
            return min(np.var(self.targets), missed)
        claims = []
        for j in panel.idx[self.first : self.last]:
            if panel.number[j, ROWS] > 1.0:
                scatter = min(max(0.0, panel.scatter[j, 0, 0]), 1e60)
                claims.append(scatter / min(panel.number[j, ROWS], 1e15))
        return max(np.median(claims), np.var(self.targets)) if claims else 0.0

    def credit(self, panel):
        """What the theorem lets sharing cost."""
        unit = self.unit(panel)
        if len(self.targets) >= 2 and not panel.logistic:
            unit = min(unit, (2 * np.ptp(self.targets)) ** 2)
        return CREDIT * unit

    def book(self, panel, played, alone, target):
        """Take a row that was just predicted; the panel has not learned from it yet."""
        if self.targets:
            if len(self.targets) >= 2 and self.unit(panel) > 1e-12:
                self.book_neighbours(panel, played, target)
            self.book_guard(panel, played, alone, target)
        self.targets.append(target)

    def book_guard(self, panel, played, alone, target):
        step, error, credit = abs(played - alone), abs(target - alone), self.credit(panel)
        losses = loss_of(panel, played, target), loss_of(panel, alone, target)
        self.excess += losses[0] - losses[1]
        self.moved += sum(losses)
        if step > 0.0:
            beyond = 0.0 if panel.logistic else 2 * step * max(error - self.worst, 0.0)
            self.bound = credit + beyond
        slack = 1e-9 * (self.bound + self.moved)
        assert self.excess <= self.bound + slack, "sharing cost more than the guard allows"
        if len(self.targets) == 1:
            self.won = max(-self.excess, 0.0)
        else:
            self.book_later(losses, step)
        self.worst = max(self.worst, error)

    def book_later(self, losses, step):
        """From the third row on nothing that a neighbour claims is in the bound."""
        self.later += losses[0] - losses[1]
        self.later_moved += sum(losses)
        if step > 0.0:
            self.later_bound = self.won + self.bound
        slack = 1e-9 * (self.later_bound + self.later_moved)
        assert self.later <= self.later_bound + slack, "a neighbour decided what it may cost"

    def book_neighbours(self, panel, played, target):
        weights = panel.work.expert[WEIGHTS, :FILTERS]
        unit = self.unit(panel)
        if weights.sum() <= 1e-12:
            return
        for e, account in self.account.items():
            reach = panel.work.reach[:FILTERS, e - self.first]
            if e in self.closed:
                assert not panel.link[e, LISTENS], "a closed account was used"
                assert not reach.any(), "a closed account was used"
                continue
            allowed = longest(panel, self.worst, unit * account)
            most = np.abs(reach).max()
            assert most <= allowed * (1 + 1e-6) + 1e-9, "a neighbour moved more than it may"
            given = weights @ reach / weights.sum()
            without = played - given
            cost = loss_of(panel, played, target) - loss_of(panel, without, target)
            beyond = 2 * abs(given) * max(abs(without - target) - self.worst, 0.0)
            self.account[e] -= cost / unit
            least = 0.0 if panel.logistic else -beyond / unit
            slack = 1e-6 * (1 + account + abs(cost) / unit)
            assert self.account[e] >= least - slack, "a neighbour cost more than its account"
            if self.account[e] <= EMPTY:
                self.closed.add(e)

    def agrees(self, panel):
        """Whether the panel's own accounts are these."""
        kept = panel.link[self.first + 1 : self.last, ACCOUNT]
        np.testing.assert_allclose(kept, list(self.account.values()), rtol=1e-5, atol=1e-5)


class Promise(NamedTuple):
    """What was said of a row, and what the guard knew then."""

    number: int
    """How many were made before."""
    played: float
    alone: float
    credit: float
    won: float
    worst: float
    under_way: set
    """Numbers of the promises of rows that were predicted and not yet learned from."""


class LateLedger:
    """Of one agent whose targets come late: what the predictions that it really made have cost."""

    def __init__(self, panel, agent):
        self.own, self.promises, self.made = Ledger(panel, agent), {}, 0
        self.kept, self.last = {}, None  # promises that moved a prediction and were booked
        self.won, self.worst, self.moved, self.bound = 0.0, 0.0, 0.0, 0.0

    def predicted(self, panel, row, played, alone):
        """Take a row that was just predicted, if its agent has a row of its own."""
        if self.own.targets:
            under_way = {promise.number for promise in self.promises.values()}
            guard = self.own.credit(panel), self.won, self.worst, under_way
            self.promises[row] = Promise(self.made, played, alone, *guard)
            self.made += 1

    def learned(self, panel, row, target):
        """Take the target of a row, and check the theorem."""
        promise = self.promises.pop(row, None)
        if promise is not None:
            losses = [loss_of(panel, score, target) for score in (promise.played, promise.alone)]
            step, error = abs(promise.played - promise.alone), abs(target - promise.alone)
            self.won += losses[1] - losses[0]
            self.worst = max(self.worst, error)
            self.moved += sum(losses)
            if step > 0.0:
                beyond = 0.0 if panel.logistic else 2 * step * max(error - promise.worst, 0.0)
                self.kept[promise.number] = promise.credit + beyond, promise.won
                if self.last is None or promise.number > self.last.number:
                    self.last = promise
            self.check()
        self.own.targets.append(target)

    def check(self):
        if self.last is not None:
            beside = [self.kept[n] for n in self.last.under_way if n in self.kept]
            self.bound = self.kept[self.last.number][0] + sum(map(sum, beside))
        slack = 1e-9 * (self.bound + self.moved)
        assert -self.won <= self.bound + slack, "what was really said cost more than is promised"

    def agrees(self, panel):
        """Whether the panel's own books are these."""
        kept = panel.number[self.own.agent, [BALANCE, WORST]]
        worst = 0.0 if panel.logistic else self.worst
        np.testing.assert_allclose(kept, [self.won, worst], rtol=1e-6, atol=1e-9 * self.moved)
