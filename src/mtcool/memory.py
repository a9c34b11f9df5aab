"""Checks that what is asked for fits into memory, before anything is allocated."""

import os
from collections.abc import Iterator
from pathlib import Path

UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB", "EB")


def require(name: str, value: object, size: float, note: str = "") -> None:
    """Refuse the argument `name` if what it asks for needs more than there is.

    `size` is an estimate in bytes that does not exaggerate: what fits must not be refused.

    Examples
    --------
    >>> require("rounds", 1000, 32_000)
    >>> require("rounds", 10**20, 32 * 10**20)
    Traceback (most recent call last):
    ...
    ValueError: rounds must fit into memory, got 100000000000000000000, which needs about 3,2...
    """
    free, size = available(), min(size, 1e100)
    if free is not None and size > free:
        raise ValueError(
            f"{name} must fit into memory, got {value}, which needs about {readable(size)}"
            f"{note}; {readable(free)} are available"
        )


def available() -> int | None:
    """Bytes that this process may still take, or None where the system does not tell."""
    return min(_limits(), default=None)


def readable(size: float) -> str:
    """A number of bytes for people.

    Examples
    --------
    >>> readable(1_600), readable(32e12), readable(7)
    ('1.6 kB', '32 TB', '7 bytes')
    """
    power = 0
    while size >= 1000 and power < len(UNITS) - 1:
        size, power = size / 1000, power + 1
    digits = 1 if size < 10 and size != int(size) else 0
    number = f"{size:,.{digits}f}" if size < 1e6 else f"{size:.0e}"
    return f"{number} {UNITS[power]}"


def _limits() -> Iterator[int]:
    """What the system has left, and the most that a container or a shell allows."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        yield next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
            yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            yield int(Path(path).read_text())
        except (OSError, ValueError):  # no such limit, or "max"
            continue
    try:
        import resource
    except ImportError:  # not on Windows
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY:
        yield limit
