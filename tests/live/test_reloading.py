"""A network is changed while it learns: agents, edges and whole hosts come, leave and come back."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections import Counter
from pathlib import Path

import pytest
import tomli_w
from click.testing import Result
from typer.testing import CliRunner

from live.ports import free_ports
from live.processes import PATIENCE, running
from live.small_network import KT
from mtcool.cli.commands import app
from mtcool.live import Node
from mtcool.live.certificates import make_certificates
from mtcool.live.config import Description, described
from mtcool.live.journals import replay_files
from mtcool.live.transport.memory import MemoryExchange, MemoryTransport

KINDS = {
    "gradients": {"algorithm": {"dim": 1, "loss": "squared"} | KT},
    "tables": {"learn": {"features": ["x"]}},
}
SMALL = {"x": ["a"], "y": ["b"]}
LARGE = {"x": ["a", "d"], "y": ["b"], "z": ["c"]}
EDGES = [["a", "b"]]
MORE_EDGES = [["a", "b"], ["a", "c"], ["b", "c"], ["d", "b"]]


def table(kind: str, ports: dict[str, int], revision: int) -> dict:
    """Host z, agent d and their edges are there in odd revisions."""
    hosts, edges = (LARGE, MORE_EDGES) if revision % 2 else (SMALL, EDGES)
    return KINDS[kind] | {
        "name": "changing",
        "graph": {"kind": "edges", "edges": edges},
        "timing": {"rows": 0.3, "delivery": 0.3, "lease": 1.0},
        "revision": revision,
        "journal": True,
        "hosts": {
            host: {"agents": agents, "listen": f"127.0.0.1:{ports[host]}"}
            for host, agents in hosts.items()
        },
    }


class Reloading:
    """Hosts x and y learn all the time; host z comes and goes."""

    def __init__(self, folder: Path, kind: str, over_zenoh: bool) -> None:
        self.folder, self.kind = folder, kind
        self.exchange = None if over_zenoh else MemoryExchange()
        self.ports = dict(zip("xyz", free_ports(3), strict=True))
        self.learned: Counter[str] = Counter()
        self.over = False
        places = {host: f"127.0.0.1:{port}" for host, port in self.ports.items()}
        make_certificates(folder / "certs", "changing", places)

    def network(self, revision: int) -> Description:
        return described(table(self.kind, self.ports, revision), self.folder)

    def node(self, name: str, revision: int) -> Node:
        transport = None if self.exchange is None else MemoryTransport(name, self.exchange)
        return Node(self.network(revision), name, transport=transport)

    async def learn(self, node: Node, agent: str) -> None:
        """Learn until it is over, and never be refused."""
        while not self.over:
            k = self.learned[agent]
            await node.predict(agent, [0.1 * (k % 7)])
            await node.learn(agent, [0.1 * (k % 7)], 0.05 * (k % 5))
            self.learned[agent] += 1
            await asyncio.sleep(0.001)

    async def some(self, agent: str, count: int = 5) -> None:
        """Wait until an agent has learned from some more rounds."""
        wanted = self.learned[agent] + count
        async with asyncio.timeout(60.0):
            while self.learned[agent] < wanted:
                await asyncio.sleep(0.005)

    async def play(self) -> None:
        async with self.node("x", 0) as x, self.node("y", 0) as y, asyncio.TaskGroup() as tasks:
            tasks.create_task(self.learn(x, "a"))
            tasks.create_task(self.learn(y, "b"))
            for revision in (1, 3):
                await self.some("a")
                await asyncio.gather(
                    x.reload(self.network(revision)), y.reload(self.network(revision))
                )
                assert set(x.host.drivers) == {"a", "d"}
                async with self.node("z", revision) as z:
                    for k in range(5):
                        for node, agent in ((z, "c"), (x, "d")):
                            await node.learn(agent, [0.1 * k], 0.2)
                            self.learned[agent] += 1
                    await self.some("b")
                    assert await z.delivered(60.0)
                await y.reload(self.network(revision + 1))
                await x.reload(self.network(revision + 1))
                assert set(x.host.drivers) == {"a"}
                assert "z" not in x.host.links
            await self.some("a")
            self.over = True
        await self.settle()

    async def settle(self) -> None:
        async with self.node("x", 4) as x, self.node("y", 4) as y:
            assert await x.delivered(60.0)
            assert await y.delivered(60.0)
            assert not x.host.trouble
            assert not y.host.trouble


@pytest.mark.parametrize(
    ("kind", "over_zenoh"), [("gradients", False), ("tables", False), ("gradients", True)]
)
def test_hosts_and_agents_come_and_go_while_others_learn(
    tmp_path: Path, kind: str, over_zenoh: bool
) -> None:
    reloading = Reloading(tmp_path, kind, over_zenoh)
    asyncio.run(reloading.play())
    again = replay_files([tmp_path / "state" / f"{host}.db" for host in "xyz"])
    assert (again.differences, again.lost, again.twice, again.waiting) == ([], 0, 0, 0)
    assert again.learned == sum(reloading.learned.values())
    assert again.same == again.predictions


def test_a_description_of_another_network_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    reloading = Reloading(tmp_path, "tables", over_zenoh=False)

    async def play() -> None:
        async with reloading.node("x", 1) as x:
            await x.learn("d", [0.1], 0.2)
            before = x.host.version, set(x.host.links), set(x.host.drivers)
            good = table("tables", reloading.ports, 2)
            moved = {"x": {"agents": ["b"]}, "y": {"agents": ["a"]}}
            hosts = {name: good["hosts"][name] | change for name, change in moved.items()}
            for wrong, words in (
                ({"name": "another"}, "name must"),
                ({"revision": 1}, "revision must be above"),
                ({"hosts": hosts}, "must stay on"),
            ):
                with pytest.raises(ValueError, match=words):
                    await x.reload(described(good | wrong, tmp_path))
                assert before == (x.host.version, set(x.host.links), set(x.host.drivers))
            await x.learn("d", [0.1], 0.2)

    asyncio.run(play())


def test_a_reply_of_a_host_that_has_left_meanwhile_is_no_error(tmp_path: Path) -> None:
    reloading = Reloading(tmp_path, "gradients", over_zenoh=False)

    async def play() -> None:
        async with reloading.node("x", 1) as x, reloading.node("z", 1):
            await x.predict("a", [0.1])
            under_way = asyncio.create_task(x.predict("a", [0.2]))  # z answers, and y does not
            await asyncio.sleep(0.05)
            await x.reload(reloading.network(2))
            said = await under_way
            assert "c" not in said.missing
            await x.learn("a", [0.2], 0.1)

    asyncio.run(play())


def test_a_prediction_outlives_any_number_of_changes(tmp_path: Path) -> None:
    reloading = Reloading(tmp_path, "tables", over_zenoh=False)

    async def play() -> None:
        async with reloading.node("x", 0) as x:
            under_way = asyncio.create_task(x.predict("a", [0.1]))  # nobody answers
            for revision in (1, 2, 3):
                begun = x.host.rounds
                async with asyncio.timeout(60.0):
                    while x.host.rounds == begun:  # until it has begun, and begun again
                        await asyncio.sleep(0.0)  # the next turn of the loop is in time
                await x.reload(reloading.network(revision))
            assert set((await under_way).missing) == {"b", "c"}
            await x.learn("a", [0.1], 0.2)

    asyncio.run(play())


def test_any_number_of_predictions_at_once(tmp_path: Path) -> None:
    """Rounds that wait for rows do not give way; of those that were predicted, the oldest do."""
    reloading = Reloading(tmp_path, "tables", over_zenoh=False)

    async def play() -> None:
        async with reloading.node("x", 0) as x:
            most = x.host.limits.rounds
            await asyncio.gather(*(x.predict("a", [0.1 * k]) for k in range(most + 3)))
            rounds = range(1, x.host.rounds + 1)
            assert [x.host.is_open(number) for number in rounds] == [False] * 3 + [True] * most

    asyncio.run(play())


def mtcool(*arguments: object) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)])


def test_the_commands_certs_reload_and_up_host(tmp_path: Path) -> None:
    """Also the lines that cut a link and heal it: one network of processes serves all.

    Host y is as if on another machine: it has its own folder, and is reached over HTTP.
    """
    *firsts, http = free_ports(4)
    ports, file = dict(zip("xyz", firsts, strict=True)), tmp_path / "network.toml"
    there = tmp_path / "there" / "network.toml"

    def write(file: Path, revision: int, **more: object) -> None:
        made = table("tables", ports, revision)
        made |= {"stream": {"kind": "synthetic", "rounds": 40}, "security": {"token": "token"}}
        made["hosts"]["y"]["http"] = f"127.0.0.1:{http}"
        file.write_text(tomli_w.dumps(made | more))

    write(file, 0)
    made = mtcool("certs", file)
    assert made.exit_code == 0
    assert "authority" in made.stdout
    key = tmp_path / "certs" / "x.key"
    before = key.read_bytes()
    assert key.stat().st_mode & 0o077 == 0
    assert "already" in mtcool("certs", file).stdout
    assert key.read_bytes() == before
    nobody = mtcool("reload", file)
    assert nobody.exit_code == 1
    assert "does not run" in nobody.stdout
    (tmp_path / "token").write_text("correct horse battery staple")
    (tmp_path / "token").chmod(0o600)
    shutil.copytree(tmp_path / "certs", there.parent / "certs")
    shutil.copy2(tmp_path / "token", there.parent)
    write(there, 0)
    with running(file, ["x", "y"], {"y": there}) as children:
        x, y = children["x"], children["y"]
        assert "value" in x.ask(do="round", agent="a", features=[0.1], target=0.3)
        _cut_and_heal(x, y)
        write(file, 1)
        assert mtcool("certs", file).exit_code == 0  # host z is new
        half = mtcool("reload", file)
        assert half.exit_code == 1, half.stdout
        assert "y has read its own file, which has revision 0" in half.stdout
        told = mtcool("status", file).stdout
        assert "y has revision 0, and this file 1: use `mtcool reload`" in told
        write(there, 1)
        done = mtcool("reload", file)  # x has done so already
        assert done.exit_code == 0, done.stdout
        assert "x has read it, and has 2 agents and revision 1" in done.stdout
        assert "y has read it, and has 1 agent and revision 1" in done.stdout
        assert "use `mtcool reload`" not in mtcool("status", file).stdout
        assert "value" in x.ask(do="round", agent="d", features=[0.1], target=0.3)
        for wrong in (file, there):
            write(wrong, 1, timing={"rows": 0.4})
            again = mtcool("reload", file)
            assert again.exit_code == 1
            assert f"{'x' if wrong is file else 'y'}: revision must be above 1" in again.stdout
            write(wrong, 1)
        up = mtcool("up", file, "--host", "z", "--json")
        told = json.loads(up.stdout)
        assert up.exit_code == (told["waiting"] > 0)
        assert (told["lost"], told["twice"], told["replayed"]["differences"]) == (0, 0, [])
        assert 0 < told["activations"] <= 40
        wrong = mtcool("up", file, "--host", "nobody")
        assert "host must be one of x, y, z" in str(wrong.exception)
        for child in children.values():
            assert child.ask(do="status")["status"]["trouble"] == {}


def _cut_and_heal(x, y) -> None:
    assert x.ask(do="delivered", timeout=60.0)["delivered"]
    predict_until(x, lambda said: not said["missing"])  # connections take a moment
    assert (
        "host must have neighbours of agents here, got 'nobody'"
        in x.ask(do="cut", host="nobody")["error"]
    )
    assert x.ask(do="cut", host="y")["cut"] == ["y"]
    said = x.ask(do="round", agent="a", features=[0.2], target=0.3)
    assert said["old"] == ["b"]
    alone = y.ask(do="predict", agent="b", features=[0.2], timeout=0.2)
    assert alone["old"] + alone["missing"] == ["a"]
    assert not x.ask(do="delivered", timeout=0.2)["delivered"]
    assert x.ask(do="status")["status"]["links"]["y"]["outbox"] == 1
    assert x.ask(do="heal", host="y")["cut"] == []
    assert x.ask(do="delivered", timeout=60.0)["delivered"]
    predict_until(x, lambda said: not said["old"])


def predict_until(x, enough) -> None:
    end = time.monotonic() + PATIENCE
    while not enough(x.ask(do="predict", agent="a", features=[0.1])):
        assert time.monotonic() < end


@pytest.mark.parametrize(
    ("first", "then", "words"),
    [
        ({"http": "127.0.0.1:8001"}, {"http": "127.0.0.1:8002"}, r"hosts\.x\.http must stay"),
        ({}, {"http": "127.0.0.1:8002"}, r"hosts\.x\.http must stay"),
        ({"http": "127.0.0.1:8001"}, {}, r"hosts\.x\.http must stay .* got None: restart it"),
        (
            {"http": "127.0.0.1:8001"},
            {"http": "127.0.0.1:8001", "token": "other.txt"},
            r"security\.token must stay as it was while host 'x' runs, got 'other.txt'",
        ),
        ({}, {"token": "other.txt"}, None),
    ],
)
def test_a_reload_does_not_ignore_what_needs_a_restart(tmp_path, first, then, words):
    def read(revision: int, token: str | None = None, **http: str) -> Description:
        made = table("tables", dict.fromkeys("xyz", 7447), revision)
        made["graph"] = {"kind": "edges", "agents": ["a"]}
        made["hosts"] = {"x": {"agents": ["a"], "listen": "127.0.0.1:7447", **http}}
        return described(made | {"security": {"token": token}}, tmp_path)

    async def scenario() -> None:
        async with Node(read(0, **first)) as node:
            if words is None:  # nobody is asked for it, where there is no HTTP
                await node.reload(read(1, **then))
                return
            with pytest.raises(ValueError, match=words):
                await node.reload(read(1, **then))
            assert node.host.share.revision == 0
        async with Node(read(1, **then)) as node:
            assert node.host.share.revision == 1

    asyncio.run(scenario())
