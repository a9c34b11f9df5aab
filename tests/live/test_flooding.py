"""A neighbour with a valid certificate asks far too much: work and memory stay bounded."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np

from live.small_network import opened, play, small, stop_the_clock
from mtcool.live import Node
from mtcool.live.wire import Ask, RowReplies, question_in, reply_in, to_bytes

RATE = 5


def asked(node: Node, other: Node) -> bytes:
    """A question of a node for rows of another."""
    return node.host.begin(0, np.ones(2)).questions[other.name]


def test_work_is_done_for_as_many_questions_as_are_allowed(tmp_path: Path) -> None:
    async def scenario() -> None:
        network = small(tmp_path, agents=3, hosts=3, limits={"rate": RATE})
        async with opened(network) as nodes:
            one, two, _ = nodes.values()
            content = asked(one, two)
            two._engine.commit()
            stop_the_clock(two)
            done, answer = [], two.host.answer
            two.host.answer = lambda *given: done.append(given) or answer(*given)
            replies = [two._answer(one.name, content) for _ in range(50)]
            assert sum(reply is not None for reply in replies) == len(done) == RATE
            noted = list(two._counts._noted)
            assert len(noted) >= 2 * RATE
            assert not any(isinstance(part, bytes) for parts in noted for part in parts)

    asyncio.run(scenario())


def test_a_question_that_waits_for_the_loop_is_counted_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        network = small(tmp_path, agents=3, hosts=3, limits={"rate": RATE})
        async with opened(network) as nodes:
            one, two, _ = nodes.values()
            content, replies = asked(one, two), list[bytes]()
            two._engine.commit()
            stop_the_clock(two)
            two.host.answer = lambda *given: None  # an event happens at this moment
            for _ in range(RATE + 2):
                assert two._answer(one.name, content) is None
                two._take(one.name, content, replies.append)
            for _ in range(20):
                await asyncio.sleep(0)
            assert [type(reply_in(reply)) for reply in replies] == [RowReplies] * RATE
            two._inbox.clock = lambda: 7.0 + 2 / RATE
            two._inbox._schedule()
            for _ in range(20):
                await asyncio.sleep(0)
            assert [type(reply_in(reply)) for reply in replies] == [RowReplies] * (RATE + 2)

    asyncio.run(scenario())


def test_a_question_that_asks_an_agent_twice_or_too_many_is_refused(tmp_path: Path) -> None:
    async def scenario() -> None:
        network = small(tmp_path, agents=6, hosts=3)
        async with opened(network) as nodes:
            await play(network, nodes, 12)
            one, two, three = nodes.values()
            question = question_in(asked(one, three))
            assert isinstance(question, Ask)
            strangers = [(k, question.items[0][1]) for k in range(4096)]
            for items in (question.items * 2, [([{}], b"")] * 2, question.items * 9, strangers):
                content = to_bytes(Ask(question.network, 0, items))
                assert three.host.answer(one.name, content) is None
                before = three.host.refused.total()
                three.host.receive(one.name, content, 7)
                three._engine.commit()
                assert three.host.refused.total() == before + 1
            for words in ("must be asked once", "that can be hashed", "must be at most"):
                assert any(words in reason for _, reason in three.host.refused)
            assert not two.host.refused

    asyncio.run(scenario())
