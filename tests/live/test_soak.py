"""A short soak; `make soak` is a long one."""

import asyncio

import pytest

from live.soak import soak

SECONDS, STRETCHES = 9.0, 6
MEGABYTES = 10.0
"""Memory may grow by this between the second stretch and the last."""
SLOWEST = 0.6
"""The last half over the first, in activations of a CPU second; machines are noisy."""


# It collects the garbage of the tests before it, sockets of theirs among it, to see its own memory.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_memory_and_outboxes_stay_bounded_and_the_pace_does_not_decay() -> None:
    seen = asyncio.run(soak(SECONDS, STRETCHES))
    assert all(one.waiting == 0 for one in seen), seen
    assert seen[-1].memory - seen[1].memory < MEGABYTES, seen
    early = max(one.activations for one in seen[1 : STRETCHES // 2])
    late = max(one.activations for one in seen[STRETCHES // 2 :])
    assert late > SLOWEST * early, seen
