"""Strangers, liars and nonsense: nothing changes, and all of it is counted."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from live.networks import NETWORKS, Small
from live.world import World
from mtcool.agents.messages import (
    FieldGradient,
    Gradient,
    Lesson,
    RowRequest,
    Sums,
    decode,
    encode,
)
from mtcool.live.description import described
from mtcool.live.host import MOST_ITEMS, Host
from mtcool.live.node import TOO_MANY, Node
from mtcool.live.transactions import Replied
from mtcool.live.transport.memory import Exchange, MemoryTransport
from mtcool.live.wire import Ask, Deliver, Refused, Rows, reply_in, to_bytes

NETWORK = 7
FUZZED = 25_000
"""For each of the kinds of networks."""


def victim(small: Small) -> tuple[Host, str, object, object]:
    """A host that has learned a little; another host, its agent and that agent's neighbour here."""
    world = World(5, small)
    world.faults, world.left = False, 60
    while world.left > 0:
        world.step()
    world.calm()
    host = world.processes[small.hosts[0]].host
    home = host.share.home
    for mine, driver in host.drivers.items():
        for other in driver.neighbours:
            if home[other] != host.share.host:
                return host, home[other], other, mine
    raise AssertionError("a host must have neighbours elsewhere")


def everything(host: Host) -> tuple[object, ...]:
    agents = {name: driver.keep() for name, driver in host.drivers.items()}
    links = {name: (link.sent, link.taken) for name, link in host.links.items()}
    return agents, links, host.version


def replies(host: Host) -> list[object]:
    effects = host.committed(host.changes()) if host.urgent else host.ready()
    return [reply_in(one.content) for one in effects if isinstance(one, Replied)]


def told_by(sender: object, small: Small, number: float, size: float = 0.1) -> object:
    """A message to learn from, as agents of this network send it."""
    if small.features:
        return Lesson(sender, number, np.full(2 * 2 * 3, size))
    return Gradient(sender, number, np.full(1, size))


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
    many = [(mine, encode(RowRequest(other)))] * (MOST_ITEMS + 1)
    for content in (
        to_bytes(Deliver(NETWORK + 1, 0, 1, [])),
        bytes([2]) + good[1:],
        good[:-1],
        good + b"x",
        to_bytes(Ask(NETWORK, 0, many)),
        b"\x01" + msgspec.msgpack.encode([3, -1, 0, [], {}]),
        b"\x01" + b"\x91" * 100_000,
    ):
        host.receive(peer, content, 1)
        (said,) = replies(host)
        assert isinstance(said, Refused)
    assert everything(host) == before
    assert sum(host.refused.values()) == 7


def test_a_row_is_told_to_the_agent_whose_task_it_is_and_to_nobody_else(small: Small) -> None:
    host, peer, _, mine = victim(small)
    strangers = [name for name in range(6) if host.share.home.get(name) != peer]
    before = everything(host)
    for claimed in [*strangers, "nobody", ["nested", 1]]:
        host.receive(peer, to_bytes(Ask(NETWORK, 0, [(mine, encode(RowRequest(claimed)))])), 1)
        (said,) = replies(host)
        assert isinstance(said, Rows)
        assert said.items == [None]
    assert everything(host) == before
    assert sum(host.refused.values()) == len(strangers) + 2


