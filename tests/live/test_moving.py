"""An agent stays on its host: elsewhere it would count anew, and be taken for a repetition."""

import asyncio
import contextlib

import pytest

from live.small_network import KT
from mtcool.live import Node
from mtcool.live.config import Description, described
from mtcool.live.transport.memory import MemoryExchange, MemoryTransport

KINDS = {
    "tables": {"learn": {"features": ["x"]}},
    "gradients": {"algorithm": {"dim": 1, "loss": "squared"} | KT},
}
HERE = {"h": "ap", "k": "q", "m": "b"}
LEFT = {"h": "p", "k": "q", "m": "b"}
MOVED = {"h": "p", "k": "qa", "m": "b"}
AGAIN = "agent 'a' must stay on 'h', where it was before, got 'k': give it another name there"


def network(folder, revision: int, hosts: dict[str, str], kind: str = "tables") -> Description:
    """All agents are neighbours of b, which is on m."""
    names = "".join(hosts.values())
    return described(
        {
            "name": "star",
            "revision": revision,
            "timing": {"rows": 0.2, "delivery": 0.2},
            "graph": {"kind": "edges", "edges": [[name, "b"] for name in names if name != "b"]},
            "hosts": {
                host: {"agents": list(agents), "listen": f"127.0.0.1:{k}"}
                for k, (host, agents) in enumerate(hosts.items(), start=1)
            },
        }
        | KINDS[kind],
        folder,
    )


class Hosts:
    """Nodes in memory, which come and go."""

    def __init__(self, folder, kind: str = "tables") -> None:
        self._folder, self._kind, self._exchange = folder, kind, MemoryExchange()

    def read(self, revision: int, hosts: dict[str, str]) -> Description:
        return network(self._folder, revision, hosts, self._kind)

    @contextlib.asynccontextmanager
    async def run(self, revision: int, hosts: dict[str, str]):
        read = self.read(revision, hosts)
        async with contextlib.AsyncExitStack() as stack:
            yield [
                await stack.enter_async_context(
                    Node(read, name, transport=MemoryTransport(name, self._exchange))
                )
                for name in hosts
            ]


async def learn(node: Node, agent: str) -> None:
    for _ in range(3):
        await node.learn(agent, [0.1], 1.0)
    assert await node.delivered()


@pytest.mark.parametrize("kind", KINDS)
def test_an_agent_that_left_joins_again_on_its_host_alone(tmp_path, kind):
    hosts = Hosts(tmp_path, kind)

    async def play() -> None:
        async with hosts.run(0, HERE) as (h, k, m):
            await learn(h, "a")
            for node in (h, k, m):
                await node.reload(hosts.read(1, LEFT))
            before = m.host.drivers["b"].keep(), m.host.version, m.host.share
            with pytest.raises(ValueError, match=AGAIN):
                await m.reload(hosts.read(2, MOVED))
            assert before == (m.host.drivers["b"].keep(), m.host.version, m.host.share)
            for node in (h, k, m):
                await node.reload(hosts.read(2, HERE))
            known = m.host.drivers["b"].keep()
            await learn(h, "a")
            assert m.host.drivers["b"].keep() != known

    asyncio.run(play())


@pytest.mark.parametrize("revision", [0, 1])
def test_a_host_does_not_begin_again_where_an_agent_has_moved(tmp_path, revision):
    hosts = Hosts(tmp_path)

    async def play() -> None:
        async with hosts.run(0, HERE) as (h, _, _):
            await learn(h, "a")
        with pytest.raises(ValueError, match=AGAIN):
            await Node(hosts.read(revision, MOVED), "m").__aenter__()

    asyncio.run(play())


@pytest.mark.parametrize("restart", [False, True], ids=["runs on", "restarted"])
def test_where_an_agent_was_is_remembered_when_its_host_has_left(tmp_path, restart):
    hosts, without = Hosts(tmp_path), {"k": "q", "m": "b"}

    async def play() -> None:
        async with hosts.run(0, HERE) as (h, _, m):
            await learn(h, "a")
            await m.reload(hosts.read(1, without))
            assert "h" not in m.host.links
            if not restart:
                with pytest.raises(ValueError, match=AGAIN):
                    await m.reload(hosts.read(2, {"k": "qa", "m": "b"}))
                return
        with pytest.raises(ValueError, match=AGAIN):
            await Node(hosts.read(2, {"k": "qa", "m": "b"}), "m").__aenter__()
        async with hosts.run(2, HERE) as (h, _, m):
            await learn(h, "a")
            assert m.host.drivers["b"].agent.heard["a"].last == 6

    asyncio.run(play())
