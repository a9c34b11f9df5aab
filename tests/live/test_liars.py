"""A neighbour whose messages are refused: they take no disk, hold nobody up, and end after a while."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from live.small_network import greeted, never_idle, opened, play, small
from mtcool.agents.messages import Gradient, encode
from mtcool.live import Node, replay_files
from mtcool.live.history import chained
from mtcool.live.wire import Deliver, Refused, reply_in, to_bytes

LONG = 50_000
"""Bytes of a wrong message."""


class Liar:
    """Speaks for a host, with its right numbers, and says nothing right."""

    def __init__(self, node: Node, victim: Node) -> None:
        self.name, self.victim = node.name, victim
        self.replies: list[object] = []
        link = victim.host.links[node.name]
        self._number, self._history = link.taken, link.history

    def say(self, count: int, content: bytes, to: object = 0) -> None:
        """So many messages of this content in one question."""
        items = [(to, content)] * count
        share = self.victim.host.share
        said = Deliver(share.network, share.revision, self._number + 1, items, 0, self._history)
        self._number, self._history = self._number + count, chained(self._history, items)
        self.victim._take(
            self.name, to_bytes(said), lambda reply: self.replies.append(reply_in(reply))
        )


def wrong(length: int = LONG) -> bytes:
    return encode(Gradient(5, 1.0, np.full(length // 8, np.nan)))


def test_what_is_refused_is_not_kept_and_the_journal_is_played_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        network = small(tmp_path, journal=True)
        async with opened(network) as nodes:
            one, _, three = nodes.values()
            await greeted(*nodes.values())
            await play(network, nodes, 12)
            assert await three.delivered()
            liar, taken = Liar(three, one), one.host.links[three.name].taken
            for _ in range(20):
                liar.say(10, wrong())
            while len(liar.replies) < 20:
                await asyncio.sleep(0)
            assert not any(isinstance(reply, Refused) for reply in liar.replies)
            assert one.host.links[three.name].taken == taken + 200
            assert one.host.refused.total() == 200
            await play(network, nodes, 6)

    asyncio.run(scenario())
    files = [*(tmp_path / "state").glob("host0.db*")]
    assert sum(file.stat().st_size for file in files) < 10 * LONG
    alone = replay_files([tmp_path / "state" / "host0.db"])
    assert alone.differences == []
    assert (alone.same, alone.refused) == (alone.predictions, 200)
    everybody = replay_files(sorted((tmp_path / "state").glob("*.db")))
    assert "host0 has not taken what host2 has said" in everybody.differences  # it has lied
