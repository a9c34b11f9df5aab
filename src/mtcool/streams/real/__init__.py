"""Streams of real data, read from packages that ship them (the extra `data`)."""

from mtcool.streams.real.births import births
from mtcool.streams.real.flights import flights
from mtcool.streams.real.schools import schools

__all__ = ["births", "flights", "schools"]
