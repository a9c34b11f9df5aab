"""How a host drives its agents, whatever their algorithm."""

from mtcool.live.driving.driver import Driver, Feedback, Near, Prediction, Round
from mtcool.live.driving.feedback import feedback_in, packed_feedback, told_feedback
from mtcool.live.driving.gradients import GradientDriver
from mtcool.live.driving.tables import TableDriver

__all__ = [
    "Driver",
    "Feedback",
    "GradientDriver",
    "Near",
    "Prediction",
    "Round",
    "TableDriver",
    "feedback_in",
    "packed_feedback",
    "told_feedback",
]
