"""What applications ask of a node: predictions, and to learn from what became of them."""

from __future__ import annotations

import asyncio
import itertools
import secrets
import time
from collections.abc import Awaitable
from typing import TYPE_CHECKING, NamedTuple

from mtcool.live.agents import Feedback, Prediction
from mtcool.live.counts import Counts, PaidCounts
from mtcool.live.offset import Offset
from mtcool.live.scoring import Judge
from mtcool.streams import Loss
from mtcool.types import Floats, Label

if TYPE_CHECKING:
    from mtcool.live.connecting import Connection
    from mtcool.live.delivering import Deliveries
    from mtcool.live.engine import Engine


NAME_BITS = 48
"""Of the first name of a round: other processes have others, and any language can hold it."""


class PredictedRound(NamedTuple):
    """A round that was predicted."""

    number: int
    """That of its host."""
    features: Floats | None
    prediction: Prediction


class Calls:
    """The rounds of a node's agents, as applications see them.

    Parameters
    ----------
    engine, connection, deliveries, counts
        The parts of the node.
    judge
        What rounds cost; None if nobody may know.
    """

    def __init__(
        self,
        engine: Engine,
        connection: Connection,
        deliveries: Deliveries,
        counts: Counts,
        judge: Judge | None,
    ) -> None:
        self._engine, self._connection, self._deliveries = engine, connection, deliveries
        self._counts, self._judge = counts, judge
        self._said: dict[Label, dict[int, PredictedRound]] = {}
        """Rounds of each agent that were predicted and not learned from, by `Prediction.round`."""
        # Numbers of the host begin again with its disk, which may be behind what was told.
        self._names = itertools.count(secrets.randbits(NAME_BITS))
        self._last: dict[Label, PredictedRound] = {}
        """The newest round of each agent, unless it was learned from."""
        self._turns: dict[Label, asyncio.Lock] = {}

    def forget(self) -> None:
        """The host has begun again from its disk, without the rounds of before."""
        self._said.clear()
        self._last.clear()

    async def predict(self, agent: Label, row: Floats | None, wait: float) -> PredictedRound:
        """Predict with what the neighbours know, as far as they answer within so many seconds."""
        began, said = time.monotonic(), None
        while said is None:
            said = await self._try_to_predict(agent, row, wait)
        self._deliveries.soon()
        open_rounds = self._said.setdefault(agent, {})
        open_rounds[said.prediction.round] = self._last[agent] = said
        while len(open_rounds) > self._engine.host.limits.rounds:
            del open_rounds[next(iter(open_rounds))]
        self._counts.old += len(said.prediction.old)
        self._counts.missing += len(said.prediction.missing)
        self._counts.predict.add(time.monotonic() - began)
        return said

    async def _try_to_predict(
        self, agent: Label, row: Floats | None, wait: float
    ) -> PredictedRound | None:
        """Predict; None if the graph has changed meanwhile, so that it must be done again."""
        host, revision = self._engine.host, self._engine.host.share.revision
        asked = host.begin(agent, row)
        try:
            replies: dict[str, bytes] = {}
            if asked.questions:
                asyncio.get_running_loop().call_soon(host.prepare, asked.number)
                replies = await self._connection.ask(asked.questions, wait)
            if host is not self._engine.host:
                raise OSError("the disk could not be written meanwhile, and this round is gone")
            if host.share.revision != revision and not host.is_open(asked.number):
                return None
            prediction = host.predict(asked.number, replies)
            if host.urgent:  # what it rests on may still be undone, and nobody must see it
                await self._engine.next_transaction()
                if host.share.revision != revision and not host.is_open(asked.number):
                    return None
        except BaseException:
            host.forget(asked.number)
            self._deliveries.soon()  # what travelled with the questions may have to go again
            raise
        return PredictedRound(asked.number, row, prediction._replace(round=next(self._names)))

    async def learn(
        self,
        agent: Label,
        row: Floats | None,
        target: float,
        wait: float,
        name: int | None,
        offset: Offset | None = None,
    ) -> None:
        """Learn from a row and its target; returns when that is durable."""
        async with self._turn(agent):
            if name is None:
                said = self._newest(agent)
                if said is None or not _same(said.features, row):
                    said = await self._round(agent, row, wait, offset)
            else:
                said = self._named(agent, name)
                if row is not None and not _same(said.features, row):
                    found = row.tolist()
                    raise ValueError(f"features must be those of round {name}, got {found}")
            learning = self._learn(agent, said, target, offset)
        await learning

    async def update(
        self,
        agent: Label,
        feedback: Feedback,
        wait: float,
        name: int | None,
        offset: Offset | None = None,
    ) -> None:
        """Learn from the gradient, or the loss, of a prediction; returns when durable."""
        async with self._turn(agent):
            said = self._newest(agent) if name is None else self._named(agent, name)
            if said is None:
                if not isinstance(feedback, Loss):
                    raise ValueError(
                        f"gradient must be that of a prediction of {agent!r} that was not learned "
                        "from yet, got one without: predict first"
                    )
                said = await self._round(agent, None, wait, offset)
            learning = self._learn(agent, said, feedback, offset)
        await learning

    async def _round(
        self, agent: Label, row: Floats | None, wait: float, offset: Offset | None
    ) -> PredictedRound:
        """A round to learn from: one that has not given way to many others meanwhile."""
        # Who must wait, or has learned from this row, predicts nothing, and no round gives way.
        self._engine.host.check_may_learn(agent, offset)
        while True:
            said = await self.predict(agent, row, wait)
            if self._engine.host.is_open(said.number):
                return said

    def _turn(self, agent: Label) -> asyncio.Lock:
        """Rounds of an agent, which lives here, are learned from one after the other."""
        return self._turns.setdefault(agent, asyncio.Lock())

    def _newest(self, agent: Label) -> PredictedRound | None:
        """The last prediction of an agent, unless it is forgotten."""
        said = self._last.get(agent)
        return said if said is not None and self._engine.host.is_open(said.number) else None

    def _named(self, agent: Label, name: int) -> PredictedRound:
        """The prediction of this name; refuses one that is forgotten, or of another agent."""
        said = self._said.get(agent, {}).get(name)
        if said is None or not self._engine.host.is_open(said.number):
            raise ValueError(
                f"round must be that of a prediction of {agent!r} which waits for its target, got "
                f"{name}: it was learned from, has given way to newer ones, or was made before "
                "the host began again"
            )
        return said

    def _learn(
        self, agent: Label, said: PredictedRound, feedback: Feedback, offset: Offset | None
    ) -> Awaitable[None]:
        """Learn at once; returns what to wait for until that is durable."""
        began = time.monotonic()
        done = self._engine.learn(said.number, feedback, offset)
        self._said.get(agent, {}).pop(said.prediction.round, None)
        if self._last.get(agent) is said:
            del self._last[agent]
        return self._learned(agent, said, feedback, began, done)

    async def _learned(
        self,
        agent: Label,
        said: PredictedRound,
        feedback: Feedback,
        began: float,
        done: asyncio.Future[None],
    ) -> None:
        await done
        self._counts.learn.add(time.monotonic() - began)
        if self._judge is not None:
            cost = self._judge(said.prediction, feedback)
            self._counts.paid.setdefault(agent, PaidCounts()).add(*cost)


def _same(one: Floats | None, other: Floats | None) -> bool:
    """Whether two rows are the same to the bit; a missing number is equal to another."""
    if one is None or other is None:
        return False
    return one.shape == other.shape and one.tobytes() == other.tobytes()
