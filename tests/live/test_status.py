"""`mtcool status` says of every host how it is, or why nobody knows."""

from __future__ import annotations

import asyncio
import json
import socket

import httpx
import pytest
from fastapi import FastAPI

from live.ports import free_ports
from live.proxies import Proxy
from mtcool.cli import hosts
from mtcool.cli import status as command
from mtcool.live import Node
from mtcool.live.config import described, read_description
from mtcool.live.http import http_app, serving
from mtcool.live.http.client import why_not
from mtcool.live.http.remote_status import ask_elsewhere
from mtcool.live.transport.memory import MemoryExchange, MemoryTransport

TOKEN = "correct horse battery staple"
TABLE = """
name = "test"
graph = { kind = "edges", edges = [[0, 1]] }
learn = { features = ["x"] }
"""


def written(folder, hosts, more="", edges="[[0, 1]]"):
    path = folder / "network.toml"
    path.write_text(
        TABLE.replace("[[0, 1]]", edges)
        + more
        + "".join(
            f"[hosts.{name}]\nagents = [{k}]\n{fields}\n".replace(
                '127.0.0.1:9"', f'127.0.0.1:{9 + k}"'
            )
            for k, (name, fields) in enumerate(hosts.items())
        )
    )
    return path


def test_hosts_that_nobody_can_ask_are_named(tmp_path, capsys):
    path = written(
        tmp_path,
        {"here": 'listen = "127.0.0.1:9"', "rome": 'listen = "0.0.0.0:9"\naddress = "192.0.2.1:9"'},
    )
    with pytest.raises(command.typer.Exit):
        command.status(path, as_json=True)
    assert json.loads(capsys.readouterr().out) == {
        "here": {"error": "does not run on this machine"},
        "rome": {"error": "elsewhere, not asked: it has no http"},
    }


@pytest.mark.parametrize(
    ("security", "why"),
    [("", "security.token is not given"), ('security = { token = "token" }\n', "No such file")],
)
def test_hosts_elsewhere_are_not_asked_without_a_token(tmp_path, security, why):
    fields = 'listen = "127.0.0.1:9"\nhttp = "192.0.2.1:8000"'
    hosts = {"a": fields, "b": fields.replace(":8000", ":8001")}
    network = read_description(written(tmp_path, hosts, security))
    told = asyncio.run(ask_elsewhere(network, "a", 0.1))["error"]
    assert told.startswith("elsewhere, not asked: ")
    assert why in told


def test_hosts_elsewhere_are_asked_over_http_with_the_token(tmp_path):
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "token").chmod(0o600)
    ports = free_ports(3)
    places = {
        name: f'listen = "127.0.0.1:9"\nhttp = "127.0.0.1:{port}"'
        for name, port in zip(("good", "bad"), ports, strict=False)
    }
    network = read_description(written(tmp_path, places, 'security = { token = "token" }\n'))
    stranger = FastAPI()
    stranger.get("/status")(lambda: {"status": "ok"})
    good, bad = (place.http for place in network.places.values())

    async def run():
        node = Node(network, "good", transport=MemoryTransport("good", MemoryExchange()))
        before = await ask_elsewhere(network, "good", 60)
        async with node, serving(http_app(node), good, TOKEN), serving(stranger, bad, TOKEN):
            found = [await ask_elsewhere(network, host, 60) for host in ("good", "bad")]
        async with serving(stranger, bad, "another token altogether"):
            return before, found, await ask_elsewhere(network, "bad", 60)

    before, found, refused = asyncio.run(run())
    assert before == {"error": "does not run on this machine"}
    assert found[0]["status"]["host"] == "good"
    assert found[1] == {"error": f"http://{bad} is not host 'bad' of ours"}
    assert refused == {"error": f"http://{bad} answers with status 401"}


def test_a_host_elsewhere_is_not_taken_for_one_of_this_machine(tmp_path):
    """Both are behind proxies of their own machines, and so both have the same `http`."""
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "token").chmod(0o600)
    (port,) = free_ports(1)
    http = f'http = "127.0.0.1:{port}"'
    places = {"mine": f'listen = "127.0.0.1:9"\n{http}', "other": f'listen = "192.0.2.1:9"\n{http}'}
    network = read_description(written(tmp_path, places, 'security = { token = "token" }\n'))
    read = []

    async def run():
        node = Node(network, "mine", transport=MemoryTransport("mine", MemoryExchange()))
        app = http_app(node, lambda: read.append("mine") or network)
        async with node, serving(app, f"127.0.0.1:{port}", TOKEN):
            asked = [await ask_elsewhere(network, "other", 60, do) for do in ("status", "reload")]
        return asked, await ask_elsewhere(network, "other", 60, "reload")

    asked, after = asyncio.run(run())
    assert asked == [{"error": f"http://127.0.0.1:{port} is not host 'other' of ours"}] * 2
    assert read == []
    assert after == {"error": f"http://127.0.0.1:{port} has no process that listens"}


def test_the_command_asks_over_http_where_there_is_no_socket(tmp_path, monkeypatch, capsys):
    asked = []

    async def ask(network, host, wait, do):
        asked.append(host)
        return {"error": "told"}

    monkeypatch.setattr("mtcool.live.http.remote_status.ask_elsewhere", ask)
    table = {"name": "t", "graph": {"kind": "ring", "agents": 4}, "learn": {"features": ["x"]}}
    network = described(table | {"shards": {"count": 2}}, tmp_path)
    monkeypatch.setattr("mtcool.live.config.read_description", lambda _: network)
    with pytest.raises(command.typer.Exit):
        command.status(tmp_path)
    assert asked == ["host0", "host1"]
    assert capsys.readouterr().out.count("told") == 2


