"""Strangers, liars and nonsense: nothing changes, and all of it is counted."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from live.networks import NETWORKS, Small
from live.small_network import stop_the_clock
from live.world import World
from mtcool.agents import FieldAgent, PrivateAgent
from mtcool.agents.messages import (
    FieldGradient,
    Gradient,
    Lesson,
    RowRequest,
    Sums,
    decode,
    encode,
)
from mtcool.learn.agent import PanelAgent
from mtcool.live import inbox
from mtcool.live.config import described
from mtcool.live.history import NOTHING, chained
from mtcool.live.host import Host
from mtcool.live.journal import Taken, entry_in
from mtcool.live.mailbox import MOST_ITEMS
from mtcool.live.node import Node
from mtcool.live.transactions import Replied
from mtcool.live.transport.memory import MemoryExchange, MemoryTransport
from mtcool.live.wire import (
    SCHEMA,
    Ask,
    Deliver,
    DurablePosition,
    Refused,
    RowReplies,
    question_in,
    reply_in,
    to_bytes,
)

NETWORK = 7
FUZZED = 25_000
"""For each of the kinds of networks."""
COMPARED = 5
"""Every fifth time, everything is compared with how it was before."""


def played(small: Small) -> World:
    world = World(5, small)
    world.faults, world.left = False, 60
    while world.left > 0:
        world.step()
    world.calm()
    return world


def victim(small: Small) -> tuple[Host, str, object, object]:
    """A host that has learned a little; another host, its agent and that agent's neighbour here."""
    return victim_in(played(small))


def victim_in(world: World) -> tuple[Host, str, object, object]:
    host = world.processes["host0"].host
    home = host.share.home
    for mine, driver in host.drivers.items():
        for other in driver.neighbours:
            if home[other] != host.share.host:
                return host, home[other], other, mine
    raise AssertionError("a host must have neighbours elsewhere")


def taken_from(peer: str, world: World) -> list[tuple[object, bytes]]:
    """All messages that the victim has taken from another host."""
    entries = map(entry_in, world.processes["host0"].disk.journal)
    taken = [one for one in entries if isinstance(one, Taken) and one.host == peer]
    return [item for one in taken for item in one.items]


def everything(host: Host) -> tuple[object, ...]:
    agents = {name: driver.keep() for name, driver in host.drivers.items()}
    links = {name: (link.numbers, [*link.outbox]) for name, link in host.links.items()}
    return agents, links, host.version, host.rounds, dict(host.learned)


def replies(host: Host) -> list[object]:
    effects = host.committed(host.changes()) if host.urgent else host.ready()
    return [reply_in(one.content) for one in effects if isinstance(one, Replied)]


def told_by(host: Host, sender: object, number: float, size: float = 0.1) -> object:
    """A message to learn from, as agents of this network send it."""
    agent = next(iter(host.drivers.values())).agent
    if isinstance(agent, PanelAgent):
        return Lesson(sender, number, np.full(2 * 2 * 2, size))
    if isinstance(agent, FieldAgent):
        return FieldGradient(sender, number, 1 / 3, 0.0, np.full(1, size).tobytes())
    if isinstance(agent, PrivateAgent):
        return Sums(sender, number, np.full(1, size), np.full(3, size))
    return Gradient(sender, number, np.full(1, size))


Way = Callable[[int, list[tuple[object, bytes]], int], bytes]
"""How messages come: their first number, they themselves, and the digest of all before them."""


def delivered(first: int, items: list[tuple[object, bytes]], after: int) -> bytes:
    return to_bytes(Deliver(NETWORK, 0, first, items, after=after))


def riding(first: int, items: list[tuple[object, bytes]], after: int) -> bytes:
    return to_bytes(Ask(NETWORK, 0, [], first, items, after))


def next_of(host: Host, peer: str, message: tuple[object, bytes]) -> tuple[int, list, int]:
    """A message as the next one of a host that remembers all that it has said."""
    link = host.links[peer]
    return link.taken + 1, [message], link.history


