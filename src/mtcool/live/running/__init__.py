"""A whole network on this machine: its processes, what they are fed, and what came of it."""

from mtcool.live.running.outcome import Outcome
from mtcool.live.running.whole import Running, run_network

__all__ = ["Outcome", "Running", "run_network"]
