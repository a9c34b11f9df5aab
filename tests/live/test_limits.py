"""What hosts say to each other fits into their limit for it, or is refused in words."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from live.small_network import KT, PRIVATE, greeted, opened, small
from mtcool.live.config import Description, described, drivers_of
from mtcool.live.config.sizes import USUAL, needed_by
from mtcool.live.host import Host, HostLimits
from mtcool.live.resuming import resume
from mtcool.live.transactions import Effect, Replied
from mtcool.live.wire import Deliver, Refused, RowReplies, reply_in, to_bytes

POINTS = {"algorithm": {"dim": 2, "loss": "squared"} | KT}
KINDS = {
    "gradients": POINTS,
    "tables": {"learn": {"features": ["a", "b"]}},
    "tables with rows": {"learn": {"features": ["a", "b"], "share": "rows"}},
    "private": PRIVATE,
}


def hub(folder: Path, leaves: int, kind: dict, **changes) -> Description:
    """An agent on one host whose neighbours are all on another."""
    names = [f"{'ü' * 20} {k}" for k in range(leaves)]
    hosts = {
        "one": {"agents": ["hub"], "listen": "127.0.0.1:7001"},
        "two": {"agents": names, "listen": "127.0.0.1:7002"},
    }
    graph = {"kind": "edges", "edges": [["hub", name] for name in names]}
    return described({"name": "hub", "graph": graph, "hosts": hosts} | kind | changes, folder)


def hosts_of(network: Description, largest: int | None = None) -> tuple[Host, Host]:
    """Both hosts of a network, without input and output."""
    make, limits = drivers_of(network), HostLimits(message=largest or network.largest)
    one, two = (
        resume(network.share(name), network.change(name), make, None, limits=limits, journal=False)
        for name in network.places
    )
    for host in (one, two):
        host.committed(host.changes())
        for link in host.links.values():
            link.greeted = True
    return one, two


def replied(host: Host, asker: Host, content: bytes) -> bytes:
    """What a host replies to a question."""
    host.receive(asker.share.host, content, 1)
    effects: list[Effect] = host.committed(host.changes()) if host.urgent else host.ready()
    (said,) = (effect.content for effect in effects if isinstance(effect, Replied))
    return said


def learned(me: Host, other: Host, agent: str) -> list[int]:
    """An agent predicts and learns; returns the lengths of what is said for it."""
    there = other.share.host
    asked = me.begin(agent, np.full(2, 0.1))
    reply = replied(other, me, asked.questions[there])
    me.predict(asked.number, {there: reply})
    me.learn(asked.number, 1.0, None)
    changes = me.changes()
    me.committed(changes)
    told = [len(to_bytes(Deliver(2**50, 0, 2**50, [item[2:]]))) for item in changes.outbox]
    return [len(asked.questions[there]), len(reply), *told]


def test_what_waits_after_an_outage_is_delivered_however_small_the_limit_is(tmp_path: Path) -> None:
    pair = {"graph": {"kind": "edges", "edges": [[0, 1]]}, **POINTS}
    free = small(tmp_path, hosts=2, **pair)
    least = needed_by(free.file, free.graph, free.home)

    async def scenario() -> None:
        network = small(tmp_path, hosts=2, limits={"message": least}, **pair)
        async with opened(network) as nodes:
            one, two = nodes.values()
            await greeted(one, two)
            one.cut.add(two.name)
            for _ in range(50):
                await one.learn(0, [0.1, 0.1], 1.0)
            assert len(one.host.links[two.name].outbox) == 50
            one.cut.clear()
            await one.predict(0, [0.1, 0.1])  # messages may travel with the question
            assert await one.delivered(20.0)
            assert two.host.links[one.name].taken == 50
            assert not one.host.denied + one.host.refused + two.host.refused

    asyncio.run(scenario())


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_limit_below_what_the_network_needs_is_refused(tmp_path: Path, kind: dict) -> None:
    network = hub(tmp_path, 5, kind)
    assert network.largest == USUAL
    least = needed_by(network.file, network.graph, network.home)
    assert hub(tmp_path, 5, kind, limits={"message": least}).largest == least
    with pytest.raises(
        ValueError, match=f"limits.message must be at least {least} bytes .* got {least - 1}"
    ):
        hub(tmp_path, 5, kind, limits={"message": least - 1})
    one, two = hosts_of(network, least)
    lengths = [length for _ in range(3) for length in learned(one, two, "hub")]
    leaf = next(iter(two.drivers))
    lengths += [length for _ in range(3) for length in learned(two, one, leaf)]
    assert max(lengths) <= least < 3 * max(lengths)
    assert not one.refused + two.refused + one.denied + two.denied


def test_a_network_on_one_host_needs_nothing(tmp_path: Path) -> None:
    assert small(tmp_path, hosts=1, limits={"message": 1}).largest == 1


def test_a_limit_that_is_not_given_grows_with_what_is_said(tmp_path: Path) -> None:
    table = {"learn": {"features": [f"f{k}" for k in range(200)], "share": "rows"}}
    network = hub(tmp_path, 10, table)
    assert network.largest > 1_769_747  # as long is a reply, and would never have been taken
    assert hub(tmp_path, 2, table).largest == USUAL


def test_an_agent_may_have_more_neighbours_on_a_host_than_messages_fit_a_batch(
    tmp_path: Path,
) -> None:
    one, two = hosts_of(hub(tmp_path, 4500, POINTS))
    for _ in range(2):  # messages of the first round do not travel with the second question
        learned(one, two, "hub")
    assert len(one.links["two"].outbox) == 9000
    assert not one.refused + two.refused + one.denied + two.denied


def test_a_question_that_is_too_long_is_refused_in_words(tmp_path: Path) -> None:
    one, two = hosts_of(hub(tmp_path, 5, POINTS), 100)
    question = one.begin("hub", np.ones(2)).questions["two"]
    assert two.answer("one", question) is None
    refusal = reply_in(replied(two, one, question))
    assert isinstance(refusal, Refused)
    words = f"question must be at most 100 bytes (limits.message), got {len(question)}"
    assert refusal.reason == words
    assert two.refused["one", words] == 1


def test_a_reply_that_is_too_long_is_refused_in_words_by_both(tmp_path: Path) -> None:
    one, two = hosts_of(hub(tmp_path, 5, POINTS))
    asked = one.begin("hub", np.ones(2))
    question = asked.questions["two"]
    rows = replied(two, one, question)
    assert isinstance(reply_in(rows), RowReplies)
    words = f"reply must be at most {len(rows) - 1} bytes (limits.message), got {len(rows)}"
    one.limits = two.limits = HostLimits(message=len(rows) - 1)
    assert len(question) < len(rows)
    assert two.answer("one", question) is None
    refusal = replied(two, one, question)
    assert reply_in(refusal) == Refused(words)
    assert two.refused["one", words] == 1
    said = one.predict(asked.number, {"two": refusal})
    assert (len(said.missing), one.denied["two", words]) == (5, 1)
    asked = one.begin("hub", np.ones(2))
    said = one.predict(asked.number, {"two": rows})
    assert (len(said.missing), one.refused["two", words]) == (5, 1)
