"""How many messages agents send, and their bytes.

Every prediction asks each neighbour and gets an answer. Learning from a row asks again, because the
label may have come late, and sends each neighbour the lesson; where rows are shared, one neighbour
in turn adds its sums to its answer, and gets the average with the lesson.
"""

from __future__ import annotations

import numpy as np

from mtcool.agents.messages import Knowledge, Lesson, RowRequest, encode
from mtcool.graphs.labels import plain_name
from mtcool.learn.exchange import knowledge_size, lesson_size, sums_size
from mtcool.learn.neighbourhoods import Neighbourhoods
from mtcool.learners.panel.state import Panel
from mtcool.types import Floats, Integers, Label


class Traffic:
    """Messages and bytes so far."""

    def __init__(self, messages: int = 0, message_bytes: int = 0) -> None:
        self.messages, self.message_bytes = messages, message_bytes
        self._panel: Panel | None = None
        self._asking: Integers = np.zeros(0, np.int64)
        self._telling: Integers = np.zeros(0, np.int64)
        self._others: Integers = np.zeros(0, np.int64)

    def count(
        self, panel: Panel, places: Neighbourhoods, agents: Integers, events: Integers
    ) -> None:
        """Add the messages of these events."""
        if panel is not self._panel or len(self._asking) < len(places.position):
            self._measure(panel, places)
        learned = events < 0
        asked, told = agents[np.where(learned, ~events, events)], agents[~events[learned]]
        self.messages += int(2 * self._others[asked].sum() + self._others[told].sum())
        self.message_bytes += int(self._asking[asked].sum() + self._telling[told].sum())

    def _measure(self, panel: Panel, places: Neighbourhoods) -> None:
        """Bytes of one round of each agent: of asking everybody, and of telling everybody."""
        width, known = panel.vector.shape[2], len(places.position)
        shared = 8 * sums_size(width) if len(panel.sums) else 0
        names = [bytes_for_name(label) for label in places.labels]
        request, answer, lesson = (
            np.array([name + extra for name in names], dtype=np.int64)
            for extra in (
                bytes_of_request(),
                bytes_of_knowledge(knowledge_size(width)),
                bytes_of_lesson(lesson_size(width)),
            )
        )
        owner = np.repeat(np.arange(len(panel.ptr) - 1), np.diff(panel.ptr))
        real = (owner != panel.idx) & (owner < known)
        answers = np.bincount(owner[real], weights=answer[panel.idx[real]], minlength=known)
        others = np.diff(panel.ptr)[:known] - 1
        self._others = others
        self._asking = others * request + answers[:known].astype(np.int64)
        self._telling = others * lesson + 2 * shared * (others > 0)
        self._panel = panel


def bytes_for_name(label: Label) -> int:
    """Bytes that a name takes in a message."""
    try:
        return len(encode(RowRequest(plain_name(label, "sent")))) - bytes_of_request()
    except ValueError:  # a name that no message can hold is sent as its text
        return bytes_for_name(str(label))


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
