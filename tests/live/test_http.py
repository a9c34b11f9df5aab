"""A node over HTTP answers as the node itself does, says what is wrong, and lets nobody else in."""

from __future__ import annotations

import asyncio
import contextlib
import os

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

import mtcool
from live.small_network import KT, PRIVATE, greeted, never_idle, opened, play, small
from mtcool.live.agents import feedback_in
from mtcool.live.http import http_app, serving, token_in

TOKEN = "correct horse battery staple"


@contextlib.asynccontextmanager
async def called(node, address="127.0.0.1:0", token=None, **headers):
    async with (
        serving(http_app(node), address, token) as url,
        httpx.AsyncClient(base_url=url, headers=headers, timeout=60.0) as client,
    ):
        yield client


SQUARED = {"algorithm": {"dim": 2, "loss": "squared", **KT}}


def with_node(folder, calls, rounds=0, **changes):
    """Let `calls` talk to the first node of a network over HTTP."""

    async def run():
        network = small(folder, **changes)
        async with opened(network) as nodes, called(nodes["host0"]) as client:
            if rounds:
                await greeted(*nodes.values())  # private agents wait for it
            await play(network, nodes, rounds)
            for node in nodes.values():
                if rounds:
                    assert await node.delivered()
            return await calls(client, nodes["host0"])

    return asyncio.run(run())


def test_predictions_over_http_are_those_of_the_node(tmp_path):
    async def calls(client, node):
        row = {"agent": 0, "features": {"a": 0.5, "b": None}}
        over_http = (await client.post("/predict", json=row)).json()
        said = await node.predict(0, [0.5, float("nan")])
        assert (over_http["value"], over_http["alone"]) == (said.value, said.alone)
        assert over_http["old"] == over_http["missing"] == []
        learned = await client.post("/learn", json=row | {"target": 2.0})
        assert learned.json() == {"durable": True, "activations": 3}
        assert node.host.learned[0] == 2 + 1

    with_node(tmp_path, calls, rounds=12, timing={"rows": 5.0})


def test_gradients_over_http_move_the_point(tmp_path):
    async def calls(client, node):
        first = (await client.post("/predict", json={"agent": 1})).json()["value"]
        assert first == [0.0, 0.0]
        done = await client.post("/update", json={"agent": 1, "gradient": [0.5, 0.0]})
        assert done.json() == {"durable": True, "activations": 1}
        assert (await client.post("/predict", json={"agent": 1})).json()["value"][0] < 0

    with_node(tmp_path, calls, algorithm={"dim": 2, "rates": "adaptive"})


