"""Ports on this machine that nobody uses, one after the other."""

import os
import random
import socket

LOWEST, HIGHEST = 18_000, 32_000
"""Above those that pages name, and below those that the system gives to connections."""
_chance = random.Random(os.getpid())  # tests run in several processes


def free_ports(count: int) -> list[int]:
    """So many in a row."""
    while True:
        first = _chance.randrange(LOWEST, HIGHEST - count)
        ports = list(range(first, first + count))
        if all(map(_is_free, ports)):
            return ports


def _is_free(port: int) -> bool:
    with socket.socket() as one:
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
