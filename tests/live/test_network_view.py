"""What a viewer makes of the statuses of hosts, without a browser."""

from __future__ import annotations

import asyncio
import gc
import warnings

import pytest
from fastapi import FastAPI

from live.small_network import opened, play, small
from mtcool.live.counts import STEPS
from mtcool.live.http import http_app, serving
from mtcool.live.page import watching
from mtcool.live.page.history import History
from mtcool.live.page.layout import edges_of, places_of
from mtcool.live.page.network_view import AgentView, LossSums, NetworkView
from mtcool.live.page.watching import Watch, of_node, of_urls
from mtcool.live.status_schema import is_status


def status(began=1.0, count=10, activations=10, **changes):
    latency = {"steps": {"30": count}}
    agent = {
        "agent": "rome", "activations": activations, "loss": 2.0, "alone": 4.0, "counted": count,
        "health": "well", "neighbours": ["oslo"], "privacy": None,
    }  # fmt: skip
    link = {"outbox": 3, "answers": True, "trouble": None, "bytes": 100 * count}
    link |= {"sent": 2, "taken": 1}
    told = {
        "host": "south", "network": "towns", "began": began, "agents": [agent],
        "activations": activations,
        "links": {"north": link}, "outbox": 3, "refused": 0, "reasons": [], "trouble": {},
        "revision": 0, "denied": [],
        "messages": {"sent": {"ask": count}}, "bytes": {"sent": {"ask": 100 * count}},
        "old": count, "missing": 0, "unwritten": 0,
        "latency": {"predict": latency, "learn": latency},
    }  # fmt: skip
    return told | changes


def test_counts_go_on_when_a_process_begins_again():
    network = NetworkView()
    network.take(0.0, {"south": status(count=10)})
    network.take(1.0, {"south": None})
    assert network.hosts_up == 0
    assert network.agents["rome"].health == "down"
    for now, count in ((2.0, 4), (3.0, 25)):  # fewer than before, and more
        network.take(now, {"south": status(began=2.0, count=count, activations=10 + count)})
        total = network.total
        assert (total.messages, total.bytes) == (10 + count, 100 * (10 + count))
        assert total.paid == LossSums(10 + count, 2.0 * (10 + count), 4.0 * (10 + count))
        assert total.predict.count == total.predict.steps[30] == 10 + count
        assert total.activations == 10 + count
    assert network.agents["rome"].paid.gain == 0.5


def test_rates_are_those_of_the_last_ten_seconds():
    network = NetworkView()
    network.take(0.0, {"south": status(count=0, activations=0)})
    assert network.points.rows[0].messages != network.points.rows[0].messages  # not known yet
    for second in range(1, 31):
        count = 5 * second if second <= 20 else 100 + 50 * (second - 20)
        network.take(float(second), {"south": status(count=count, activations=count)})
    last = network.points.rows[-1]
    assert (last.activations, last.messages, last.bytes, last.stale) == (50, 50, 5000, 50)
    assert network.traffic("south", "north") == 5000
    assert (last.loss, last.alone, last.outbox) == (2.0, 4.0, 3)
    assert last.predict50 == pytest.approx(1e-5 * 1.1**30.5)


def test_agents_come_and_go():
    network = NetworkView()
    network.take(0.0, {"south": status()})
    assert network.agents["oslo"].host is None
    assert network.agents["oslo"].health == "elsewhere"
    shape = network.shape
    network.take(1.0, {"south": status()})
    assert network.shape == shape
    network.take(2.0, {"south": status(agents=[])})
    assert "rome" not in network.agents
    assert network.shape > shape


def test_a_long_history_is_thinned_and_its_newest_rows_are_not():
    history = History(new=5, old=8)
    for k in range(1000):
        history.add(k)
    rows = history.rows
    assert len(rows) <= 13
    assert rows[-5:] == [995, 996, 997, 998, 999]
    assert rows[0] == 0
    assert rows == sorted(set(rows))


