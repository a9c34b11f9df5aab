"""Delegation, whose weights are not symmetric: agents ask one neighbour, and nobody asks them."""

import asyncio

import pytest

from live.small_network import opened, small
from mtcool.live.refusals import Refusal

STAR = {"kind": "edges", "edges": [[0, 1], [0, 2], [0, 3]]}
DELEGATED = {"algorithm": {"dim": 2, "loss": "squared", "lipschitz": 4.0, "weights": "delegation"}}


def star(folder, most):
    return small(folder, graph=STAR, hosts=2, limits={"outbox": most}, **DELEGATED)


def test_a_host_whose_agents_only_ask_others_has_these_as_neighbours(tmp_path):
    async def play():
        async with opened(star(tmp_path, 3)) as nodes:
            (hub,) = (one for one in nodes.values() if 0 in one.host.drivers)
            (other,) = (one for one in nodes.values() if one is not hub)
            leaf = next(name for name in other.host.drivers)
            assert other.host.neighbours == {hub.name}
            assert list(other.host.drivers[leaf].neighbours) == [0]
            other.cut.add(hub.name)
            for _ in range(3):
                await other.learn(leaf, [0.1, 0.2], 1.0)
            with pytest.raises(Refusal, match="outbox for host"):
                await other.learn(leaf, [0.1, 0.2], 1.0)
            (told,) = (one for one in other.status()["agents"] if one["agent"] == leaf)
            assert (told["health"], told["neighbours"]) == ("cut off", [0])

    asyncio.run(play())
