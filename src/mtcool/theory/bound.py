"""A value that a theorem promises, with its parts and what it takes for granted."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from mtcool.theory.names import NAMES

IN_EXPECTATION = "holds in expectation"
"""An assumption of bounds on a mean: over activations, or over the noise of private agents."""


UNKNOWN_L = ", unknown L"
"""End of the label of a statement that was extended to an unknown gradient bound."""


@dataclass(frozen=True)
class Bound:
    """What a statement of the paper says of one setting."""

    statement: str
    """Its label in the LaTeX source of the paper; `name` is for readers."""
    value: float
    parts: Mapping[str, float]
    """Terms that add up to the value."""
    assumptions: tuple[str, ...]
    variance: float = 0.0
    """Largest variance of the tasks in a clique, in units of the ball, where it matters."""
    admitted: float = math.inf
    """The largest variance that the statement is about."""
    trivial: float = math.inf
    """2 D L in each round, which no learner in the ball exceeds; infinite for those that leave it,
    and where nobody knows how many rounds there were."""

    @classmethod
    def of(
        cls,
        statement: str,
        assumptions: tuple[str, ...],
        *,
        variance: float = 0.0,
        admitted: float = math.inf,
        trivial: float = math.inf,
        **parts: float,
    ) -> "Bound":
        """The bound that is the sum of its parts."""
        value = float(sum(parts.values()))
        return cls(statement, value, parts, assumptions, variance, admitted, trivial)

    def times(self, factor: float) -> "Bound":
        """The same statement in a unit of losses that is one `factor`-th.

        Examples
        --------
        >>> Bound.of("eq:regret_indep", (), alone=2.0).times(3.0).value
        6.0
        """
        parts = {name: factor * part for name, part in self.parts.items()}
        trivial = factor * self.trivial if factor else 0.0
        return replace(self, value=factor * self.value, parts=parts, trivial=trivial)

    @property
    def covers_tasks(self) -> bool:
        """Whether the statement covers tasks that vary as much as these."""
        return self.variance <= self.admitted * (1.0 + 1e-9)

    @property
    def says_nothing(self) -> bool:
        """Whether it is above `trivial`, so that no learner in the ball could exceed it.

        Examples
        --------
        >>> from mtcool.theory import independent
        >>> independent([1]).says_nothing, independent([0]).says_nothing, independent([2]).trivial
        (False, False, 4.0)
        """
        return self.value > self.trivial * (1.0 + 1e-9)

    @property
    def in_expectation(self) -> bool:
        """Whether it bounds the mean over many runs, and not every single one."""
        return IN_EXPECTATION in self.assumptions

    @property
    def name(self) -> str:
        """What the statement is about and where it stands, such as "any graph (Theorem 3)"."""
        known, unknown, _ = self.statement.partition(UNKNOWN_L)
        name = NAMES.get(known, known)
        return f"{name}, with unknown gradient bound (docs/bounds.md)" if unknown else name

    def __float__(self) -> float:
        return self.value