@pytest.mark.parametrize("count", [1, 2, 7, 500])
def test_every_agent_has_a_place_of_its_own(count):
    ring = {
        k: AgentView(k, f"host{k % 5}", tuple({(k - 1) % count, (k + 1) % count} - {k}))
        for k in range(count)
    }
    places = places_of(ring)
    assert len({(round(x, 6), round(y, 6)) for x, y in places}) == count
    assert len(edges_of(ring)) == (count if count > 2 else count - 1)


def test_hosts_are_watched_over_http_and_by_themselves(tmp_path):
    async def run():
        network = small(tmp_path, hosts=2, timing={"rows": 5.0, "delivery": 5.0})
        async with opened(network) as nodes:
            await play(network, nodes, 30)
            for node in nodes.values():
                assert await node.delivered()
            async with serving(http_app(nodes["host0"]), "127.0.0.1:0") as url:
                dead = "http://127.0.0.1:9"
                async with Watch(of_urls({"host0": url, "host1": dead})) as watch:
                    seen = watch.network
            async with Watch(of_node(nodes["host0"])) as watch:
                own = watch.network
            for found in (seen, own):
                assert found.hosts["host0"].status == nodes["host0"].status()
                assert found.total.activations == 15
                healths = [agent.health for agent in found.agents.values()]
                assert sorted(healths) == ["elsewhere"] * 2 + ["well"] * 3
            assert seen.hosts["host1"] is None

    asyncio.run(run())


def test_who_stops_watching_leaves_no_connection_open(tmp_path):
    async def run():
        network = small(tmp_path, hosts=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gc.collect()  # what others have left
        async with (
            opened(network) as nodes,
            serving(http_app(nodes["host0"]), "127.0.0.1:0") as url,
        ):
            async with Watch(of_urls({"host0": url})) as watch:
                assert watch.network.hosts_up == 1
            del watch
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                gc.collect()
        return [str(one.message) for one in told if one.category is ResourceWarning]

    assert asyncio.run(run()) == []


@pytest.mark.parametrize("told", [{"status": "ok"}, [1], None, status(agents=[{}])])
def test_a_server_that_is_no_host_is_down_and_watching_goes_on(tmp_path, monkeypatch, told):
    monkeypatch.setattr(watching, "EVERY", 0.05)
    stranger = FastAPI()
    stranger.get("/status")(lambda: told)

    async def run():
        network = small(tmp_path, hosts=2)
        async with (
            opened(network) as nodes,
            serving(http_app(nodes["host0"]), "127.0.0.1:0") as good,
            serving(stranger, "127.0.0.1:0") as bad,
            Watch(of_urls({"host1": bad, "host0": good})) as watch,
        ):
            looks = len(watch.network.points.rows)
            async with asyncio.timeout(60):
                while len(watch.network.points.rows) < looks + 2:
                    await asyncio.sleep(0.01)
            assert watch.network.hosts["host1"] is None
            assert watch.network.hosts_up == 1

    asyncio.run(run())


def test_a_look_that_fails_is_not_the_last(monkeypatch):
    monkeypatch.setattr(watching, "EVERY", 0.01)
    looks = []

    async def ask():
        looks.append(1)
        if len(looks) == 2:
            raise RuntimeError("once")
        return {"south": status()}

    async def run():
        async with Watch(ask), asyncio.timeout(60):
            while len(looks) < 4:
                await asyncio.sleep(0.01)

    asyncio.run(run())


def test_a_status_has_all_that_people_are_shown():
    assert is_status(status())
    for name in status().keys() - {"host"}:
        assert not is_status({key: value for key, value in status().items() if key != name}), name
    for step, known in ((0, True), (STEPS - 1, True), (STEPS, False), ("a", False)):
        latency = {"steps": {str(step): 1}}
        assert is_status(status(latency={"predict": latency, "learn": latency})) is known
