"""How often others ask: questions of each host in a second."""

from __future__ import annotations

import threading


class Pace:
    """Counts questions of hosts, on any thread.

    Examples
    --------
    >>> pace = Pace()
    >>> [pace.allows("rome", 7.1, 2), pace.allows("rome", 7.2, 2), pace.allows("rome", 7.3, 2)]
    [True, True, False]
    >>> pace.allows("rome", 8.0, 2)
    True
    >>> pace.take_back("rome")
    >>> [pace.allows("rome", 8.1, 2), pace.allows("rome", 8.2, 2), pace.allows("rome", 8.3, 2)]
    [True, True, False]
    """

    def __init__(self) -> None:
        self._counted: dict[str, tuple[int, int]] = {}
        """How many questions of each host came in which second."""
        self._lock = threading.Lock()

    def allows(self, host: str, now: float, most: int) -> bool:
        """Count a question; whether there were not too many in this second."""
        with self._lock:
            second, count = self._counted.get(host, (int(now), 0))
            count = count + 1 if second == int(now) else 1
            self._counted[host] = int(now), count
        return count <= most

    def take_back(self, host: str) -> None:
        """Count a question no more: it comes again, and is counted then."""
        with self._lock:
            second, count = self._counted[host]
            self._counted[host] = second, count - 1