def wrong_messages(host: Host, other: object, small: Small) -> list[bytes]:
    """What a neighbour may not say, each in a message of its own."""
    away = [name for name in range(6) if host.share.home.get(name) not in (None, "host1")]
    nan, huge = float("nan"), 1e300
    found = [
        encode(told_by(away[0], small, 1.0)),  # in another's name
        encode(told_by("nobody", small, 1.0)),
        encode(told_by(other, small, 1e9, nan)),
        encode(told_by(other, small, 1e9, huge)),
        encode(told_by(other, small, -1.0)),
        encode(told_by(other, small, nan)),
        encode(told_by(other, small, 1.5)),
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


def test_wrong_messages_leave_the_agents_as_they_are(small: Small) -> None:
    host, peer, other, mine = victim(small)
    agents, _, _ = everything(host)
    for content in wrong_messages(host, other, small):
        counted, first = sum(host.refused.values()), host.links[peer].taken + 1
        host.receive(peer, to_bytes(Deliver(NETWORK, 0, first, [(mine, content)])), 1)
        replies(host)
        assert sum(host.refused.values()) == counted + 1, content
        assert everything(host)[0] == agents, content


def test_old_messages_that_come_again_are_not_taken_again(small: Small) -> None:
    host, peer, other, mine = victim(small)
    before = everything(host)
    old = [(mine, encode(told_by(other, small, 1.0)))] * host.links[peer].taken
    assert old
    for first in range(1, len(old) + 1):
        host.receive(peer, to_bytes(Deliver(NETWORK, 0, first, old[first - 1 :])), 1)
        replies(host)
    assert everything(host) == before


def test_a_message_from_the_future_is_refused_and_noticed(small: Small) -> None:
    host, peer, other, mine = victim(small)
    before, first = everything(host), host.links[peer].taken + 2
    host.receive(
        peer, to_bytes(Deliver(NETWORK, 0, first, [(mine, encode(told_by(other, small, 9.0)))])), 1
    )
    (said,) = replies(host)
    assert isinstance(said, Refused)
    assert "restored from a copy" in said.reason
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


def test_mangled_questions_never_stop_a_host(small: Small) -> None:
    host, peer, other, mine = victim(small)
    chance = random.Random(1)
    good: list[Callable[[], bytes]] = [
        lambda: to_bytes(Ask(NETWORK, 0, [(mine, encode(RowRequest(other)))])),
        lambda: to_bytes(
            Deliver(
                NETWORK,
                0,
                host.links[peer].taken + 1,
                [(mine, mangled(chance, encode(told_by(other, small, float(n)))))],
            )
        ),
    ]
    assert finite(host)
    n, answered = 1000, 0
    for n in range(1000, 1000 + FUZZED):
        content = chance.choice(good)()
        if chance.random() < 0.7:
            content = mangled(chance, content)
        host.trouble.clear()  # a liar who claims the future is noticed; the next one may try again
        host.receive(peer, content, n)
        answered += len(replies(host))
    assert answered == FUZZED
    assert sum(host.refused.values()) > FUZZED / 2
    assert finite(host)


def test_mangled_replies_never_stop_a_host(small: Small) -> None:
    host, peer, _, mine = victim(small)
    chance = random.Random(2)
    row = np.zeros(1) if small.features else None
    for _ in range(2000):
        asked = host.begin(mine, row)
        items = [encode(RowRequest(1)), b"", None]
        content = mangled(chance, to_bytes(Rows(1, [chance.choice(items)])))
        assert np.isfinite(host.predict(asked.number, {peer: content}).value).all()
        host.delivered(peer, mangled(chance, to_bytes(Deliver(NETWORK, 0, 1, []))))
    assert sum(host.refused.values()) > 2000


def test_agents_decode_what_they_encode() -> None:
    message = Gradient("rome", 3.0, np.array([0.5]))
    assert decode(encode(message)).gradient == 0.5


def test_a_host_that_asks_too_often_is_refused(tmp_path: Path) -> None:
    table = {
        "name": "pace",
        "graph": {"kind": "ring", "agents": 3},
        "learn": {"features": ["x"]},
        "shards": {"count": 3},
        "limits": {"rate": 5},
    }
    network = described(table, tmp_path)

    async def flood() -> int:
        exchange = Exchange()
        other = MemoryTransport("host1", exchange)
        async with Node(network, "host0", transport=MemoryTransport("host0", exchange)) as node:
            content = to_bytes(Deliver(network.number, 0, 1, []))
            for _ in range(40):
                await other.ask({"host0": content}, 1.0)
            return node.host.refused["host1", TOO_MANY]

    assert asyncio.run(flood()) >= 20