def test_losses_over_http_move_the_point_as_the_node_does(tmp_path):
    loss = {"kind": "quadratic", "row": [0.5, 0.25]}

    async def over_http(client, node):
        done = await client.post("/update", json={"agent": 1, "loss": loss})
        assert done.json() == {"durable": True, "activations": 1}
        both = {"agent": 1, "loss": loss, "gradient": [1.0, 1.0]}
        for body in (both, {"agent": 1}):
            answer = await client.post("/update", json=body)
            assert (answer.status_code, answer.json()) == (
                400, {"error": "one of gradient and loss must be given"},
            )  # fmt: skip
        return (await node.predict(1)).value

    async def by_itself(client, node):
        await node.update(1, feedback_in(["loss", "quadratic", [], loss["row"]]))
        return (await node.predict(1)).value

    found = [
        with_node(tmp_path / name, calls, algorithm={"dim": 2, "rates": "adaptive"})
        for name, calls in (("http", over_http), ("node", by_itself))
    ]
    assert found[0] == found[1] != (0.0, 0.0)


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/predict", {"agent": 99, "features": [1.0, 1.0]}, 404, "agent must live on host 'host0'"),
        ("/predict", {"agent": 5, "features": [1.0, 1.0]}, 404, "agent must live on host 'host0'"),
        ("/predict", {"agent": 0, "features": [1.0]}, 400, "features must"),
        ("/predict", {"agent": 0, "features": {"c": 1.0}}, 400, "features must be among a, b"),
        ("/predict", {"agent": 0}, 400, "features must be given"),
        (
            "/predict",
            {"agent": 0, "features": [1.0, 1.0], "timeout": 0},
            400,
            "timeout must be a number of seconds above 0 and at most 5, got 0",
        ),
        (
            "/predict",
            {"agent": 0, "features": [1.0, 1.0], "extra": 0},
            400,
            "words of a request must be among agent, features, timeout, got 'extra'",
        ),
        (
            "/predict",
            {"agent": True, "features": [1.0, 1.0]},
            400,
            "agent must be the name of an agent, got True",
        ),
        (
            "/predict",
            {"agent": 0, "features": [1.0, "x" * 99]},
            400,
            "features must be a list of numbers, or an object of numbers by name, with null for "
            f"unknown ones, got [1.0, '{'x' * 50}...",
        ),
        ("/predict", [1], 400, "body must be an object, got [1]"),
        ("/predict", {"agent": [[[]]], "features": [1.0, 1.0]}, 404, "agent must live"),
        ("/predict", {"agent": [{}], "features": [1.0, 1.0]}, 400, "labels must be"),
        ("/learn", {"agent": 0, "features": [1.0, 1.0]}, 400, "target must be given"),
        (
            "/learn",
            {"agent": 0, "features": [1.0, 1.0], "target": "much"},
            400,
            "target must be a number, got 'much'",
        ),
        (
            "/learn",
            {"agent": 0, "round": 1.5, "target": 1.0},
            400,
            "round must be a whole number, got 1.5",
        ),
        (
            "/update",
            {"agent": 0, "loss": {"kind": "quadratic"}},
            400,
            "loss must be an object with a kind, a row of numbers",
        ),
        ("/update", {"agent": 0, "gradient": [1.0, 1.0]}, 400, "features must be given"),
        (
            "/update",
            {"agent": 0, "gradient": "down"},
            400,
            "gradient must be a list of numbers, got 'down'",
        ),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(tmp_path, path, body, status, words):
    async def calls(client, node):
        answer = await client.post(path, json=body)
        assert answer.status_code == status
        assert set(answer.json()) == {"error"}
        assert words in answer.json()["error"]
        assert "\n" not in answer.json()["error"]
        assert node.host.version == 0

    with_node(tmp_path, calls)


@pytest.mark.parametrize("body", [b'{"agent": "\xff"}', b"[" * 10_000 + b"]" * 10_000, b"9" * 5000])
def test_a_body_that_cannot_be_read_is_said_to_be_one(tmp_path, body):
    async def calls(client, node):
        kind = {"Content-Type": "application/json"}
        answer = await client.post("/predict", content=body, headers=kind)
        assert answer.status_code == 400
        assert answer.json()["error"].startswith("body must be JSON in UTF-8")

    with_node(tmp_path, calls)


def test_numbers_that_are_none_are_refused(tmp_path):
    async def calls(client, node):
        for text in ("", "[", '{"agent": 0, "features": [NaN, 1], "target": Infinity}', "\xff"):
            headers = {"content-type": "application/json"}
            answer = await client.post("/learn", content=text, headers=headers)
            assert answer.status_code == 400, text
            assert answer.json()["error"].startswith(("body ", "target must be finite")), text
        plain = {"content-type": "text/plain"}  # what a page of another site could send unasked
        text = '{"agent": 0, "features": [1, 1], "target": 1}'
        answer = await client.post("/learn", content=text, headers=plain)
        assert answer.status_code == 400
        assert answer.json()["error"] == "Content-Type must be application/json, got text/plain"
        assert node.host.version == 0

    with_node(tmp_path, calls)


def test_what_is_not_possible_now_is_a_conflict_and_a_full_disk_is_no_service(
    tmp_path, monkeypatch
):
    never_idle(monkeypatch)

    async def calls(client, node):
        row = {"agent": 0, "features": [1.0, 1.0], "target": 1.0}
        node.host.limits = node.host.limits._replace(outbox=0)
        refused = await client.post("/learn", json=row)
        assert refused.status_code == 409
        assert "outbox" in refused.json()["error"]
        node.host.limits = node.host.limits._replace(outbox=9)

        def full(changes):
            raise OSError("disk is full")

        with monkeypatch.context() as patched:
            patched.setattr(node._engine.store, "write", full)
            broken = await client.post("/learn", json=row)
        assert (broken.status_code, broken.json()) == (503, {"error": "disk is full"})

    with_node(tmp_path, calls)


