"""Connections of zenoh whose other end is gone must not hold up those that work.

zenoh closes sockets with `SO_LINGER` of ten seconds, on its thread: where packets vanish, the
system holds that thread until then, for each connection, and no other host is heard meanwhile.
Without the option the system goes on sending by itself, and zenoh's thread goes on at once.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import struct
from collections.abc import Collection

DESCRIPTORS = "/proc/self/fd"
OFF = struct.pack("ii", 0, 0)


def linger_not(here: int, there: Collection[int]) -> int:
    """Let connections of this process close at once; returns how many would have lingered.

    Parameters
    ----------
    here
        The port at which others connect to us.
    there
        Ports at which we connect to others.

    Examples
    --------
    >>> with socket.create_server(("127.0.0.1", 0)) as server:
    ...     port = server.getsockname()[1]
    ...     with socket.create_connection(("127.0.0.1", port)) as caller:
    ...         caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 10))
    ...         linger_not(0, [port]), linger_not(0, [port])
    (1, 0)
    """
    count = 0
    for name in os.listdir(DESCRIPTORS) if os.path.isdir(DESCRIPTORS) else ():
        with contextlib.suppress(OSError):  # it may have been closed meanwhile
            count += _changed(int(name), here, there)
    return count


def _changed(descriptor: int, here: int, there: Collection[int]) -> bool:
    """Let a connection close at once, if it is one of these; whether it would have lingered."""
    if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
        return False
    # What a descriptor is may change at any time, but not what its duplicate is.
    duplicate = os.dup(descriptor)
    try:
        one = socket.socket(fileno=duplicate)
    except OSError:
        os.close(duplicate)
        raise
    with one:
        if one.family not in (socket.AF_INET, socket.AF_INET6):
            return False
        ours = one.getsockname()[1] == here or one.getpeername()[1] in there
        if not ours or not one.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, len(OFF))[0]:
            return False
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, OFF)
        return True
