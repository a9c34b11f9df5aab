"""One agent of a model by itself: messages in, messages out, no clock, no socket, no randomness.

It plays with the same compiled function as a whole model, on a block that holds its own row and
copies of its neighbours' rows, so both agree to the bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.agents.messages import (
    Knowledge,
    Lesson,
    Message,
    RowRequest,
    SumsRequest,
    brief,
    sender_of,
)
from mtcool.agents.received import Position, checked_number
from mtcool.axes import AGENT, LINK, copy_along
from mtcool.graphs.labels import plain_name
from mtcool.learn.exchange import (
    knowledge_of,
    knowledge_size,
    lesson_of,
    lesson_size,
    products_of,
    products_size,
    take_knowledge,
    take_products,
)
from mtcool.learn.message_checks import check_knowledge, check_lesson, check_products
from mtcool.learn.stored_predictions import RowPrediction, checked_said, nothing_said
from mtcool.learners.panel.constants import OVERFLOW
from mtcool.learners.panel.fields import ROWS, SAID, SOLVED
from mtcool.learners.panel.lessons import receive_lesson
from mtcool.learners.panel.play import play
from mtcool.learners.panel.scaling import GROWTH
from mtcool.learners.panel.state import Panel, make_panel
from mtcool.types import Floats, Label

ITSELF = 0
"""Its own row in its block."""


class PanelAgent:
    """An agent of `mtcool.learn.Model`; `model.agent(name)` makes one.

    Examples
    --------
    >>> import mtcool
    >>> from mtcool.learn import Model
    >>> model = Model(mtcool.graphs.star(3))
    >>> model.learn_one(1, [1.0], 5.0)
    >>> centre, leaf = model.agent(0), model.agent(1)
    >>> answers = {1: leaf.receive(centre.requests()[1])}
    >>> centre.predict([1.0], answers).score  # agent 2 did not answer: what is known of it is used
    5.0
    """

    def __init__(self, name: Label, neighbours: Sequence[Label], panel: Panel) -> None:
        self.name, self.neighbours, self.panel = name, tuple(neighbours), panel
        self.sender = plain_name(name, "sent")
        self.heard = {other: Position() for other in self.neighbours}
        """What was taken of each neighbour; all lessons up to now are in the panel."""
        for k, other in enumerate(self.neighbours, start=1):
            self.heard[other].last = int(panel.number[k, ROWS])

    def requests(self, *, learning: bool = False) -> dict[Label, Message]:
        """Whom to ask before predicting, or before learning, and how.

        Parameters
        ----------
        learning
            Whether the answers are for `learn`; else they are for `predict`.
        """
        request = SumsRequest if self._wants_sums(learning) else RowRequest
        return {neighbour: request(self.sender) for neighbour in self.neighbours}

    def _wants_sums(self, learning: bool) -> bool:
        """Whether the regression on the neighbours' rows is computed in this step."""
        rows, solved = self.panel.number[ITSELF, [ROWS, SOLVED]]
        due = rows + 1.0 >= solved * GROWTH if learning else rows == 0.0
        return bool(self.panel.rows == 1 and due)

    def predict(
        self, features: ArrayLike, answers: Mapping[Label, Message | None]
    ) -> RowPrediction:
        """Predict a row of numbers with what the neighbours answered.

        Where one has not answered, its last answer is used. In classification these are log-odds.

        Parameters
        ----------
        features
            A number for each column; NaN where one is missing.
        answers
            What neighbours have sent back; None, or nothing, of those that did not.
        """
        row, said = self.row_of(features), np.empty((1, SAID))
        self._take(answers)
        self._play(row, np.zeros(1), 0, said)
        return RowPrediction.of(said[0])

    def learn(
        self,
        features: ArrayLike,
        target: float,
        answers: Mapping[Label, Message | None],
        said: RowPrediction | None = None,
    ) -> dict[Label, Message]:
        """Learn from a row of numbers; returns the lesson for every neighbour.

        Parameters
        ----------
        features
            A number for each column; NaN where one is missing.
        target
            What was to be predicted; 0 or 1 in classification.
        answers
            What neighbours have sent back; None, or nothing, of those that did not.
        said
            What `predict` returned for the row, None if it was not predicted.
        """
        row, y = self.row_of(features), validation.vector("target", [target], 1)
        booked = nothing_said(1) if said is None else checked_said([said.numbers()], 1)
        if self.panel.logistic and y[0] not in (0.0, 1.0):
            raise ValueError(f"target must be 0 or 1 in classification, got {target!r}")
        if abs(y[0]) > OVERFLOW:
            raise ValueError(f"target must be at most {OVERFLOW:g} in size, got {target!r}")
        self._take(answers)
        self._play(row, y, ~0, booked)
        lesson, number = lesson_of(self.panel), float(self.panel.number[ITSELF, ROWS])
        return {other: Lesson(self.sender, number, lesson) for other in self.neighbours}

    def meet(self, neighbours: Sequence[Label]) -> None:
        """Have these neighbours from now on; what is known of those that stay is kept.

        Parameters
        ----------
        neighbours
            All that it has from now on, by name.
        """
        names, old = tuple(neighbours), self.panel
        new = _block(old, 1 + len(names), old.vector.shape[2] - 1)
        there = {name: k for k, name in enumerate((self.name, *self.neighbours))}
        pairs = [(there[name], k) for k, name in enumerate((self.name, *names)) if name in there]
        before, now = np.array(pairs).T
        for axis in (AGENT, LINK):
            copy_along(axis, old, before, new, now)
        for name in names:
            self.heard.setdefault(name, Position())
        self.neighbours, self.panel = names, new

    def receive(self, message: Message) -> Message | None:
        """Take a message of a neighbour; a request is answered, a lesson is taken once.

        Parameters
        ----------
        message
            A request, or a lesson.
        """
        sender = sender_of(message)
        if sender not in self.heard:
            raise ValueError(f"sender must be a neighbour of agent {self.name!r}, got {sender!r}")
        if isinstance(message, RowRequest | SumsRequest):
            told = knowledge_of(self.panel, ITSELF)
            if isinstance(message, SumsRequest) and self.panel.rows == 1:
                told = np.concatenate([told, products_of(self.panel, ITSELF)])
            return Knowledge(self.sender, told)
        if not isinstance(message, Lesson):
            raise ValueError(f"message must be a request or a lesson, got {brief(message)}")
        width = self.panel.vector.shape[2]
        numbers = self._numbers(message.numbers, {lesson_size(width)})
        check_lesson(numbers, width)
        taken = self.heard[sender].take(checked_number(message.number))
        if taken and sender in self.neighbours:  # one that was a neighbour may have been late
            entry = 1 + self.neighbours.index(sender)
            receive_lesson(self.panel, ITSELF, entry, numbers.reshape(-1, width))
        return None

    def _play(self, row: Floats, target: Floats, event: int, said: Floats) -> None:
        out, itself = np.empty((1, 3)), np.array([ITSELF])
        play(self.panel, itself, row, target, np.array([event]), said, out)

    def check_answer(self, neighbour: Label, answer: Message) -> Floats:
        """The numbers in an answer; refuses what is none of this neighbour.

        Parameters
        ----------
        neighbour
            Who is said to have answered.
        answer
            What it has sent.
        """
        width = self.panel.vector.shape[2]
        size = knowledge_size(width)
        lengths = {size, size + products_size(width)} if self.panel.rows == 1 else {size}
        if neighbour not in self.heard:
            raise ValueError(f"answers must be of neighbours, got one of {neighbour!r}")
        if not isinstance(answer, Knowledge) or sender_of(answer) != neighbour:
            raise ValueError(f"answer of {neighbour!r} must be its knowledge, got {brief(answer)}")
        numbers = self._numbers(answer.numbers, lengths)
        check_knowledge(numbers[:size], width)
        check_products(numbers[size:], numbers[:size], width)
        return numbers

    def _take(self, answers: Mapping[Label, Message | None]) -> None:
        size = knowledge_size(self.panel.vector.shape[2])
        for other in answers.keys() - self.heard.keys():
            raise ValueError(f"answers must be of neighbours, got one of {other!r}")
        found = {
            other: self.check_answer(other, answer)
            for other, answer in answers.items()
            if answer is not None
        }
        for k, other in enumerate(self.neighbours, start=1):
            if other in found:
                take_knowledge(self.panel, k, found[other][:size])
                take_products(self.panel, k, found[other][size:])

    def _numbers(self, given: Floats, lengths: set[int]) -> Floats:
        """The numbers of a message, of which there may be so many."""
        array = np.asarray(given, dtype=np.float64)
        if array.ndim != 1 or len(array) not in lengths:
            raise ValueError(f"message must have {sorted(lengths)} numbers, got {array.shape}")
        return array

    def row_of(self, features: ArrayLike) -> Floats:
        """The features as a table of one row; refuses what is none for this agent.

        Parameters
        ----------
        features
            A number for each column; NaN where one is missing.
        """
        row = np.asarray(features, dtype=np.float64)
        width = self.panel.vector.shape[2] - 1
        if row.shape != (width,) or np.isinf(row).any():
            raise ValueError(f"features must be {width} numbers, got {features!r}")
        return row.reshape(1, width)


def cut(panel: Panel, features: int, agent: int, name: Label, names: Sequence[Label]) -> PanelAgent:
    """Cut one agent out of a panel with so many features, with copies of its neighbours' rows."""
    first, last = panel.ptr[agent], panel.end[agent]
    rows = panel.idx[first:last]
    block = _block(panel, len(rows), features)
    copy_along(AGENT, panel, rows, block, slice(None))
    copy_along(LINK, panel, slice(first, last), block, slice(None))
    return PanelAgent(name, [names[j] for j in rows[1:]], block)


def _block(panel: Panel, count: int, features: int) -> Panel:
    """A fresh block of an agent and copies of its neighbours, `count` in all, of the same kind."""
    # Its own neighbourhood is the block; the copies have none.
    ptr, idx = np.array([0, *([count] * count)], dtype=np.int64), np.arange(count)
    logistic, rows = bool(panel.logistic), bool(panel.rows)
    return make_panel(ptr, idx, features, logistic=logistic, rows=rows, back=idx.copy())
