"""The compiled function with which an agent by itself takes a lesson."""

from __future__ import annotations

from mtcool.kernels import kernel
from mtcool.learners.panel.filters import take_lesson
from mtcool.learners.panel.state import Panel
from mtcool.types import Floats


@kernel
def receive_lesson(panel: Panel, agent: int, entry: int, lesson: Floats) -> None:
    """`take_lesson`, for callers in Python."""
    take_lesson(panel, agent, entry, lesson)
