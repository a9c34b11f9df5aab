"""Calls that are cancelled leave nothing behind: no message that waits, and no database locked."""

import asyncio
from pathlib import Path

from live.small_network import small
from mtcool.live import Node
from mtcool.live.transport.memory import MemoryExchange, MemoryTransport

PAIR = {"graph": {"kind": "edges", "edges": [[0, 1]]}}


def test_messages_of_a_cancelled_prediction_are_delivered_all_the_same(tmp_path: Path) -> None:
    async def play() -> None:
        exchange, timing = MemoryExchange(), {"rows": 5.0, "delivery": 0.2}
        network = small(tmp_path, agents=2, hosts=2, **PAIR, timing=timing)
        one, two = (
            Node(network, name, transport=MemoryTransport(name, exchange))
            for name in network.places
        )
        async with one, two:
            link = one.host.links["host1"]
            async with asyncio.timeout(60.0):
                while not link.greeted:
                    await asyncio.sleep(0.01)
                await one.learn(0, [1.0, 2.0], 3.0)
                exchange.cut.add(frozenset(network.places))
                predicting = asyncio.create_task(one.predict(0, [1.0, 0.0]))
                await asyncio.sleep(0.1)  # the timer of deliveries is over
                assert link.waiting  # the gradient travels with the question
                predicting.cancel()
                await asyncio.gather(predicting, return_exceptions=True)
                exchange.cut.clear()
                while link.outbox:
                    await asyncio.sleep(0.01)
            assert two.host.links["host0"].taken == 1

    asyncio.run(play())


def test_a_node_that_is_cancelled_while_it_closes_is_closed(tmp_path: Path) -> None:
    async def play() -> None:
        network, nodes = small(tmp_path, agents=2, hosts=2, **PAIR), list[Node]()

        async def live(patience: float) -> None:
            transport = MemoryTransport("host0", MemoryExchange())
            async with Node(network, "host0", transport=transport) as node:
                nodes.append(node)
                await node.learn(0, [1.0, 2.0], 3.0)
                await asyncio.sleep(patience)

        living = asyncio.create_task(live(60.0))
        while not nodes or not nodes[0].host.learned[0]:
            await asyncio.sleep(0.01)
        living.cancel()
        await asyncio.sleep(0)
        living.cancel()  # it closes now
        await asyncio.gather(living, return_exceptions=True)
        assert nodes[0]._engine.closed == "it is closed"
        await live(0.0)  # nobody has its database
        assert nodes[1].host.learned[0] == 2

    asyncio.run(play())
