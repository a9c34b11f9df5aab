"""How a host drives its agents, whatever their algorithm."""

from typing import TYPE_CHECKING

from mtcool.lazy import attach
from mtcool.live.agents.driver import Driver, DriverRound, Feedback, Near, Prediction
from mtcool.live.agents.feedback import feedback_in, packed_feedback, told_feedback

if TYPE_CHECKING:
    from mtcool.live.agents.gradients import GradientDriver
    from mtcool.live.agents.tables import TableDriver
else:  # a host has drivers of one kind
    __getattr__, __dir__ = attach(
        __name__, {"gradients": ("GradientDriver",), "tables": ("TableDriver",)}
    )

__all__ = [
    "Driver",
    "DriverRound",
    "Feedback",
    "GradientDriver",
    "Near",
    "Prediction",
    "TableDriver",
    "feedback_in",
    "packed_feedback",
    "told_feedback",
]