@pytest.fixture(params=[delivered, riding])
def way(request: pytest.FixtureRequest) -> Way:
    return request.param


@pytest.fixture(params=[*NETWORKS])
def small(request: pytest.FixtureRequest) -> Small:
    return NETWORKS[request.param]()


def test_a_host_that_is_no_neighbour_is_refused(small: Small) -> None:
    host, _, other, mine = victim(small)
    before = everything(host)
    for content in (
        to_bytes(Ask(NETWORK, 0, [(mine, encode(RowRequest(other)))])),
        to_bytes(Deliver(NETWORK, 0, 1, [])),
        b"",
    ):
        host.receive("stranger", content, 1)
        (said,) = replies(host)
        assert isinstance(said, Refused)
    assert everything(host) == before
    assert sum(host.refused.values()) == 3


def test_another_network_another_schema_and_too_much_are_refused(small: Small) -> None:
    host, peer, other, mine = victim(small)
    before, good = everything(host), to_bytes(Deliver(NETWORK, 0, 1, []))
    request, told = encode(RowRequest(other)), encode(told_by(host, other, 1e9))
    many = [(mine, request)] * (MOST_ITEMS + 1)
    first = host.links[peer].taken + 1
    for content in (
        to_bytes(Deliver(NETWORK + 1, 0, 1, [])),
        bytes([SCHEMA + 1]) + good[1:],
        good[:-1],
        good + b"x",
        to_bytes(Ask(NETWORK, 0, many)),
        to_bytes(Ask(NETWORK, 0, many[:1], first, [(mine, told)] * MOST_ITEMS)),
        to_bytes(Deliver(NETWORK, 0, first, [(mine, told)] * (MOST_ITEMS + 1))),
        bytes([SCHEMA]) + msgspec.msgpack.encode([3, -1, 0, [], {}]),
        bytes([SCHEMA]) + b"\x91" * 100_000,
    ):
        host.receive(peer, content, 1)
        (said,) = replies(host)
        assert isinstance(said, Refused)
    assert everything(host) == before
    assert sum(host.refused.values()) == 9


def test_a_row_is_told_to_the_agent_whose_task_it_is_and_to_nobody_else(small: Small) -> None:
    host, peer, _, mine = victim(small)
    strangers = [name for name in range(6) if host.share.home.get(name) != peer]
    before = everything(host)
    for claimed in [*strangers, "nobody", ["nested", 1]]:
        host.receive(peer, to_bytes(Ask(NETWORK, 0, [(mine, encode(RowRequest(claimed)))])), 1)
        (said,) = replies(host)
        assert isinstance(said, RowReplies)
        assert said.items == [None]
    assert everything(host) == before
    assert sum(host.refused.values()) == len(strangers) + 2


def wrong_messages(host: Host, other: object) -> list[bytes]:
    """What a neighbour may not say, each in a message of its own."""
    away = [name for name in range(6) if host.share.home.get(name) not in (None, "host1")]
    nan, huge = float("nan"), 1e300
    found = [
        encode(told_by(host, away[0], 1.0)),  # in another's name
        encode(told_by(host, "nobody", 1.0)),
        encode(told_by(host, other, 1e9, nan)),
        encode(told_by(host, other, 1e9, huge)),
        encode(told_by(host, other, -1.0)),
        encode(told_by(host, other, nan)),
        encode(told_by(host, other, 1.5)),
        encode(RowRequest(other)),
        encode(Gradient(other, 1e9, np.zeros(17))),
        encode(Gradient(other, 1e9, np.full(1, 1.1))),
        encode(Sums(other, 1e9, np.zeros(3), np.zeros(1))),
        encode(FieldGradient(other, 1e9, 0.9, 0.0, np.full(1, 0.5).tobytes())),
        encode(FieldGradient(other, 1e9, nan, 0.0, np.full(1, 0.5).tobytes())),
        encode(FieldGradient(other, 1e9, 0.2, 1e9, np.full(1, 0.5).tobytes())),
        encode(FieldGradient(other, 1e9, 0.2, 0.0, np.full(1, 1.5).tobytes())),
        encode(FieldGradient(other, 1e9, 0.2, 0.0, b"short")),
        b"",
        b"\x01",
        b"\x00" * 40,
    ]
    return found


