"""A database restored from a copy is noticed, because neighbours remember more than it does."""

import copy

import numpy as np
import pytest

from live.networks import private, shards
from live.world import World
from mtcool.live.host import Refusal


def run_some_rounds(world: World, rounds: int) -> None:
    world.faults, world.left = False, rounds
    while world.left > 0:
        world.step()
    world.calm()


def restored(world: World, name: str) -> World:
    """Let a host go on from an older copy of its disk, and talk to the others."""
    process = world.processes[name]
    older = copy.deepcopy(process.disk)
    run_some_rounds(world, 30)
    process.disk = older
    process.begin()
    for _ in range(5):
        for one in world.processes.values():
            world.send_batches(one)
        while world.letters:
            world.deliver(world.letters.pop(0))
            for one in world.processes.values():
                world.begin_commit(one)
                world.end_commit(one)
    return world


def test_a_private_host_refuses_to_go_on_from_an_old_copy() -> None:
    world = World(1, private())
    run_some_rounds(world, 10)
    host = restored(world, "host1").processes["host1"].host
    assert host.trouble
    agent = next(iter(host.drivers))
    asked = host.begin(agent)
    host.predict(asked.number, {})
    before = host.drivers[agent].keep()
    with pytest.raises(Refusal, match="restored from a copy"):
        host.learn(asked.number, np.array([0.5]), None)
    assert host.drivers[agent].keep() == before


def test_a_private_host_waits_for_its_neighbours_after_a_restart() -> None:
    world = World(2, private())
    run_some_rounds(world, 10)
    process = world.processes["host0"]
    process.begin()
    asked = process.host.begin(0)
    process.host.predict(asked.number, {})
    with pytest.raises(Refusal, match="must say what it knows of us"):
        process.host.learn(asked.number, np.array([0.5]), None)
    world.calm()
    process.host.learn(asked.number, np.array([0.5]), None)


def test_nothing_is_sent_over_a_link_whose_other_end_remembers_more() -> None:
    world = World(3, shards())
    run_some_rounds(world, 10)
    host = restored(world, "host1").processes["host1"].host
    assert set(host.trouble) == {"host0", "host2"}
    assert host.batch("host0") is None
