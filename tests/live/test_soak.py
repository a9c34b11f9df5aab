"""A short soak; `make soak` is a long one."""

import pytest

from live.soak import Stretch, check, process, run

STRETCHES = 6


def test_memory_and_outboxes_stay_bounded_and_the_pace_does_not_decay() -> None:
    with process() as one, process() as another:  # side by side, to take less time
        in_memory = one.submit(run, 1500, STRETCHES, 0.0, False)
        over_zenoh = another.submit(run, 800, STRETCHES, 0.0, True)
    check(in_memory.result())
    check(over_zenoh.result())


@pytest.mark.parametrize(
    "last",
    [
        Stretch(1000.0, 120.0, 50, 0),
        Stretch(500.0, 100.0, 50, 0),
        Stretch(1000.0, 100.0, 50, 1),
        Stretch(1000.0, 100.0, 9_000, 0),
        Stretch(1000.0, 100.0, 0, 0),
    ],
    ids=["memory", "pace", "waiting", "outbox", "nothing was cut"],
)
def test_a_soak_that_goes_wrong_is_noticed(last: Stretch) -> None:
    good = Stretch(1000.0, 100.0, 50, 0)
    check([good] * STRETCHES)
    slow = [last] * (STRETCHES // 2)
    with pytest.raises(AssertionError):
        check([good] * (STRETCHES // 2) + slow)
