"""What was refused, counted by host and reason, and bounded: liars take no memory."""

from __future__ import annotations

from collections import Counter

LONGEST_REASON, MOST_REASONS = 300, 40
"""Letters of a reason, and different reasons of one host that are told apart."""
OTHERS = "other reasons"
STRANGER = "(stranger)"
"""Stands for a host that is not known, or not to be believed."""


class Refusal(ValueError):
    """What an application asked for is not possible now, for a reason that may pass."""


class Stopped(ValueError):
    """A link has stopped: what one host remembers contradicts the other. Both must know."""


class Differs(Stopped):
    """They remember other messages under the same numbers: either may be the one that forgot."""


class Refusals(Counter[tuple[str, str]]):
    """Counts of refusals.

    Examples
    --------
    >>> refused = Refusals()
    >>> refused.note("rome", "too long")
    >>> refused["rome", "too long"]
    1
    """

    def note(self, host: str, reason: str, count: int = 1) -> None:
        """Count refusals."""
        reason = reason[:LONGEST_REASON]
        if (host, reason) not in self and sum(other == host for other, _ in self) >= MOST_REASONS:
            reason = OTHERS
        self[host, reason] += count
