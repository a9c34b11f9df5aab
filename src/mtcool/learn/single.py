"""One row at a time: arrays for the compiled function, made once and used again by every call.

Making them, with the checks that many rows need, takes ten times as long as learning from a row.
"""

from __future__ import annotations

import numpy as np

from mtcool.learn.stored_predictions import nothing_said
from mtcool.learners.panel.play import play
from mtcool.learners.panel.state import Panel
from mtcool.types import Floats

PREDICT, LEARN = np.array([0]), np.array([~0])
"""The events of one row."""


class OneRow:
    """Plays one row of an agent.

    Examples
    --------
    >>> from mtcool.learners.panel.state import make_panel
    >>> panel = make_panel(np.array([0, 1]), np.array([0]), 1, logistic=False, rows=False)
    >>> one = OneRow()
    >>> one.learn(panel, 0, np.array([2.0]), 5.0)
    >>> one.predict(panel, 0, np.array([3.0]))
    5.0
    """

    def __init__(self) -> None:
        self._agent = np.zeros(1, np.int64)
        self._row = np.empty((1, 0))
        self._target = np.zeros(1)
        self._said, self._out = nothing_said(1), np.empty((1, 3))

    def predict(self, panel: Panel, agent: int, row: Floats) -> float:
        """The score of a row; features that the panel does not have are left out."""
        self._fill(panel, agent, row)
        play(panel, self._agent, self._row, self._target, PREDICT, self._said, self._out)
        return float(self._out[0, 0])

    def learn(self, panel: Panel, agent: int, row: Floats, target: float) -> None:
        """Learn from a row; the panel has room for its features."""
        self._fill(panel, agent, row)
        self._target[0] = target
        self._said.fill(np.nan)
        play(panel, self._agent, self._row, self._target, LEARN, self._said, self._out)

    def _fill(self, panel: Panel, agent: int, row: Floats) -> None:
        width = panel.vector.shape[2] - 1
        if self._row.shape[1] != width:
            self._row = np.empty((1, width))
        self._agent[0] = agent
        if len(row) < width:
            self._row.fill(np.nan)
            self._row[0, : len(row)] = row
        else:
            self._row[0] = row[:width]
