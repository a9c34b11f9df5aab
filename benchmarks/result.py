"""What a benchmark reports: numbers, each next to what it is measured against."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Target:
    """The number to reach, from below or from above."""

    bound: float
    at_least: bool = False

    def shortfall(self, measured: float) -> float:
        """How many times the measured number is on the wrong side; at most one if it is not."""
        return self.bound / measured if self.at_least else measured / self.bound


def at_least(bound: float) -> Target:
    """A target that larger numbers meet."""
    return Target(bound, at_least=True)


def at_most(bound: float) -> Target:
    """A target that smaller numbers meet."""
    return Target(bound)


@dataclass(frozen=True)
class Result:
    """One measured number."""

    what: str
    against: str
    """The peer or the floor, with its own number."""
    measured: float
    unit: str = "times"
    target: Target | None = None
    """None for a number that is there for information."""

    @property
    def met(self) -> bool | None:
        """Is the target met? None if there is none."""
        return None if self.target is None else self.target.shortfall(self.measured) <= 1.0

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "met": self.met}


Benchmark: TypeAlias = Callable[[bool], list[Result]]
"""Takes `quick`, for small sizes; the first paragraph of its module explains it."""
