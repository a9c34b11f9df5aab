"""Schedules of disasters, some hundreds; `make disasters` plays ten thousand."""

import pytest

from live import planted
from live.disasters import play
from live.networks import NETWORKS, private, ring

SCHEDULES = {
    "ring": 150,
    "shards": 60,
    "tables": 60,
    "private": 60,
    "changing": 100,
    "changing_tables": 60,
}
FOUND_WITHIN = 120


@pytest.mark.parametrize("kind", [*NETWORKS])
def test_nothing_is_lost_nothing_comes_twice_and_the_journal_replays(kind: str) -> None:
    found = [wrong for seed in range(SCHEDULES[kind]) if (wrong := play(kind, seed))]
    assert not found, found[:3]


@pytest.mark.parametrize(
    "bug", [*planted.HOSTS, *planted.DISKS, *planted.FORGETFUL, *planted.PRIVATE]
)
def test_planted_mistakes_are_found_by_what_they_do(bug: type) -> None:
    small = private() if bug in planted.PRIVATE else ring()
    for seed in range(FOUND_WITHIN):
        world = planted.world_with(bug, seed, small)
        world.run()
        if bug.found_by in world.findings():
            return
    pytest.fail(f"{bug.__name__} was not found in {FOUND_WITHIN} schedules")
