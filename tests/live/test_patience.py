"""Nobody waits for a reply longer than five seconds, and who wants to is told so."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from live.small_network import opened, small


@pytest.mark.parametrize("key", ["rows", "delivery"])
def test_a_file_may_not_promise_more(tmp_path: Path, key: str) -> None:
    small(tmp_path, timing={key: 5})
    with pytest.raises(ValueError, match=rf"timing\.{key} must be a number at most 5, got 30"):
        small(tmp_path, timing={key: 30})


def test_a_call_may_not_ask_for_more(tmp_path: Path) -> None:
    async def play() -> None:
        async with opened(small(tmp_path, hosts=1)) as nodes:
            (node,) = nodes.values()
            await node.predict(0, [1.0, 1.0], timeout=5)
            with pytest.raises(ValueError, match=r"timeout must be at most 5 seconds.*, got 60"):
                await node.predict(0, [1.0, 1.0], timeout=60)
            assert node.host.rounds == 1

    asyncio.run(play())
