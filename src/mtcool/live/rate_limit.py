"""Rate limits: buckets of tokens."""

from __future__ import annotations


class Bucket:
    """A bucket that is full at first, and is filled again at a rate.

    What is taken may be more than is there: then who takes it waits the longer for the next time.

    Examples
    --------
    >>> bucket = Bucket()
    >>> bucket.wait(7.0, rate=2.0, most=4.0)
    0.0
    >>> bucket.take(5.0)
    >>> bucket.wait(7.0, rate=2.0, most=4.0), bucket.wait(8.0, rate=2.0, most=4.0)
    (1.0, 0.0)
    """

    def __init__(self) -> None:
        self._left: float | None = None
        self._at = 0.0

    def wait(self, now: float, rate: float, most: float) -> float:
        """Seconds until there is a token; so many come in a second, up to so many."""
        left = most if self._left is None else self._left + rate * max(0.0, now - self._at)
        self._left, self._at = min(most, left), now
        return max(0.0, (1.0 - self._left) / rate)

    def take(self, tokens: float) -> None:
        """Take tokens, after `wait`."""
        assert self._left is not None
        self._left -= tokens
