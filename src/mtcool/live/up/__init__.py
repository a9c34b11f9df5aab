"""A whole network on this machine: its processes, what they are fed, and what came of it."""

from mtcool.live.up.outcome import UpOutcome
from mtcool.live.up.supervisor import Running, run_network

__all__ = ["Running", "UpOutcome", "run_network"]
