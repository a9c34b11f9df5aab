"""A neighbour on the same host may refuse what it is told; who has learned has learned."""

import asyncio
from pathlib import Path

from live.small_network import opened, small
from mtcool.live import Node, replay_files

PATH = {"graph": {"kind": "edges", "edges": [[0, 1], [1, 2]]}}
SINGLE = {"algorithm": {"algorithm": "st_ftrl", "dim": 2, "loss": "squared"}}
HUGE = [1e200, 1e200]


def test_learning_is_done_counted_and_in_the_journal_if_a_neighbour_refuses(tmp_path: Path) -> None:
    """Neighbours of ST-FTRL take the gradient at their own points, where it may be too long."""

    async def play() -> Node:
        network = small(tmp_path, agents=3, hosts=1, **PATH, **SINGLE, journal=True)
        async with opened(network) as nodes:
            node = nodes["host0"]
            for _ in range(3):
                await node.learn(2, [0.5, 0.1], 1.0)
            await node.learn(0, HUGE, 0.0)
            assert node.host.learned[0] == 1
            ((host, reason),) = node.host.refused
            assert (host, node.host.refused.total()) == ("host0", 1)
            assert reason.startswith("gradient must")
            said = (await node.predict(0, HUGE)).value, (await node.predict(1, [1.0, 1.0])).value
            return said

    said = asyncio.run(play())
    found = replay_files([tmp_path / "state" / "host0.db"])
    assert not found.differences
    assert found.same == found.predictions == 4 + len(said)
    assert found.learned == 4