def test_a_right_message_is_learned_from(small: Small, way: Way) -> None:
    host, peer, other, mine = victim(small)
    before = everything(host)
    host.receive(
        peer,
        way(*next_of(host, peer, (mine, encode(told_by(host, other, 1e3))))),
        1,
    )
    (said,) = replies(host)
    assert not isinstance(said, Refused)
    assert said.last == host.links[peer].taken
    assert everything(host)[0] != before[0]
    assert not host.refused


def test_wrong_messages_leave_the_agents_as_they_are(small: Small, way: Way) -> None:
    host, peer, other, mine = victim(small)
    agents = everything(host)[0]
    for content in wrong_messages(host, other):
        counted = sum(host.refused.values())
        host.receive(peer, way(*next_of(host, peer, (mine, content))), 1)
        (said,) = replies(host)
        assert not isinstance(said, Refused)  # what follows it may be right
        assert sum(host.refused.values()) == counted + 1, content
        assert everything(host)[0] == agents, content


def test_old_messages_that_come_again_are_not_taken_again(small: Small, way: Way) -> None:
    world = played(small)
    host, peer, _, _ = victim_in(world)
    before, old = everything(host), taken_from(peer, world)
    assert old
    for first in range(1, len(old) + 1):
        after = chained(NOTHING, old[: first - 1])
        host.receive(peer, way(first, old[first - 1 :], after), 1)
        (said,) = replies(host)
        assert said.last == len(old)
    assert everything(host) == before
    assert not host.refused


def test_others_under_the_same_numbers_are_not_taken_and_noticed(small: Small, way: Way) -> None:
    host, peer, other, mine = victim(small)
    before = everything(host)
    false = [(mine, encode(told_by(host, other, 1e3)))] * (host.links[peer].taken + 1)
    for first in range(1, len(false) + 1):
        host.receive(peer, way(first, false[first - 1 :], NOTHING), 1)
        (said,) = replies(host)
        assert isinstance(said, Refused)
        assert said.either
        assert "remember different messages" in said.reason
    assert everything(host) == before
    assert host.refused.total() == 1


def test_a_message_from_the_future_is_refused_and_noticed(small: Small, way: Way) -> None:
    host, peer, other, mine = victim(small)
    before, first = everything(host), host.links[peer].taken + 2
    message = mine, encode(told_by(host, other, 1e3))
    host.receive(peer, way(first, [message], host.links[peer].history), 1)
    (said,) = replies(host)
    assert isinstance(said, Refused)
    assert "restored from a copy" in said.reason
    assert peer in host.trouble
    assert everything(host) == before


def mangled(chance: random.Random, content: bytes) -> bytes:
    """A few bytes changed, removed, repeated or added."""
    data = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(data) + 1)
        what = chance.randrange(4)
        if what == 0 and place < len(data):
            data[place] = chance.randrange(256)
        elif what == 1:
            del data[place : place + chance.randint(1, 8)]
        elif what == 2:
            data[place:place] = chance.randbytes(chance.randint(1, 8))
        else:
            data[place:place] = data[place : place + chance.randint(1, 16)]
    return bytes(data)


def finite(host: Host) -> bool:
    """Whether all agents still say finite numbers."""
    for driver in host.drivers.values():
        for other in driver.neighbours:
            request = _request(driver, other)
            answer = None if request is None else driver.receive(request)
            for part in ("model", "numbers", "content"):
                found = getattr(answer, part, None)
                if isinstance(found, bytes):
                    found = np.frombuffer(found)
                if found is not None and not np.isfinite(found).all():
                    return False
    return True


def _request(driver: object, other: object) -> object:
    made = driver.begin(np.zeros(1)) if hasattr(driver.agent, "panel") else driver.begin(None)
    for request in made.requests.values():
        return msgspec.structs.replace(request, sender=other)
    return None