def test_status_is_that_of_the_node(tmp_path):
    async def calls(client, node):
        await node.delivered()
        over_http = (await client.get("/status")).json()
        assert over_http == node.status()
        assert [agent["activations"] for agent in over_http["agents"]] == [4, 4]
        assert over_http["agents"][0]["neighbours"] == [1, 5]

    with_node(tmp_path, calls, rounds=24)


def test_metrics_are_the_counts(tmp_path):
    async def calls(client, node):
        await node.delivered()
        answer = await client.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain")
        found = {
            (sample.name, *sorted(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(answer.text)
            for sample in family.samples
        }
        counts, agent = node.counts, ("agent", "0")
        assert found["mtcool_activations_total", agent] == node.host.learned[0] == 4
        assert found["mtcool_loss_total", agent] == counts.paid[0].loss > 0
        assert found["mtcool_loss_alone_total", agent] == counts.paid[0].alone
        for peer, traffic in counts.to.items():
            for kind in ("ask", "rows", "deliver", "position"):
                labels = ("kind", kind), ("peer", peer)
                assert found["mtcool_messages_total", *labels] == traffic.messages[kind] > 0
                assert found["mtcool_message_bytes_total", *labels] == traffic.bytes[kind]
            assert found["mtcool_outbox", ("peer", peer)] == 0
            assert found["mtcool_answers", ("peer", peer)] == 1
            assert found["mtcool_slow", ("peer", peer)] == 0
        for name, latency in (("predict", counts.predict), ("learn", counts.learn)):
            assert found[f"mtcool_{name}_seconds_count",] == latency.count == 8
            assert found[f"mtcool_{name}_seconds_sum",] == latency.total
            assert found[f"mtcool_{name}_seconds_bucket", ("le", "+Inf")] == 8
        assert found["mtcool_rounds_total",] == node.host.rounds
        assert found["mtcool_revision",] == 0
        assert found["mtcool_build_info", ("release", mtcool.__version__)] == 1
        node.host.denied.note("host1", "too late", 3)
        assert 'mtcool_denied_total{peer="host1"} 3.0' in (await client.get("/metrics")).text

    with_node(tmp_path, calls, rounds=24, timing={"rows": 5.0, "delivery": 5.0})


def test_metrics_and_status_know_what_private_agents_have_left(tmp_path):
    async def calls(client, node):
        text = (await client.get("/metrics")).text
        assert 'mtcool_privacy_left{agent="0"} 48.0' in text
        assert node.status()["agents"][0]["privacy"]["remaining"] == 48

    with_node(tmp_path, calls, rounds=12, **PRIVATE)


@pytest.mark.parametrize("more", [{}, {"publish_losses": True}], ids=["unasked", "asked"])
def test_losses_of_private_agents_are_told_to_those_alone_who_ask_for_it(tmp_path, more):
    """With a prediction in hand, two sums of losses give the target between them."""

    async def calls(client, node):
        text = (await client.get("/metrics")).text
        status = (await client.get("/status")).json()
        (asked,) = more.values() or [False]
        assert status["publishes_losses"] == asked
        assert ('mtcool_loss_total{agent="0"}' in text) == asked
        assert ('mtcool_losses_total{agent="0"}' in text) == asked
        agent = status["agents"][0]
        assert (agent["activations"], agent["counted"]) == (2, 2 if asked else 0)
        assert (agent["loss"] is not None) == asked

    with_node(tmp_path, calls, rounds=12, **PRIVATE, **more)


@pytest.mark.parametrize("more", [PRIVATE, SQUARED], ids=["private", "not private"])
def test_gradients_of_any_length_are_clipped_and_infinite_losses_are_not_told(tmp_path, more):
    """Of a private agent, a refusal would tell two targets apart."""

    async def calls(client, node):
        for target in (1e200, 1.0):
            row = {"agent": 0, "features": [0.5, 0.5], "target": target}
            assert (await client.post("/learn", json=row)).status_code == 200
        status = await client.get("/status")
        assert status.status_code == 200
        assert status.json()["agents"][0]["counted"] == 1

    with_node(tmp_path, calls, hosts=1, **more, publish_losses=True)


def test_losses_of_others_can_be_left_out(tmp_path):
    async def calls(client, node):
        assert "mtcool_loss_total{" not in (await client.get("/metrics")).text

    with_node(tmp_path, calls, rounds=6, publish_losses=False)


def test_the_schema_names_every_endpoint_and_no_error_that_never_comes(tmp_path):
    async def calls(client, node):
        schema = (await client.get("/openapi.json")).json()
        assert set(schema["paths"]) == {
            "/predict", "/learn", "/update", "/status", "/metrics", "/health", "/ready", "/reload",
        }  # fmt: skip
        assert set(schema["paths"]["/learn"]["post"]["responses"]) == {
            "200", "400", "404", "409", "503",
        }  # fmt: skip
        assert "422" not in str(schema)
        for page in ("/docs", "/redoc"):
            assert (await client.get(page)).status_code == 404

    with_node(tmp_path, calls)


# --- who gets in ----------------------------------------------------------------------------------


def test_elsewhere_than_on_loopback_a_token_is_wanted(tmp_path, monkeypatch):
    async def run():
        network = small(tmp_path, hosts=1)
        async with opened(network) as nodes:
            node = nodes["host0"]
            for address in ("0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.org:0"):
                with pytest.raises(ValueError, match="token must be given to listen elsewhere"):
                    async with called(node, address):
                        pass
            async with called(node, "0.0.0.0:0", TOKEN) as client:
                assert client.base_url.host == "127.0.0.1"  # which can be called
                row = {"agent": 0, "features": [1.0, 1.0], "target": 1.0}
                for given in (None, "Bearer wrong", f"Basic {TOKEN}", "Bearer", f"Bearer {TOKEN}x"):
                    headers = {} if given is None else {"Authorization": given}
                    for answer in (
                        await client.get("/status", headers=headers),
                        await client.get("/metrics", headers=headers),
                        await client.get("/nothing", headers=headers),
                        await client.post("/learn", json=row, headers=headers),
                    ):
                        assert answer.status_code == 401
                        assert answer.json() == {"error": "token must be given"}
                assert node.host.version == 0
                for path in ("/health", "/ready"):  # of who watches over processes
                    answer = await client.get(path)
                    assert (answer.status_code, answer.json()) == (200, {"ok": True})
                right = {"Authorization": f"Bearer {TOKEN}"}
                assert (await client.post("/learn", json=row, headers=right)).status_code == 200
                monkeypatch.setattr(node.host, "stopped_by", lambda agent: "another host")
                for path, status in (("/health", 200), ("/ready", 503)):
                    answer = await client.get(path)
                    assert (answer.status_code, answer.json()) == (status, {"ok": status == 200})
                with monkeypatch.context() as broken:
                    broken.setattr(node._engine, "closed", "its database cannot be read any more")
                    assert (await client.get("/health")).status_code == 503

    asyncio.run(run())


def test_a_browser_shows_the_token_once(tmp_path):
    async def run():
        network = small(tmp_path, hosts=1)
        async with opened(network) as nodes, called(nodes["host0"], token=TOKEN) as client:
            asked = await client.get("/", headers={"accept": "text/html"})
            assert asked.status_code == 401
            assert "<form" in asked.text
            wrong = await client.post("/enter", data={"token": "wrong"})
            assert wrong.status_code == 401
            assert not client.cookies
            right = await client.post("/enter", data={"token": TOKEN})
            assert right.status_code == 303
            kept = right.headers["set-cookie"]
            assert "HttpOnly" in kept
            assert "SameSite=strict" in kept
            assert "Secure" not in kept
            assert TOKEN not in kept
            assert (await client.get("/status")).status_code == 200
            back = await client.get("/enter", headers={"accept": "text/html"})
            assert (back.status_code, back.headers["location"]) == (303, "/")
            client.cookies.clear()
            over_tls = {"Origin": "https://rome.example.org"}
            for proxied in (
                {"Host": "rome.example.org"},
                {"X-Forwarded-Host": "rome.example.org"},
                {"Sec-Fetch-Site": "same-origin"},  # and the proxy has told nothing
            ):
                headers = over_tls | proxied
                right = await client.post("/enter", data={"token": TOKEN}, headers=headers)
                kept = right.headers["set-cookie"]
                assert kept.startswith("__Host-mtcool=")
                assert "Secure" in kept
                cookie = {"Cookie": kept.partition(";")[0]}
                assert (await client.get("/status", headers=cookie)).status_code == 200
            foreign = await client.post("/enter", data={"token": TOKEN}, headers=over_tls)
            assert foreign.status_code == 403

    asyncio.run(run())


def test_pages_of_other_sites_reach_nothing(tmp_path):
    async def calls(client, node):
        row = {"agent": 0, "features": [1.0, 1.0], "target": 1.0}
        for headers in (
            {"Origin": "https://example.org"},
            {"Host": "example.org"},  # a name that somebody else has bound to this machine
            {"Host": "localhost.example.org"},
            {"Host": ""},
            {"Origin": "null"},
            {"Origin": "http://["},
        ):
            answer = await client.post("/learn", json=row, headers=headers)
            assert answer.status_code == 403, headers
        assert node.host.version == 0
        own = {"Origin": str(client.base_url).rstrip("/")}
        assert (await client.post("/learn", json=row, headers=own)).status_code == 200

    with_node(tmp_path, calls)


def test_pages_of_other_sites_load_nothing_from_here(tmp_path):
    """Browsers tell who asks, and what for; images and frames ask without an `Origin`."""

    def told(site, mode, dest):
        return {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}

    async def calls(client, node):
        row = {"agent": 0, "features": [1.0, 1.0]}
        for site in ("cross-site", "same-site", "nonsense"):
            for mode, dest in (
                ("no-cors", "image"),
                ("no-cors", "empty"),
                ("cors", "empty"),
                ("navigate", "iframe"),
                ("navigate", "object"),
                ("websocket", "websocket"),
            ):
                answer = await client.get("/status", headers=told(site, mode, dest))
                assert answer.status_code == 403, (site, mode, dest)
                assert "other sites" in answer.json()["error"]
            left_for = told(site, "navigate", "document")
            assert (await client.get("/status", headers=left_for)).status_code == 200
            assert (await client.post("/predict", json=row, headers=left_for)).status_code == 403
            assert (
                await client.get("/status", headers={"Sec-Fetch-Site": site})
            ).status_code == 403
        for site in ("same-origin", "none"):  # its own page, and who types its address
            for mode, dest in (("no-cors", "image"), ("cors", "empty"), ("navigate", "document")):
                headers = told(site, mode, dest)
                assert (await client.get("/status", headers=headers)).status_code == 200
                answer = await client.post("/predict", json=row, headers=headers)
                assert answer.status_code == 200

    with_node(tmp_path, calls)


def test_long_requests_are_not_read(tmp_path):
    async def calls(client, node):
        async def in_chunks():
            for _ in range(32):
                yield b"[" * 65536

        answer = await client.post("/learn", content=b" " * ((1 << 20) + 1))
        assert answer.status_code == 400
        assert "content-length must be at most" in answer.json()["error"]
        with contextlib.suppress(httpx.HTTPError):  # the server hangs up, or answers
            assert (await client.post("/learn", content=in_chunks())).status_code == 400
        assert (await client.get("/status")).status_code == 200

    with_node(tmp_path, calls)


def test_a_request_that_says_nothing_of_a_body_has_none(tmp_path):
    """As `curl -X POST` sends it."""

    async def calls(client, node):
        for path, words in (
            ("/reload", "a node that was made from a file"),
            ("/predict", "Content-Type must be application/json"),
        ):
            request = client.build_request("POST", path)
            del request.headers["Content-Length"]
            answer = await client.send(request)
            assert answer.status_code == 400
            assert words in answer.json()["error"]

    with_node(tmp_path, calls)


def test_tokens_are_read_from_files_of_their_owner_only(tmp_path):
    file = tmp_path / "token"
    file.write_text(TOKEN + "\n")
    for mode in (0o644, 0o640, 0o604):
        os.chmod(file, mode)
        with pytest.raises(ValueError, match=f"mode 0600, got {mode:04o}"):
            token_in(file)
    os.chmod(file, 0o600)
    assert token_in(file) == TOKEN
    for content in ("short", "two lines\nof a long token", "sixteen letters ü"):
        file.write_text(content)
        with pytest.raises(ValueError, match="token must be one line"):
            token_in(file)


def test_an_address_that_is_taken_is_said_at_the_start(tmp_path):
    async def calls(client, node):
        port = client.base_url.port
        with pytest.raises(OSError, match="address must be free"):
            async with called(node, f"127.0.0.1:{port}"):
                pass

    with_node(tmp_path, calls)
