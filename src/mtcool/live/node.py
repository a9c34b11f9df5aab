"""A node: a host with a transport and a store, on one event loop.

In each turn of the loop it lets everything happen that is ready, commits once, and only then sends
replies and gradients (`host.py` says why).
"""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import NamedTuple

import numpy as np

from mtcool import validation
from mtcool.graphs.labels import label_of
from mtcool.live.counts import Counts, Paid
from mtcool.live.description import Description, drivers_of, read_description
from mtcool.live.driving import Feedback, Prediction
from mtcool.live.host import Limits
from mtcool.live.journals import kept_description
from mtcool.live.judging import judge_of
from mtcool.live.reporting import Reporter
from mtcool.live.resuming import resume
from mtcool.live.status import status_of
from mtcool.live.store import Store
from mtcool.live.transactions import Durable, Effect, Replied, Token
from mtcool.live.transport.transport import Reply, Transport
from mtcool.live.warming import warm
from mtcool.live.wire import to_bytes
from mtcool.types import Floats, Given, Label, Plain

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
"""Seconds until a host that did not acknowledge is tried again."""
TOO_MANY = "questions must not be more in a second than the description allows"
PATIENCE = 0.01
"""Seconds in which gradients may travel with the next question to the same host."""
IDLE = 1.0
"""Seconds after which what nobody waits for is written, too."""


class _Said(NamedTuple):
    """A round that was predicted."""

    number: int
    features: Floats | None
    prediction: Prediction


