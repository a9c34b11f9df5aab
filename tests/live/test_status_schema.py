"""What is told in several places is told alike."""

from __future__ import annotations

import asyncio
import json
from collections import Counter

import httpx
import pytest
from typer.testing import CliRunner

from live.small_network import greeted, opened, small
from mtcool.cli import hosts, replay, up
from mtcool.cli.commands import app
from mtcool.live import journals, sockets
from mtcool.live.http import http_app, serving
from mtcool.live.http.metrics import metrics_of
from mtcool.live.replay import Replayed
from mtcool.live.transport import zenoh
from mtcool.live.up import UpOutcome
from mtcool.live.up.tally import Tally

AGAIN = Replayed(
    predictions=20, same=19, messages=7, waiting=3, elsewhere=Counter(north=3),
    differences=["host0: it is another one"],
)  # fmt: skip


@pytest.mark.parametrize("state", ["silent", "cut"])
def test_whether_a_host_answers_is_the_same_in_the_status_and_in_the_metrics(tmp_path, state):
    async def run():
        async with opened(small(tmp_path)) as nodes:
            node = nodes["host0"]
            await greeted(node)  # so that nobody is asked meanwhile
            getattr(node, state).add("host1")
            links = node.status()["links"]
            for other, told in (("host1", False), ("host2", True)):
                assert links[other]["answers"] == told
                assert f'mtcool_answers{{peer="{other}"}} {float(told)}' in metrics_of(node)
            health = {agent["agent"]: agent["health"] for agent in node.status()["agents"]}
            assert health == {0: "well", 1: "cut off"}
            getattr(node, state).clear()

    asyncio.run(run())


def test_a_replay_is_told_alike_after_a_run_and_by_itself(monkeypatch, capsys):
    monkeypatch.setattr(journals, "replay_files", lambda *_: AGAIN)
    with pytest.raises(replay.typer.Exit):
        replay.replay([])
    alone = capsys.readouterr().out
    up.conclude(UpOutcome(Tally(), 1.0, 0, 0, 0, 0, 0, {}, [], AGAIN))
    assert f"played again: {alone}" in capsys.readouterr().out
    assert "3 messages wait for north" in alone
    assert "it is another one" in alone


def test_a_replay_as_json_has_what_waits_elsewhere(monkeypatch, capsys):
    monkeypatch.setattr(journals, "replay_files", lambda *_: AGAIN)
    with pytest.raises(replay.typer.Exit):
        replay.replay([], as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["elsewhere"] == {"north": 3}
    assert told["differences"] == AGAIN.differences
    assert (told["same"], told["predictions"], told["waiting"]) == (19, 20, 3)


def test_neighbours_are_waited_for_no_longer_than_the_transport_does(tmp_path):
    async def run():
        async with (
            opened(small(tmp_path, hosts=1)) as nodes,
            serving(http_app(nodes["host0"]), "127.0.0.1:0") as url,
            httpx.AsyncClient(base_url=url) as client,
        ):
            row = {"agent": 0, "features": [1.0, 1.0]}
            most = zenoh.LONGEST_WAIT
            right = await client.post("/predict", json=row | {"timeout": most})
            wrong = await client.post("/predict", json=row | {"timeout": most + 0.1})
            assert (right.status_code, wrong.status_code) == (200, 400)
            assert "timeout" in wrong.json()["error"]
            schema = (await client.get("/openapi.json")).json()["components"]["schemas"]
            assert f'"maximum": {most}' in json.dumps(schema["ToPredict"]["properties"]["timeout"])

    asyncio.run(run())


def test_hosts_that_take_long_to_read_a_file_are_waited_for_with_a_word(tmp_path, monkeypatch):
    async def slow(network, host, request):
        if host == "host2":
            raise ConnectionRefusedError
        await asyncio.sleep(0.3 if host == "host1" else 0.0)
        return {"agents": [0, 1]}

    monkeypatch.setattr(sockets, "ask_host", slow)
    monkeypatch.setattr(hosts, "QUIET", 0.05)
    file = tmp_path / "network.toml"
    file.write_text(
        'name = "n"\ngraph = { kind = "ring", agents = 6 }\nlearn = { features = ["x"] }\n'
        "shards = { count = 3 }\n"
    )
    done = CliRunner().invoke(app, ["reload", str(file)])
    assert "host2: does not run on this machine" in done.stdout
    assert done.stdout.count("has read it, and has 2 agents") == 2
    assert "2 of 3 hosts have answered; each has 20 seconds" in done.stderr
    assert done.exit_code == 0
