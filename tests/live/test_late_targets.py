"""Targets may come late, and in another order: a round is learned from by its number."""

import asyncio
import contextlib
from pathlib import Path

import httpx
import numpy as np
import pytest

from live.small_network import KT, opened, small
from mtcool.live import Node
from mtcool.live.host import LIMITS
from mtcool.live.http import http_app
from mtcool.live.lines import Lines

POINTS = {"algorithm": {"dim": 2, **KT}}
LOSS = {"algorithm": {"dim": 2, "loss": "squared", "lipschitz": 8.0, **KT}}
ROWS = [[0.5, -0.25], [-1.0, 0.75], [0.25, 1.0]]


def with_nodes(folder: Path, play, **changes):
    async def run():
        async with opened(small(folder, agents=3, hosts=1, **changes)) as nodes:
            return await play(nodes["host0"])

    return asyncio.run(run())


def model_of(node: Node) -> list[bytes]:
    return [driver.keep() for driver in node.host.drivers.values()]


def test_gradients_in_another_order_are_those_of_their_rounds(tmp_path: Path) -> None:
    """A host that is driven by hand, which knows rounds by number only, comes to the same."""
    order, gradients = [2, 0, 1], [[0.5, 0.1], [-0.2, 0.3], [0.4, -0.4]]

    async def named(node: Node) -> list[bytes]:
        said = [await node.predict(0) for _ in ROWS]
        assert len({one.round for one in said}) == len(ROWS)
        for k in order:
            await node.update(0, gradients[k], round=said[k].round)
        return model_of(node)

    async def by_hand(node: Node) -> list[bytes]:
        numbers = [node.host.begin(0).number for _ in ROWS]
        for number in numbers:
            node.host.predict(number, {})
        for k in order:
            node.host.learn(numbers[k], np.array(gradients[k]), None)
        return model_of(node)

    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    kept = with_nodes(tmp_path / "one", named, **POINTS)
    assert kept == with_nodes(tmp_path / "two", by_hand, **POINTS)


@pytest.mark.parametrize("changes", [{}, LOSS], ids=["tables", "gradients"])
def test_late_targets_need_no_features(tmp_path: Path, changes: dict) -> None:
    async def play(node: Node) -> None:
        said = [await node.predict(0, row) for row in ROWS]
        await node.learn(0, None, 1.0, round=said[1].round)
        await node.learn(0, ROWS[0], -1.0, round=said[0].round)
        assert node.host.learned[0] == 2
        assert node.host.rounds == len(ROWS)  # nobody was asked again
        before = model_of(node)
        for wrong, words in [
            ({"round": said[1].round}, "waits for its target"),  # it was learned from
            ({"round": 999}, "round must be that of a prediction of 0"),
            ({"round": True}, "round must be a whole number"),
        ]:
            with pytest.raises(ValueError, match=words):
                await node.learn(0, None, 1.0, **wrong)
        with pytest.raises(ValueError, match="features must be those of round"):
            await node.learn(0, ROWS[0], 1.0, round=said[2].round)
        with pytest.raises(ValueError, match="round must be that of a prediction of 1"):
            await node.learn(1, None, 1.0, round=said[2].round)
        assert model_of(node) == before
        await node.learn(0, ROWS[2], 1.0)  # the last one needs no name
        assert node.host.rounds == len(ROWS)

    with_nodes(tmp_path, play, **changes)


def test_the_oldest_rounds_give_way(tmp_path: Path) -> None:
    async def play(node: Node) -> None:
        first = await node.predict(0, ROWS[0])
        others = [await node.predict(0, ROWS[1]) for _ in range(LIMITS.rounds)]
        with pytest.raises(ValueError, match="waits for its target"):
            await node.learn(0, None, 1.0, round=first.round)
        await node.learn(0, None, 1.0, round=others[0].round)
        assert len(node._calls._said[0]) == LIMITS.rounds - 1

    with_nodes(tmp_path, play)


def test_rounds_are_named_over_http_and_on_lines(tmp_path: Path) -> None:
    async def play(node: Node) -> None:
        async with contextlib.AsyncExitStack() as stack:
            transport = httpx.ASGITransport(http_app(node))
            client = await stack.enter_async_context(
                httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")
            )
            asked = [{"agent": 0, "features": row} for row in ROWS]
            said = [(await client.post("/predict", json=one)).json()["round"] for one in asked]
            late = {"agent": 0, "target": 2.0, "round": said[0]}
            assert (await client.post("/learn", json=late)).json()["activations"] == 1
            refused = await client.post("/learn", json=late)
            assert refused.status_code == 400
            line = f'{{"do": "learn", "agent": 0, "target": 2.0, "round": {said[1]}}}'
            assert b'"activations":2' in await Lines(node).answer(line.encode())
            told = await Lines(node).answer(b'{"do": "predict", "agent": 0, "features": [1, 2]}')
            assert f'"round":{said[2] + 1}'.encode() in told

    with_nodes(tmp_path, play)


def test_no_round_is_called_like_one_that_is_forgotten(tmp_path: Path) -> None:
    """After a full disk, or a crash, the host counts its rounds from what is on disk."""

    def full(changes: object) -> None:
        raise OSError("the disk is full")

    async def play() -> None:
        network = small(tmp_path, agents=3, hosts=1)
        async with opened(network) as nodes:
            node = nodes["host0"]
            await node.learn(0, ROWS[0], 1.0)
            first = await node.predict(0, ROWS[1])
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(node._engine.store, "write", full)
                with pytest.raises(OSError, match="the disk is full"):
                    await node.learn(1, ROWS[0], 1.0)
            before = node.host.rounds
            second = await node.predict(0, ROWS[2])
            assert node.host.rounds == before + 1 == 2  # that of the first one, again
            with pytest.raises(ValueError, match="before the host began again"):
                await node.learn(0, None, 1.0, round=first.round)
            node._engine.commit = lambda *given: None  # it is killed before it writes again
        async with opened(network) as nodes:
            third = await nodes["host0"].predict(0, ROWS[2])
            assert len({first.round, second.round, third.round}) == 3
            for name in (first.round, second.round):
                with pytest.raises(ValueError, match="before the host began again"):
                    await nodes["host0"].learn(0, None, 1.0, round=name)

    asyncio.run(play())
