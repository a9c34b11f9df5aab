"""A neighbour that does not answer is logged once, and once more when it answers again."""

import asyncio
import logging

from live.small_network import never_idle, small
from mtcool.live import Node
from mtcool.live.transport.memory import MemoryExchange, MemoryTransport
from mtcool.live.up import supervisor
from mtcool.live.up.supervisor import Running


def test_a_neighbour_that_falls_silent_and_is_heard_again_is_logged(tmp_path, caplog, monkeypatch):
    never_idle(monkeypatch)  # nobody else looks
    network, exchange = small(tmp_path, agents=4, hosts=2), MemoryExchange()

    def node(name):
        return Node(network, name, transport=MemoryTransport(name, exchange))

    async def play():
        async with node("host0") as one:
            for _ in range(3):
                await one.predict(0, [0.1, 0.2])
                one.report.look(one.host, one.silent)
            async with node("host1"):
                async with asyncio.timeout(60):
                    while (await one.predict(0, [0.1, 0.2])).missing:
                        pass
                one.report.look(one.host, one.silent)

    with caplog.at_level(logging.INFO, "mtcool.live"):
        asyncio.run(play())
    told = [(one.message, one.peer) for one in caplog.records if one.host == "host0"]
    assert [pair for pair in told if pair[0] in ("silent", "heard")] == [
        ("silent", "host1"),
        ("heard", "host1"),
    ]


def test_hosts_of_one_run_that_never_hear_each_other_are_told_of(tmp_path):
    told = []
    running = Running(
        tmp_path / "net.toml", small(tmp_path, hosts=2), ["host0", "host1"], told.append
    )
    link = {"answers": False}
    running.status = {"host0": {"links": {"host1": link}, "trouble": {}}}
    for _ in range(supervisor.MOST_UNHEARD):
        running.warn()
    assert told == []
    running.warn()
    assert len(told) == 1
    assert "host0 hears nothing of host1" in told[0]
    assert "certificates" in told[0]
    link["answers"] = True
    running.warn()
    assert told[1:] == ["host host0 hears of host1 again"]
