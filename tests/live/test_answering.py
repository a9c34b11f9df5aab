"""Questions for rows that are answered at once, on whatever thread they come."""

import asyncio
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from live.small_network import opened, play, small, stop_the_clock
from mtcool.agents.messages import FieldGradient, decode, encode
from mtcool.live import Node
from mtcool.live.config import Description, drivers_of
from mtcool.live.host import Host
from mtcool.live.transactions import Replied
from mtcool.live.wire import Ask, Deliver, RowReplies, question_in, reply_in, to_bytes

KT = {"algorithm": {"dim": 2, "learner": "MTFTRLKT"}}


def hosts_of(network: Description) -> tuple[Host, Host]:
    """Two hosts that are neighbours, of which everything is durable."""
    make, hosts = drivers_of(network), []
    for name in list(network.places)[:2]:
        agents = [agent for agent, home in network.home.items() if home == name]
        host = Host(network.share(name), {agent: make(agent) for agent in agents})
        host.committed(host.changes())
        hosts.append(host)
    return hosts[0], hosts[1]


def question(asker: Host, other: Host, agent: int = 0) -> bytes:
    return asker.begin(agent).questions[other.share.host]


def learned(host: Host, agent: int, gradient: float) -> None:
    asked = host.begin(agent)
    host.predict(asked.number, {})
    host.learn(asked.number, np.array([gradient, -gradient]), None)


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Host, Host]:
    return hosts_of(small(tmp_path, agents=3, hosts=3, **KT))


def test_an_answer_at_once_is_the_answer_in_turn(pair: tuple[Host, Host]) -> None:
    asker, other = pair
    learned(other, 1, 0.5)
    other.committed(other.changes())
    content = question(asker, other)
    at_once = other.answer(asker.share.host, content)
    other.receive(asker.share.host, content, 3)
    assert other.ready() == [Replied(3, at_once or b"")]
    assert not other.refused


def test_nothing_is_answered_at_once_that_is_not_durable(pair: tuple[Host, Host]) -> None:
    asker, other = pair
    content = question(asker, other)
    learned(other, 1, 0.5)
    assert other.answer(asker.share.host, content) is None
    changes = other.changes()
    assert other.answer(asker.share.host, content) is None  # it may fail to be written
    other.committed(changes)
    assert other.answer(asker.share.host, content) is not None


def test_what_is_not_plain_is_left_to_the_loop(pair: tuple[Host, Host]) -> None:
    asker, other = pair
    me, content = asker.share.host, question(asker, other)
    asked = question_in(content)
    network = asked.network
    strange = [
        b"",
        content[:-1],
        to_bytes(Ask(network + 1, 0, asked.items)),
        to_bytes(Ask(network, 1, asked.items)),
        to_bytes(Ask(network, 0, [(9, asked.items[0][1])])),
        to_bytes(Ask(network, 0, asked.items, 1, asked.items)),
        to_bytes(Deliver(network, 0, 1, [])),
    ]
    assert [other.answer(me, one) for one in strange] == [None] * len(strange)
    assert other.answer("stranger", content) is None
    assert not other.refused  # nobody has looked at it yet
    assert not other.urgent


def test_a_question_for_rows_teaches_nothing(pair: tuple[Host, Host]) -> None:
    asker, other = pair
    me, content = asker.share.host, question(asker, other)
    row = other.answer(me, content)
    gradient = encode(FieldGradient(0, 0.0, 0.5, 0.0, np.array([0.6, 0.8]).tobytes()))
    asked = to_bytes(Ask(question_in(content).network, 0, [(1, gradient)]))
    assert other.answer(me, asked) is None
    other.receive(me, asked, 1)
    (said,) = other.ready()
    assert isinstance(said, Replied)
    assert reply_in(said.content) == RowReplies(0, [None])
    assert other.refused.total() == 1
    assert other.answer(me, content) == row


def test_nothing_is_answered_while_an_event_happens(pair: tuple[Host, Host]) -> None:
    asker, other = pair
    content, found = question(asker, other), list[bytes | None]()

    def ask() -> None:
        found.append(other.answer(asker.share.host, content))

    with other.turn:
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    ask()
    assert found[0] is None
    assert found[1] is not None


def test_a_thread_that_asks_all_the_time_sees_durable_rows_only(pair: tuple[Host, Host]) -> None:
    asker, other = pair
    me, content, ended = asker.share.host, question(asker, other), threading.Event()
    durable: dict[int, bytes | None] = {}
    replies: list[RowReplies] = []

    def note() -> None:
        other.receive(me, content, 1)
        (said,) = other.ready()
        assert isinstance(said, Replied)
        reply = reply_in(said.content)
        assert isinstance(reply, RowReplies)
        durable[reply.version] = reply.items[0]

    def ask() -> None:
        while not ended.is_set():
            reply = other.answer(me, content)
            if reply is not None:
                rows = reply_in(reply)
                assert isinstance(rows, RowReplies)
                replies.append(rows)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread = threading.Thread(target=ask)
    try:
        note()
        thread.start()
        for k in range(1, 400):
            learned(other, 1, 0.7 * (-1) ** (k // 3))
            changes = other.changes()
            other.committed(changes)
            note()
            time.sleep(1e-4)
    finally:
        ended.set()
        thread.join()
        sys.setswitchinterval(interval)
    assert len({rows.version for rows in replies}) > 1
    for rows in replies:
        assert rows.items == [durable[rows.version]]
    assert decode(durable[1] or b"") is not None


def test_what_is_answered_at_once_is_counted_and_limited(tmp_path: Path) -> None:
    async def scenario() -> None:
        network = small(tmp_path, agents=3, hosts=3, limits={"rate": 3}, **KT)
        async with opened(network) as nodes:
            one, two, _ = nodes.values()
            content = question(one.host, two.host)
            two._engine.commit()  # how its agents were in the beginning
            stop_the_clock(two)
            before, answered = _counted(two), 0
            for _ in range(20):
                answered += two._answer(one.name, content) is not None
            assert answered == 3
            received, sent = _counted(two)
            assert received == before[0] + answered
            assert sent == before[1] + answered
            two.cut.add(one.name)
            assert two._answer(one.name, content) is None

    asyncio.run(scenario())


def _counted(node: Node) -> tuple[int, int]:
    return node.counts.received.messages["ask"], node.counts.sent.messages["rows"]


def test_a_closed_node_answers_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        network = small(tmp_path, agents=3, hosts=3)
        async with opened(network) as nodes:
            await play(network, nodes, 2)
            one, two, _ = nodes.values()
            content = one.host.begin(0, np.ones(2)).questions[two.name]
        assert two._answer(one.name, content) is None

    asyncio.run(scenario())