class Node:
    """Some agents of a network in this process; `async with` opens it.

    Parameters
    ----------
    network
        A description of the network, or the path of its file.
    host
        Which of its hosts this is; may be left out if there is only one.
    transport
        How questions travel; zenoh, as the description says, if not given.

    Examples
    --------
    >>> import asyncio, tempfile
    >>> from mtcool.live.description import described
    >>> async def play(folder):
    ...     network = described({"name": "demo", "graph": {"kind": "ring", "agents": 4},
    ...         "learn": {"features": ["x"]}, "shards": {"count": 1}}, folder)
    ...     async with Node(network) as node:
    ...         await node.learn(0, [1.0], 5.0)
    ...         return (await node.predict(1, [1.0])).value
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asyncio.run(play(folder))
    5.0
    """

    def __init__(
        self,
        network: Description | str | os.PathLike[str],
        host: str | None = None,
        *,
        transport: Transport | None = None,
    ) -> None:
        self.network = network if isinstance(network, Description) else read_description(network)
        names = list(self.network.places)
        if host is None and len(names) > 1:
            raise ValueError(f"host must be one of {', '.join(names)}, got None")
        self.name = names[0] if host is None else host
        self.share = self.network.share(self.name)
        self._given = transport
        self._numbers = itertools.count()
        self._learning: dict[Token, asyncio.Future[None]] = {}
        self._replies: dict[Token, tuple[str, Reply]] = {}
        self._last: dict[Label, _Said] = {}
        """The newest round of each agent that was predicted and not learned from."""
        self.began = time.time()
        """When it was made: what it counts is counted since."""
        self.counts = Counts()
        self.silent: set[str] = set()
        """Hosts that did not answer when they were last asked."""
        self.cut: set[str] = set()
        """Hosts that it does not talk to and does not hear, to try out what happens then."""
        self._judge = judge_of(self.network)
        self._report = Reporter(self.name)
        self._scheduled = False
        self._senders: dict[str, asyncio.Task[None]] = {}
        self._news: dict[str, asyncio.Event] = {}
        self._soon: dict[str, asyncio.TimerHandle] = {}
        self._pace: dict[str, tuple[int, int]] = {}
        """How many questions of each host came in which second."""

    # --- life -------------------------------------------------------------------------------------

    async def __aenter__(self) -> Node:
        file = self.network.file
        folder = self.network.path(file.state)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        warm(self.network)
        self._store = Store(
            folder / f"{self.name}.db",
            self.name,
            self.share.network,
            kept_description(self.network),
        )
        try:
            self._begin()
            self._loop = asyncio.get_running_loop()
            self._transport = self._given or self._zenoh()
            await self._transport.open(self._take)
        except BaseException:
            self._store.close()
            raise
        self._deliver()
        self._idler = asyncio.create_task(self._write_when_idle())
        self._report.tell("start")
        return self

    def _deliver(self) -> None:
        """Have a task for each other host that delivers what waits for it."""
        for other in self.host.links:
            if other not in self._senders:
                self._news[other] = asyncio.Event()
                self._senders[other] = asyncio.create_task(self._deliver_to(other))

    async def reload(self, network: Description | str | os.PathLike[str]) -> None:
        """Read the description again: agents and edges may have come and gone.

        Its revision must be above that of the one before. Agents stay on their hosts; one that is
        to live elsewhere leaves, and another one joins.

        Parameters
        ----------
        network
            The new description, or the path of its file.
        """
        new = network if isinstance(network, Description) else read_description(network)
        if new.number != self.network.number:
            raise ValueError("network must have the same name and algorithm, got another one")
        for agent, where in self.network.home.items():
            if new.home.get(agent, where) != where:
                raise ValueError(f"agent {agent!r} must stay on {where!r}, got {new.home[agent]!r}")
        change, make = new.change(self.name), drivers_of(new)
        names = [label_of(name) for name, _ in change.near]
        there = self.host.drivers | self.host.left
        joining = {name: make(name) for name in names if name not in there}
        before = set(self.host.links)
        self.host.change(change, joining)
        self.network, self.share = new, self.host.share
        self._commit()
        gone = before - set(self.host.links)
        for other in gone:
            self._senders.pop(other).cancel()
        if self._given is None and (gone or set(self.host.links) - before):
            await self._transport.close()  # who may come in is fixed when it opens
            self._transport = self._zenoh()
            await self._transport.open(self._take)
        self._deliver()

    def _begin(self) -> None:
        """Make the agents, and let them go on from what is on disk."""
        file = self.network.file
        self.host = resume(
            self.share,
            self.network.change(self.name),
            drivers_of(self.network),
            self._store.read(),
            limits=Limits(outbox=file.limits.outbox),
            journal=file.journal,
        )
        self._last.clear()

    def _zenoh(self) -> Transport:
        from mtcool.live.transport.zenoh import Credentials, Peers, ZenohTransport

        file, places = self.network.file, self.network.places
        credentials = None
        if file.security.tls and self.host.links:
            folder = self.network.path(file.security.certificates)
            credentials = Credentials(
                folder / "authority.pem", folder / f"{self.name}.pem", folder / f"{self.name}.key"
            )
            for path in credentials:
                if not path.exists():
                    raise ValueError(f"certificates must be made by `mtcool certs`, got no {path}")
        others = {other: places[other].address for other in self.host.links if other in places}
        return ZenohTransport(
            Peers(
                self.share.network,
                self.name,
                places[self.name].listen,
                others,
                file.timing.lease,
                credentials,
                file.limits.message,
            )
        )

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        tasks = [*self._senders.values(), self._idler]
        for timer in self._soon.values():
            timer.cancel()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._transport.close()
        self._commit()
        self._store.close()
        self._report.look(self.host)
        self._report.tell("stop", reason=None if error is None else str(error))

    # --- for applications -------------------------------------------------------------------------

    async def predict(
        self, agent: Label, features: Given = None, *, timeout: float | None = None
    ) -> Prediction:
        """Predict with what the neighbours know, as far as they answer within `timeout` seconds."""
        said = await self._predict(agent, self._row(features), timeout)
        return said.prediction

    async def _predict(self, agent: Label, row: Floats | None, timeout: float | None) -> _Said:
        began, host = self._loop.time(), self.host
        asked = host.begin(agent, row)
        try:
            wait = self.network.file.timing.rows if timeout is None else timeout
            replies = await self._ask(asked.questions, wait) if asked.questions else {}
            if host is not self.host:
                raise OSError("the disk could not be written meanwhile, and this round is gone")
            prediction = host.predict(asked.number, replies)
        except BaseException:
            host.forget(asked.number)
            raise
        self._remind()
        said = self._last[agent] = _Said(asked.number, row, prediction)
        self.counts.old += len(prediction.old)
        self.counts.missing += len(prediction.missing)
        self.counts.predict.add(self._loop.time() - began)
        return said

    async def learn(self, agent: Label, features: Given, target: float) -> None:
        """Learn from a row and its target; returns when that is durable."""
        row = self._row(features)
        said = self._newest(agent)
        known = None if said is None else said.features
        if said is None or known is None or not np.array_equal(known, row, equal_nan=True):  # type: ignore[arg-type]  # None is equal to no row
            said = await self._predict(agent, row, None)
        await self._learn(agent, said, validation.finite("target", target))

    async def update(self, agent: Label, gradient: Given) -> None:
        """Learn from the gradient, or the loss, of the last prediction; returns when durable."""
        said = self._newest(agent) or await self._predict(agent, None, None)
        feedback = np.asarray(gradient, np.float64) if isinstance(gradient, Sequence) else gradient
        await self._learn(agent, said, feedback)

    def _newest(self, agent: Label) -> _Said | None:
        """The last prediction of an agent, unless it is forgotten."""
        said = self._last.get(agent)
        return said if said is not None and self.host.is_open(said.number) else None

    async def _learn(self, agent: Label, said: _Said, feedback: Feedback) -> None:
        began, token = self._loop.time(), next(self._numbers)
        self.host.learn(said.number, feedback, token)
        if self._last.get(agent) is said:
            del self._last[agent]
        done = self._learning[token] = self._loop.create_future()
        self._wake()
        await done
        self.counts.learn.add(self._loop.time() - began)
        self.counts.paid.setdefault(agent, Paid()).add(*self._judge(said.prediction, feedback))

    def status(self) -> dict[str, Plain]:
        """How it is, in plain values: its agents, its links, and what it has counted."""
        return status_of(self)

    async def delivered(self, timeout: float = 10.0) -> bool:
        """Wait until other hosts have acknowledged everything; False if they have not in time."""
        end = self._loop.time() + timeout
        while any(link.outbox for link in self.host.links.values()):
            if self._loop.time() > end:
                return False
            for host, link in self.host.links.items():
                if link.outbox and not link.waiting:
                    self._news[host].set()
            await asyncio.sleep(0.001)
        return True

    def _row(self, features: Given) -> Floats | None:
        if features is None:
            return None
        if isinstance(features, Mapping):
            learn = self.network.file.learn
            if learn is None:
                raise ValueError(f"features must be a list of numbers, got {features!r}")
            for name in features:
                if name not in learn.features:
                    raise ValueError(
                        f"features must be among {', '.join(learn.features)}, got {name!r}"
                    )
            features = [features.get(name, np.nan) for name in learn.features]
        return np.array(features, dtype=np.float64)

    async def _ask(self, questions: Mapping[str, bytes], wait: float) -> dict[str, bytes]:
        reached = {host: asked for host, asked in questions.items() if host not in self.cut}
        for host, content in reached.items():
            self.counts.leaves(host, content)
        replies = await self._transport.ask(reached, wait) if reached else {}
        for host in questions:
            if host in replies:
                self.counts.received.add(replies[host])
                self.silent.discard(host)
            else:
                self.silent.add(host)
        return replies

    # --- turns ------------------------------------------------------------------------------------

    def _take(self, host: str, content: bytes, reply: Reply) -> None:
        if host in self.cut:
            return
        if not self._in_time(host):
            reply(to_bytes(self.host.refuse(host, TOO_MANY)))
            return
        token = next(self._numbers)
        self._replies[token] = host, reply
        self.counts.received.add(content)
        self.host.receive(host, content, token)
        self._wake()

    def _in_time(self, host: str) -> bool:
        """Whether a host has not asked too often in this second."""
        now = int(self._loop.time())
        second, count = self._pace.get(host, (now, 0))
        count = count + 1 if second == now else 1
        self._pace[host] = now, count
        return count <= self.network.file.limits.rate

    def _wake(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        """Commit what has happened, if anybody waits for it, and say what follows."""
        self._scheduled = False
        if not self.host.urgent:
            self._say(self.host.ready())
            return
        self._commit()
        self._remind()

    def _remind(self) -> None:
        """Deliver what waits, unless the next questions to the same hosts carry it before."""
        for host, link in self.host.links.items():
            if link.outbox and host not in self._soon:
                self._soon[host] = self._loop.call_later(PATIENCE, self._due, host)

    def _due(self, host: str) -> None:
        self._soon.pop(host, None)
        if host in self._news:
            self._news[host].set()

    def _commit(self) -> None:
        changes = self.host.changes()
        try:
            if not changes.empty:
                self._store.write(changes)
        except OSError as error:
            self._undo(error)
            return
        self._say(self.host.committed(changes))

    def _undo(self, error: OSError) -> None:
        """The disk is full, or broken: go back to what is on it, and say so to those who wait."""
        learning, self._learning = self._learning, {}
        self._replies.clear()
        self.counts.unwritten += 1
        self._report.unwritten(str(error))
        self._begin()
        for news in self._news.values():
            news.set()  # the links begin again, too
        for done in learning.values():
            if not done.done():
                done.set_exception(OSError(str(error)))

    def _say(self, effects: Sequence[Effect]) -> None:
        for effect in effects:
            match effect:
                case Replied(token, content):
                    asked = self._replies.pop(token, None)
                    if asked is not None:
                        host, reply = asked
                        self.counts.leaves(host, content)
                        reply(content)
                case Durable(token):
                    done = self._learning.pop(token, None)
                    if done is not None and not done.done():
                        done.set_result(None)

    async def _write_when_idle(self) -> None:
        while True:
            await asyncio.sleep(IDLE)
            if not self._scheduled:
                self._commit()
            self._report.look(self.host)

    # --- deliveries -------------------------------------------------------------------------------

    async def _deliver_to(self, other: str) -> None:
        """Deliver what waits for a host: one batch at a time, again and again until it is there."""
        pause, news = FIRST_PAUSE, self._news[other]
        while True:
            news.clear()
            batch = self.host.batch(other)
            if batch is None:
                await news.wait()
                continue
            host = self.host
            replies = await self._ask({other: batch}, self.network.file.timing.delivery)
            if host is not self.host:  # it has begun again meanwhile
                continue
            if self.host.delivered(other, replies.get(other)):
                pause = FIRST_PAUSE
            else:
                await asyncio.sleep(pause)
                pause = min(LONGEST_PAUSE, 2 * pause)
