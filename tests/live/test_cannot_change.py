"""Where the graph of an algorithm cannot change, nobody leaves or joins: not on its own host."""

import asyncio

import pytest

from live.small_network import PRIVATE
from live.test_moving import HERE, KINDS, LEFT, network
from mtcool.live import Node
from mtcool.live.transport.memory import MemoryExchange, MemoryTransport

ADAPTIVE = {"algorithm": {"dim": 2, "loss": "squared", "lipschitz": "adaptive"}}


@pytest.mark.parametrize(
    ("kind", "words"),
    [(PRIVATE, "dpmt_co2ol"), (ADAPTIVE, "mt_co2ol with lipschitz = 'adaptive'")],
    ids=["private", "adaptive"],
)
@pytest.mark.parametrize(("first", "then"), [(HERE, LEFT), (LEFT, HERE)], ids=["leaves", "joins"])
def test_an_agent_whose_neighbours_cannot_change_stays(
    tmp_path, monkeypatch, first, then, kind, words
):
    monkeypatch.setitem(KINDS, "fixed", kind)

    async def play() -> None:
        transport = MemoryTransport("h", MemoryExchange())
        async with Node(network(tmp_path, 0, first, "fixed"), "h", transport=transport) as node:
            before = node.host.lives(), node.host.version
            with pytest.raises(
                ValueError, match=f"neighbours of 'a' must stay .* of {words} cannot change"
            ):
                await node.reload(network(tmp_path, 1, then, "fixed"))
            assert before == (node.host.lives(), node.host.version)
            await node.predict("p", [0.1, 0.1])

    asyncio.run(play())
