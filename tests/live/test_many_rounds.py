"""Many rounds of one agent at a time: none of them is lost to the others."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from live.small_network import opened, small
from mtcool.live import Node
from mtcool.live.journals import replay_files
from mtcool.live.transport.memory import MemoryExchange, MemoryTransport


def test_learning_outlives_many_predictions_of_its_agent(tmp_path: Path) -> None:
    async def play() -> None:
        transport = MemoryTransport("host0", MemoryExchange())  # the neighbours are down
        async with Node(small(tmp_path, journal=True), "host0", transport=transport) as node:
            learning = asyncio.create_task(node.learn(0, [9.0, 9.0], 1.0))
            await asyncio.sleep(0.01)
            many = [node.predict(0, [1.0, float(k)]) for k in range(3 * node.host.limits.rounds)]
            await asyncio.gather(*many, learning)
            assert node.host.learned[0] == 1

    asyncio.run(play())
    again = replay_files([tmp_path / "state" / "host0.db"])
    assert (again.learned, again.differences) == (1, [])
    assert again.same == again.predictions > 192


def test_a_round_that_gave_way_before_it_was_learned_from_is_predicted_again(
    tmp_path: Path,
) -> None:
    """While a prediction waits for its transaction, many others may be ready."""

    async def play() -> None:
        async with opened(small(tmp_path, hosts=1)) as nodes:
            (node,) = nodes.values()
            host, engine = node.host, node._engine
            wait = engine.next_transaction

            async def slow(*given: object) -> None:
                for _ in range(host.limits.rounds):
                    host.predict(host.begin(0, np.ones(2)).number, {})
                engine.next_transaction = wait
                await wait()

            engine.commit()  # how its agents were in the beginning
            engine.next_transaction = slow
            other = asyncio.create_task(node.learn(1, [1.0, 1.0], 1.0))
            await asyncio.sleep(0.0)
            assert host.urgent  # so the next prediction waits
            await node.learn(0, [2.0, 2.0], 1.0)
            await other
            assert (host.learned[0], host.learned[1]) == (1, 1)

    asyncio.run(play())


def test_a_prediction_that_has_given_way_is_told_so(tmp_path: Path) -> None:
    async def play() -> None:
        async with opened(small(tmp_path, hosts=1)) as nodes:
            (node,) = nodes.values()
            host = node.host
            first = host.begin(0, np.ones(2)).number
            host.predict(first, {})
            for _ in range(host.limits.rounds):
                host.predict(host.begin(0, np.ones(2)).number, {})
            with pytest.raises(ValueError, match=f"round must be open, got {first}"):
                host.learn(first, 1.0, None)

    asyncio.run(play())
