"""Where the graph of an algorithm cannot change, nobody leaves or joins: not on its own host."""

import asyncio

import pytest

from live.small_network import PRIVATE
from live.test_moving import HERE, KINDS, LEFT, network
from mtcool.live import Node
from mtcool.live.transport.memory import Exchange, MemoryTransport


@pytest.mark.parametrize(("first", "then"), [(HERE, LEFT), (LEFT, HERE)], ids=["leaves", "joins"])
def test_an_agent_whose_neighbours_cannot_change_stays(tmp_path, monkeypatch, first, then):
    monkeypatch.setitem(KINDS, "private", PRIVATE)

    async def play() -> None:
        transport = MemoryTransport("h", Exchange())
        async with Node(network(tmp_path, 0, first, "private"), "h", transport=transport) as node:
            before = node.host.lives(), node.host.version
            with pytest.raises(ValueError, match=r"neighbours of 'a' must stay .* cannot change"):
                await node.reload(network(tmp_path, 1, then, "private"))
            assert before == (node.host.lives(), node.host.version)
            await node.predict("p", [0.1, 0.1])

    asyncio.run(play())