def test_it_waits_until_all_hosts_are_well(tmp_path, monkeypatch, capsys):
    def told(*healths):
        agents = [{"health": health} for health in healths]
        counts = {"activations": 0, "outbox": 0, "refused": 0, "reasons": [], "denied": []}
        counts["revision"] = 0
        return {"status": {"agents": agents, "links": {}, "trouble": {}, **counts}}

    well, ill = told("well", "well"), told("cut off", "well")
    states = [
        {"here": {"error": "does not run on this machine"}, "there": ill},
        {"here": well, "there": ill},
        {"here": well, "there": well},
    ]
    monkeypatch.setattr(command, "ask_hosts", lambda *_: states.pop(0))
    monkeypatch.setattr(command.time, "sleep", lambda _: None)
    path = written(tmp_path, {"here": 'listen = "127.0.0.1:9"', "there": 'listen = "127.0.0.1:9"'})
    command.status(path, wait=60.0)
    assert not states
    assert "cut off" not in capsys.readouterr().out
    monkeypatch.setattr(command, "ask_hosts", lambda *_: {"here": well, "there": ill})
    command.status(path)
    with pytest.raises(command.typer.Exit):
        command.status(path, wait=0.01)
    assert "cut off, well" in capsys.readouterr().out
    well["status"]["revision"] = 1  # one that the file has not
    monkeypatch.setattr(command, "ask_hosts", lambda *_: {"here": well, "there": well})
    with pytest.raises(command.typer.Exit):
        command.status(path, wait=0.01)


def test_the_table_is_read_in_a_narrow_terminal(monkeypatch, capsys):
    """Numbers and heads are not broken, and why a host is not known is a sentence."""
    monkeypatch.setenv("COLUMNS", "80")
    agents, peers = [{"health": "partly"}], [f"host{k}" for k in range(8)]
    counts = {"activations": 1_234_567, "outbox": 12_345, "refused": 1000, "revision": 12}
    status = {"agents": agents, "trouble": {}, "release": "0.2.0", "reasons": [], "denied": []}
    status |= counts | {"links": {name: {"sent": 1, "taken": 1} for name in peers}}
    reason = "http://192.0.2.1:8000 has no process that listens"
    command._show({"host0": {"status": status}, "host1": {"error": reason}}, 12)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0][-4:] == ["agents", "activations", "outbox", "refused"]
    assert lines[1] == ["host0", "partly", "12", "0.2.0", "1", "1,234,567", "12,345", "1,000"]
    assert lines[2] == ["host1", "unknown"]
    assert " ".join(lines[3]) == f"host1: {reason}"


def test_slow_and_stopped_and_missing_processes_are_told_apart(tmp_path, capsys):
    """Hosts as if elsewhere: behind a slow proxy, a process that says nothing, and none at all."""
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "token").chmod(0o600)
    names = ("slow", "stopped", "missing")

    async def play():
        stopped = socket.create_server(("127.0.0.1", 0))  # as the system does for a stopped one
        ports = dict(zip(names, free_ports(3), strict=True))
        proxy = Proxy(ports["slow"], 0.3)
        http = ports | {"slow": await proxy.open(), "stopped": stopped.getsockname()[1]}
        places = {
            name: f'listen = "127.0.0.1:9"\nhttp = "127.0.0.1:{port}"'
            for name, port in http.items()
        }
        network = read_description(
            written(tmp_path, places, 'security = { token = "token" }\n', edges="[[0, 1], [1, 2]]")
        )
        node = Node(network, "slow", transport=MemoryTransport("slow", MemoryExchange()))
        async with node, serving(http_app(node), f"127.0.0.1:{ports['slow']}", TOKEN):
            found = await asyncio.to_thread(hosts.ask_hosts, network, "status", 0.7)
        await proxy.close()
        stopped.close()
        return http, found

    http, found = asyncio.run(play())
    assert found["slow"]["status"]["host"] == "slow"
    assert found["slow"]["seconds"] > 0.6  # there and back
    assert found["missing"] == {"error": "does not run on this machine"}
    place = f"http://127.0.0.1:{http['stopped']}"
    words = f"{place} takes connections and does not answer within 0.7 seconds"
    assert found["stopped"] == {"error": words}
    found["slow"]["status"]["denied"] = [{"host": "missing", "reason": "too late", "count": 2}]
    found["slow"]["seconds"] = 1.25
    found["slow"]["status"]["unwritten"] = 1500
    command._show(found, 1)
    told = capsys.readouterr().out
    for sentence in (
        "slow has taken 1.2 seconds to answer",
        "slow has revision 0, and this file 1",
        "missing has refused slow 2 times: too late",
        "slow: its disk took nothing 1,500 times since it began",
    ):
        assert sentence in told


def test_where_nobody_is_reached_is_said(tmp_path):
    """In words that tell a machine that refuses from one of which nothing comes back."""
    refused = httpx.ConnectError("all connection attempts failed")
    refused.__cause__ = ConnectionRefusedError()
    for error, words in (
        (refused, "has no process that listens"),
        (httpx.ConnectTimeout(""), "cannot be reached within 5 seconds"),
        (httpx.ConnectError("no route"), "cannot be reached"),
        (httpx.ReadTimeout(""), "takes connections and does not answer within 5 seconds"),
        (httpx.RemoteProtocolError(""), "does not answer as a host does"),
    ):
        assert why_not(error, "http://192.0.2.1:8000", 5.0) == f"http://192.0.2.1:8000 {words}"
