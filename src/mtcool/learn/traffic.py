"""How many messages agents send, and their bytes.

Every prediction asks each neighbour and gets an answer. Learning from a row asks again, because the
label may have come late, and sends each neighbour the lesson. Where rows are shared, answers hold
sums of products as well whenever the agent computes its regression: before its first row, and when
its rows have grown by two per cent.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mtcool.agents.messages import Knowledge, Lesson, RowRequest, encode
from mtcool.graphs.labels import plain_name
from mtcool.learn.exchange import knowledge_size, lesson_size, products_size
from mtcool.learn.neighbourhoods import Neighbourhoods
from mtcool.learners.panel.fields import ROWS, SOLVED
from mtcool.learners.panel.scaling import GROWTH
from mtcool.learners.panel.state import Panel
from mtcool.types import Floats, Integers, Label


class MessageCount:
    """Messages and bytes so far."""

    def __init__(self, messages: int = 0, message_bytes: int = 0) -> None:
        self.messages, self.message_bytes = messages, message_bytes
        self._panel: Panel | None = None
        self._features = 0
        self._asking: Integers = np.zeros(0, np.int64)
        self._telling: Integers = np.zeros(0, np.int64)
        self._others: Integers = np.zeros(0, np.int64)
        self._products = 0
        self._names: list[int] = []

    def measure(self, panel: Panel, features: int, places: Neighbourhoods) -> None:
        """Look up the bytes of one round of each agent, unless nothing has grown since."""
        same = panel is self._panel and features == self._features
        if not same or len(self._asking) < len(places.position):
            self._measure(panel, features, places)

    def count(self, panel: Panel, agents: Integers, events: Integers) -> None:
        """Add the messages of these events; what they are measured by is up to date."""
        learned = events < 0
        asked, told = agents[np.where(learned, ~events, events)], agents[~events[learned]]
        if panel.rows == 1:
            sums = self._sums_told(panel, asked, learned)
            self.message_bytes += int((sums * self._others[: len(sums)]).sum()) * self._products
        self.messages += int(2 * self._others[asked].sum() + self._others[told].sum())
        self.message_bytes += int(self._asking[asked].sum() + self._telling[told].sum())

    def count_one(self, panel: Panel, agent: int, *, learned: bool) -> None:
        """Add the messages of one event, which was played."""
        others = int(self._others[agent])
        self.messages += 3 * others if learned else 2 * others
        self.message_bytes += int(self._asking[agent])
        if learned:
            self.message_bytes += int(self._telling[agent])
        if panel.rows == 1:
            rows, solved = panel.number[agent, ROWS], panel.number[agent, SOLVED]
            if rows == (solved if learned else 0.0):
                self.message_bytes += others * self._products

    def _sums_told(self, panel: Panel, asked: Integers, learned: NDArray[np.bool_]) -> Integers:
        """How often each agent asked for sums of products in these events, which were played."""
        known = len(self._others)
        times = np.bincount(asked[learned], minlength=known)
        after = panel.number[:known, ROWS].astype(np.int64)
        dues = solved_at(int(after.max(initial=0)))
        lessons = np.searchsorted(dues, after, "right")
        lessons -= np.searchsorted(dues, after - times, "right")
        first = np.full(known, len(asked))
        np.minimum.at(first, asked[learned], np.flatnonzero(learned))
        early = ~learned & (np.arange(len(asked)) < first[asked]) & (after == times)[asked]
        return lessons + np.bincount(asked[early], minlength=known)

    def _measure(self, panel: Panel, features: int, places: Neighbourhoods) -> None:
        """Bytes of one round of each agent: of asking everybody, and of telling everybody."""
        width, known = features + 1, len(places.position)
        self._products = 8 * products_size(width)
        self._names += [bytes_for_name(label) for label in places.labels[len(self._names) :]]
        names = np.array(self._names, dtype=np.int64)
        request, answer, lesson = (
            names + extra
            for extra in (
                bytes_of_request(),
                bytes_of_knowledge(knowledge_size(width)),
                bytes_of_lesson(lesson_size(width)),
            )
        )
        others = (panel.end - panel.ptr[:-1])[:known] - 1
        if places.complete:
            answers = answer.sum() - answer
        else:
            owner = np.repeat(np.arange(len(panel.ptr) - 1), np.diff(panel.ptr))
            real = (owner != panel.idx) & (owner < known)
            answers = np.bincount(owner[real], weights=answer[panel.idx[real]], minlength=known)
        self._others = others
        self._asking = others * request + answers[:known].astype(np.int64)
        self._telling = others * lesson
        self._panel, self._features = panel, features


def solved_at(most: int) -> Integers:
    """The numbers of rows, up to this one, at which an agent solves its ridges."""
    found, rows = [], 0
    while (rows := max(rows + 1, math.ceil(rows * GROWTH))) <= most:
        found.append(rows)
    return np.array(found, dtype=np.int64)


def bytes_for_name(label: Label) -> int:
    """Bytes that a name takes in a message."""
    return len(encode(RowRequest(plain_name(label, "sent")))) - bytes_of_request()


def bytes_of_request() -> int:
    """Bytes of a request without its name."""
    return len(encode(RowRequest(None))) - 1


def bytes_of_knowledge(count: int) -> int:
    """Bytes of an answer with so many numbers, without its name."""
    return len(encode(Knowledge(None, _blank(count)))) - 1


def bytes_of_lesson(count: int) -> int:
    """Bytes of a lesson with so many numbers, without its name."""
    return len(encode(Lesson(None, 1.0, _blank(count)))) - 1


def _blank(count: int) -> Floats:
    return np.zeros(count)
