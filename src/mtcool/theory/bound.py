"""A value that a theorem promises, with its parts and what it takes for granted."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Bound:
    """What a statement of the paper says of one setting."""

    statement: str
    """Its label in the paper."""
    value: float
    parts: Mapping[str, float]
    """Terms that add up to the value."""
    assumptions: tuple[str, ...]

    @classmethod
    def of(cls, statement: str, assumptions: tuple[str, ...], **parts: float) -> "Bound":
        """The bound that is the sum of its parts."""
        return cls(statement, float(sum(parts.values())), parts, assumptions)

    def __float__(self) -> float:
        return self.value
