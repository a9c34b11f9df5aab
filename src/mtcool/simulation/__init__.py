"""Simulation: whole streams through a network, and replicates over seeds."""

from mtcool.simulation.replicate import replicate
from mtcool.simulation.simulate import simulate
from mtcool.simulation.trace import Trace

__all__ = ["Trace", "replicate", "simulate"]
