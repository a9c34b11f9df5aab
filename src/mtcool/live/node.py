"""A node: a host with a transport and a store, on one event loop.

An `Engine` drives the host, a `Connection` reaches others, `Calls` are what applications ask, and
`Deliveries` bring to others what waits for them. The node puts them together.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Mapping, MutableSet, Set
from types import TracebackType

import numpy as np

from mtcool import validation
from mtcool.graphs.labels import label_of
from mtcool.live import inbox
from mtcool.live.agents import Prediction
from mtcool.live.calls import Calls
from mtcool.live.config import Description, drivers_of, read_description
from mtcool.live.config.stored import kept_description
from mtcool.live.connecting import Connection
from mtcool.live.counts import Counts
from mtcool.live.delivering import Deliveries
from mtcool.live.engine import Engine
from mtcool.live.features import in_order
from mtcool.live.host import Host, HostLimits
from mtcool.live.offset import Place, checked_offset
from mtcool.live.refusals import STRANGER
from mtcool.live.reporting import Reporter
from mtcool.live.resuming import resume
from mtcool.live.scoring import judge_of
from mtcool.live.status import status_of
from mtcool.live.store import Store
from mtcool.live.transactions import Checkpoint
from mtcool.live.transport.transport import LONGEST_WAIT, Reply, Transport
from mtcool.live.transport.turned_away import turned_away
from mtcool.live.warming import warm
from mtcool.streams import Loss
from mtcool.types import Floats, Given, Label, Plain

IDLE = 1.0
"""Seconds after which what nobody waits for is written, too."""


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
    >>> from mtcool.live.config import described
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
        share = self.network.share(self.name)
        self.began = time.time()
        """When it was made: what it counts is counted since."""
        self.report = Reporter(share.host)
        self._counts = Counts()
        self._connection = Connection(self, transport, self._counts)
        self._deliveries = Deliveries(self, self._connection)
        self._engine = Engine(
            self.name, self._counts, self.report, self._deliveries.soon, self._begun_again
        )
        self._inbox = inbox.Inbox(self._engine, self.report, self._limits_of_others)
        self._calls = Calls(
            self._engine,
            self._connection,
            self._deliveries,
            self._counts,
            judge_of(self.network) if self.network.publishes_losses else None,
        )

    @property
    def silent(self) -> Set[str]:
        """Hosts that have not answered for a while, although they were asked."""
        return self._connection.silent

    @property
    def slow(self) -> Set[str]:
        """Hosts that answer, but later than predictions wait for."""
        return self._connection.slow

    @property
    def asked(self) -> Set[str]:
        """Hosts with neighbours of its agents, and those for which something waits."""
        waiting = {other for other, link in self.host.links.items() if link.outbox}
        return self.host.neighbours | waiting

    @property
    def cut(self) -> MutableSet[str]:
        """Hosts that it does not talk to and does not hear, to try out what happens then."""
        return self._connection.cut

    # --- life -------------------------------------------------------------------------------------

    async def __aenter__(self) -> Node:
        folder = self.network.path(self.network.file.state)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        warm(self.network)
        path, private = folder / f"{self.name}.db", self.network.private
        store = Store(path, self.name, self.network.number, private=private)
        try:
            self._engine.open(store, self._made)
            store.describe(kept_description(self.network))
            self._inbox.open()
            await self._connection.open(self._take)
        except BaseException:
            self._engine.close("it could not be opened")
            raise
        self._deliveries.begin()
        self._idler = asyncio.create_task(self._write_when_idle())
        self.report.tell("start")
        return self

    async def reload(self, network: Description | str | os.PathLike[str]) -> None:
        """Read the description again: agents and edges may have come and gone.

        Its revision must be above that of the one before. Agents stay on their hosts; one that is
        to live elsewhere leaves, and another one joins. For a moment other hosts are not reached.
        What is refused, or cannot be written, changes nothing. An address that is taken is tried
        again until it is free.

        Parameters
        ----------
        network
            The new description, or the path of its file.
        """
        self._engine.check_open()
        if self._connection.changing:
            raise ValueError("reload must wait until the one before is done")
        new = network if isinstance(network, Description) else read_description(network)
        self._check_same(new)
        change, make = new.change(self.name), drivers_of(new)
        names = [label_of(name) for name, _ in change.near]
        there = self.host.drivers | self.host.left
        joining = {name: make(name) for name in names if name not in there}
        others = self.host.links.keys() | {host for _, host in change.home} - {self.name}
        peers = self._connection.wanted(new, others)
        self.host.change(change, joining)
        error = self._engine.commit(kept_description(new))
        if error is not None:  # and the network is what it was before
            raise error
        self.network = new
        self.host.limits = self._limits()
        self._connection.forget_all_but(self.asked)
        self.report.forget_all_but(self.asked)
        self._deliveries.begin()
        self._deliveries.again()  # hosts that we knew may have neighbours of our agents again
        self.report.tell("reload", reason=f"revision {new.file.revision}")
        await self._connection.change(peers)

    def _check_same(self, new: Description) -> None:
        """Refuse another network, and one in which agents move."""
        before, after = self.network.file, new.file
        fixed = "name", "learn", "algorithm", "privacy", "state", "journal", "publish_losses"
        for what in fixed:
            if getattr(before, what) != getattr(after, what):
                raise ValueError(
                    f"{what} must stay as it was while hosts run, got {getattr(after, what)!r}"
                )
        if self.name not in new.places:
            raise ValueError(f"hosts must have {self.name!r}, which runs, got none")
        served, http = self.network.places[self.name].http, new.places[self.name].http
        if served != http:
            raise ValueError(
                f"hosts.{self.name}.http must stay as it was while it runs, got {http!r}: restart "
                "it instead"
            )
        token = after.security.token
        if http is not None and token != before.security.token:
            raise ValueError(
                f"security.token must stay as it was while host {self.name!r} runs, got {token!r}: "
                "restart it instead"
            )
        for agent, where in self.network.home.items():
            if new.home.get(agent, where) != where:
                raise ValueError(f"agent {agent!r} must stay on {where!r}, got {new.home[agent]!r}")

    @property
    def closed(self) -> str | None:
        """Why nothing can be asked of it; None while it is open."""
        return self._engine.closed

    @property
    def host(self) -> Host:
        """The host of a node that is, or was, open."""
        return self._engine.host

    def _made(self, kept: Checkpoint | None) -> Host:
        """The host, whose agents go on from what was kept."""
        return resume(
            self.network.share(self.name),
            self.network.change(self.name),
            drivers_of(self.network),
            kept,
            limits=self._limits(),
            journal=self.network.file.journal,
        )

    def _begun_again(self) -> None:
        self._calls.forget()
        self._deliveries.again()

    def _limits(self) -> HostLimits:
        return HostLimits(self.network.file.limits.outbox, self.network.largest)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._idler.cancel()
        try:
            await asyncio.gather(self._idler, return_exceptions=True)
            await self._deliveries.end()
            await self._connection.close()
        finally:  # also if it is cancelled meanwhile
            if self._engine.closed is None:
                self._engine.commit()
            self._engine.close("it is closed")
        self._notice_turned_away()
        self.report.look(self.host)
        self.report.tell("stop", reason=None if error is None else str(error))

    @property
    def counts(self) -> Counts:
        """What it has counted."""
        self._counts.settle()
        return self._counts

    # --- for applications -------------------------------------------------------------------------

    async def predict(
        self, agent: Label, features: Given = None, *, timeout: float | None = None
    ) -> Prediction:
        """Predict with what the neighbours know, as far as they answer in time.

        Parameters
        ----------
        agent
            Name of an agent that lives here.
        features
            Numbers in the order of the description, or by name; None or NaN where one is unknown.
            Left out where agents predict points.
        timeout
            Seconds to wait for the neighbours, at most five; what the description says
            (`timing.rows`) if not given. Of who does not answer in time, the last known row is
            used.
        """
        self._engine.check_open()
        wait = self._wait if timeout is None else _seconds("timeout", timeout)
        return (await self._calls.predict(self._here(agent), self._row(features), wait)).prediction

    async def learn(
        self,
        agent: Label,
        features: Given,
        target: float,
        *,
        round: int | None = None,
        offset: Place | None = None,
    ) -> None:
        """Learn from a row and its target; returns when that is durable.

        After `predict` with the same features it learns from that prediction, and asks nobody.

        Parameters
        ----------
        agent
            Name of an agent that lives here.
        features
            As in `predict`; may be None if a round is named.
        target
            What should have been predicted: a number, in classification 0 or 1.
        round
            Learn from the prediction of this round (`Prediction.round`), for targets that come
            late or in another order. The newest 64 of an agent wait for theirs.
        offset
            The place of the row in a stream: its number, from 1 on, and a checksum of it. It is
            kept in the same transaction (`status`), and a number that is not above the last one of
            this agent is refused: so nothing is learned from twice, whenever a process dies.
        """
        self._engine.check_open()
        row, target = self._row(features), validation.finite("target", target)
        name = None if round is None else validation.count("round", round, 0)
        place = None if offset is None else checked_offset(offset)
        await self._calls.learn(self._here(agent), row, target, self._wait, name, place)

    async def update(
        self,
        agent: Label,
        gradient: Given,
        *,
        round: int | None = None,
        offset: Place | None = None,
    ) -> None:
        """Learn from the gradient, or the loss, of the last prediction; returns when durable.

        Parameters
        ----------
        agent
            Name of an agent that lives here, in a network that predicts points.
        gradient
            The gradient at the agent's last prediction, as numbers; or a `Loss`, which is also
            taken without a prediction: then the agent predicts first. Where a journal is written,
            the loss must be of one of the package's own kinds.
        round
            The round of the prediction, if it is not the last one; as in `learn`.
        offset
            As in `learn`.
        """
        self._engine.check_open()
        if self.network.file.learn is not None:
            raise ValueError("features must be given to agents that learn from tables: use learn")
        feedback = gradient if isinstance(gradient, Loss) else _numbers("gradient", gradient)
        name = None if round is None else validation.count("round", round, 0)
        place = None if offset is None else checked_offset(offset)
        await self._calls.update(self._here(agent), feedback, self._wait, name, place)

    async def rewind(self) -> None:
        """Let a stream be fed from its beginning: all offsets are 0 again, when this returns."""
        self._engine.check_open()
        self.host.rewind()
        error = self._engine.commit()
        if error is not None:
            raise error

    @property
    def _wait(self) -> float:
        """Seconds for which rows of neighbours are waited for."""
        return self.network.file.timing.rows

    def status(self) -> dict[str, Plain]:
        """How it is, in plain values: its agents, its links, and what it has counted.

        What was learned and said is told as far as it is durable. Other counts, and losses, begin
        with the process.
        """
        self._notice_turned_away()
        return status_of(self)

    async def broken(self) -> str:
        """Wait until the database cannot be read any more; returns why. The node is useless then.

        Examples
        --------
        >>> import asyncio, tempfile
        >>> from mtcool.live.config import described
        >>> async def play(folder):
        ...     network = described({"name": "demo", "graph": {"kind": "ring", "agents": 4},
        ...         "learn": {"features": ["x"]}, "shards": {"count": 1}}, folder)
        ...     async with Node(network) as node:
        ...         async with asyncio.timeout(0.01):
        ...             await node.broken()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     asyncio.run(play(folder))
        Traceback (most recent call last):
        ...
        TimeoutError
        """
        await self._engine.broken.wait()
        return str(self._engine.closed)

    async def delivered(self, timeout: float = 10.0) -> bool:
        """Wait until other hosts have acknowledged everything; False if they have not in time.

        Parameters
        ----------
        timeout
            Seconds to wait, at most. Nobody waits for a link that has stopped.
        """
        self._engine.check_open()
        return await self._deliveries.done(validation.non_negative("timeout", timeout))

    def _here(self, agent: Label) -> Label:
        """An agent that lives here; refuses all else, also what can be nobody's name."""
        try:
            lives = agent in self.host.drivers
        except TypeError:  # it cannot be hashed
            lives = False
        if not lives:
            raise ValueError(f"agent must live on host {self.name!r}, got {agent!r}")
        return agent

    def _row(self, features: Given) -> Floats | None:
        if features is None:
            return None
        if isinstance(features, Mapping):
            learn = self.network.file.learn
            if learn is None:
                raise ValueError(f"features must be a list of numbers, got {features!r}")
            features = in_order(learn.features, features)
        return _numbers("features", features, unknown=True)

    # --- for other hosts --------------------------------------------------------------------------

    def _take(self, host: str, content: bytes, reply: Reply) -> None:
        """On any thread: take the question of another host."""
        if host in self.cut or self._engine.closed is not None:
            return
        said = self._answer(host, content)
        if said is None:
            self._inbox.put(host, content, reply)
        else:
            reply(said)

    def _answer(self, host: str, content: bytes) -> bytes | None:
        """On any thread: the reply to a question, if it needs no turn of the loop; else None."""
        if host in self.cut or self._engine.closed is not None:
            return None
        reply = self._inbox.at_once(host, content)
        if reply is not None:
            self._counts.leaves(host, reply, self._counts.comes(content))
        return reply

    def _limits_of_others(self) -> inbox.RateLimits:
        limits = self.network.file.limits
        return inbox.RateLimits(limits.rate, limits.bytes, self.network.largest, limits.refused)

    @property
    def stopped(self) -> dict[str, str]:
        """Hosts that are not heard now because of what they have said, and why."""
        return self._inbox.stopped

    # --- now and then -----------------------------------------------------------------------------

    async def _write_when_idle(self) -> None:
        while True:
            await asyncio.sleep(IDLE)
            try:
                self._engine.commit_when_idle()
                self._notice_turned_away()
                self._counts.settle()
                self.report.look(self.host, self.silent)
            except Exception as error:  # whatever it is must not end what is done every second
                self.report.tell("idle", reason=repr(error), level=logging.ERROR)

    def _notice_turned_away(self) -> None:
        self._inbox.settle()
        names = {place.address: name for name, place in self.network.places.items()}
        for (reason, address, by_them), count in turned_away().items():
            counted = self.host.denied if by_them else self.host.refused
            counted.note(names.get(address or "", STRANGER), reason, count)


def _seconds(name: str, seconds: float) -> float:
    """Seconds to wait for other hosts; refuses more than anybody waits."""
    wait = validation.non_negative(name, seconds)
    if wait > LONGEST_WAIT:
        raise ValueError(
            f"{name} must be at most {LONGEST_WAIT:g} seconds, after which questions are "
            f"forgotten, got {seconds!r}"
        )
    return wait


def _numbers(name: str, given: Given, *, unknown: bool = False) -> Floats:
    """Numbers that nobody else changes; refuses all else before anything is touched."""
    return np.array(validation.numbers(name, given, unknown=unknown))