def test_mangled_questions_never_stop_a_host_and_what_is_refused_changes_nothing(
    small: Small,
) -> None:
    host, peer, other, mine = victim(small)
    chance = random.Random(1)

    def told() -> tuple[int, list[tuple[object, bytes]], int]:
        content = mangled(chance, encode(told_by(host, other, float(n))))
        return next_of(host, peer, (mine, content))

    row = [(mine, encode(_request(host.drivers[mine], other)))]
    good: list[Callable[[], bytes]] = [
        lambda: to_bytes(Ask(NETWORK, 0, row)),
        lambda: delivered(*told()),
        lambda: to_bytes(Ask(NETWORK, 0, row, *told())),
    ]
    assert finite(host)
    answered, learned, driver = 0, 0, host.drivers[mine]
    fresh = driver.keep()
    for n in range(1000, 1000 + FUZZED):
        if n % 100 == 0:
            driver.restore(fresh)  # who says one huge number is not heard with smaller ones again
        content = chance.choice(good)()
        if chance.random() < 0.7:
            content = mangled(chance, content)
        host.trouble.clear()  # a liar who claims the future is noticed; the next one may try again
        compared = n % COMPARED == 0
        before, counted = everything(host) if compared else (), host.refused.total()
        host.receive(peer, content, n)
        said = replies(host)
        answered += len(said)
        if compared:
            after, refused = everything(host), host.refused.total() - counted
            if isinstance(said[0], Refused):
                assert after == before, content
            elif refused == messages_in(content):
                assert after[0] == before[0], content
            learned += after[0] != before[0]
    assert answered == FUZZED
    assert sum(host.refused.values()) > FUZZED / 2
    assert learned > 10  # some were right all the same
    assert finite(host)


def messages_in(content: bytes) -> int:
    """How many messages of agents a question has."""
    question = question_in(content)
    return len(question.items) + (len(question.told) if isinstance(question, Ask) else 0)


def test_mangled_replies_never_stop_a_host(small: Small) -> None:
    host, peer, _, mine = victim(small)
    chance = random.Random(2)
    row = np.zeros(1) if small.features else None
    for _ in range(2000):
        asked = host.begin(mine, row)
        items = [encode(RowRequest(1)), b"", None]
        content = mangled(chance, to_bytes(RowReplies(1, [chance.choice(items)])))
        assert np.isfinite(host.predict(asked.number, {peer: content}).value).all()
        host.delivered(peer, mangled(chance, to_bytes(Deliver(NETWORK, 0, 1, []))))
    assert sum(host.refused.values()) > 2000


def test_agents_decode_what_they_encode() -> None:
    message = Gradient("rome", 3.0, np.array([0.5]))
    assert decode(encode(message)).gradient == 0.5


def test_a_host_that_asks_too_often_waits_and_is_refused_when_too_much_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "MOST_WAITING", 10)
    table = {
        "name": "pace",
        "graph": {"kind": "ring", "agents": 3},
        "learn": {"features": ["x"]},
        "shards": {"count": 3},
        "limits": {"rate": 5},
    }
    network = described(table, tmp_path)

    async def flood() -> None:
        exchange, said = MemoryExchange(), []
        async with Node(network, "host0", transport=MemoryTransport("host0", exchange)) as node:
            stop_the_clock(node)
            content = to_bytes(Deliver(network.number, 0, 1, []))
            for k in range(40):
                node._take("host1", content, said.append)
                if k < 5:
                    await asyncio.sleep(0)
            kinds = [type(reply_in(one)) for one in said]
            assert kinds == [DurablePosition] * 5 + [Refused] * 25
            assert node.status()["reasons"] == [
                {"host": "host1", "reason": inbox.TOO_MANY, "count": 25}
            ]
            node._inbox.clock = lambda: 100.0
            node._inbox._schedule()
            for _ in range(30):
                await asyncio.sleep(0)
            assert len(said) == 35  # no more than five in this second, either

    asyncio.run(flood())
