"""Ports on this machine that nobody uses, one after the other."""

import os
import random
import socket

LOWEST, HIGHEST = 18_000, 32_000
"""Above those that pages name, and below those that the system gives to connections."""
SHARE = 2_000
"""Ports of one process of tests: what another one has found free it may take a little later."""


class Ports:
    """Those of this process, of which none is given twice before all were."""

    def __init__(self) -> None:
        chance = random.Random(os.getpid())
        shares = (HIGHEST - LOWEST) // SHARE
        worker = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
        share = int(worker) % shares if worker else chance.randrange(shares)
        self._first = LOWEST + share * SHARE
        self._next = chance.randrange(SHARE)

    def take(self, count: int) -> list[int]:
        """So many in a row, all of them free."""
        while True:
            if self._next + count > SHARE:
                self._next = 0
            first = self._first + self._next
            ports = list(range(first, first + count))
            self._next += count
            if all(map(_is_free, ports)):
                return ports


_ports = Ports()


def free_ports(count: int) -> list[int]:
    """So many in a row."""
    return _ports.take(count)


def _is_free(port: int) -> bool:
    with socket.socket() as one:
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
