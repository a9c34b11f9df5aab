"""Drives a host with its database: in each turn of the loop one transaction, and then what follows.

`host.py` says why nothing may leave before the transaction that it rests on.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Iterator, Sequence

from mtcool.live.agents import Feedback
from mtcool.live.counts import Counts
from mtcool.live.host import Host
from mtcool.live.offset import Offset
from mtcool.live.reporting import Reporter
from mtcool.live.store import Store
from mtcool.live.transactions import Checkpoint, Durable, Effect, Replied, Token
from mtcool.live.transport.transport import Reply


class Engine:
    """Lets events happen to a host, writes them, and carries out their effects.

    Parameters
    ----------
    name
        Of the host.
    counts, report
        Where it counts, and where it says what goes wrong.
    after_a_turn
        Is called when what has happened in a turn is written.
    after_a_restart
        Is called when the host has begun again from its disk, because a transaction failed.
    """

    def __init__(
        self,
        name: str,
        counts: Counts,
        report: Reporter,
        after_a_turn: Callable[[], None],
        after_a_restart: Callable[[], None],
    ) -> None:
        self._name, self._counts, self._report = name, counts, report
        self._after_a_turn, self._after_a_restart = after_a_turn, after_a_restart
        self.closed: str | None = "it must be entered by `async with`"
        """Why nothing can be asked of it, if that is so."""
        self.broken = asyncio.Event()
        """Is set when the database cannot be read any more."""
        self._numbers = itertools.count()
        self._learning: dict[Token, asyncio.Future[None]] = {}
        self._replies: dict[Token, tuple[str, str, Reply]] = {}
        """Who has asked, a question of which kind, and where its reply goes."""
        self._written: list[asyncio.Future[None]] = []
        """Who waits for the next transaction."""
        self._scheduled = False

    def open(self, store: Store, make: Callable[[Checkpoint | None], Host]) -> None:
        """Begin; `make` makes the host from what is in the database."""
        self.store, self._make = store, make
        self.host = make(store.read())
        self._loop = asyncio.get_running_loop()
        self.closed = None

    def close(self, reason: str) -> None:
        """Close the database; who still waits for it is told so."""
        self.closed = reason
        self.store.close()
        for done in (*self._learning.values(), *self._written):
            if not done.done():
                done.set_exception(OSError(f"node {self._name!r} is closed"))

    def check_open(self) -> None:
        """Refuse what is asked of a node that is not open, and calls from the loops of others."""
        if self.closed is not None:
            kind = OSError if self.broken.is_set() else ValueError
            raise kind(f"node {self._name!r} must be open, and {self.closed}")
        if asyncio.get_running_loop() is not self._loop:  # its locks would be of no use after that
            raise ValueError(
                f"node {self._name!r} must be called on the loop that has opened it, got a call on "
                "another: other threads may use asyncio.run_coroutine_threadsafe"
            )

    def _check_still_open(self) -> None:
        """Refuse what was asked while it was open, and would wait for ever now."""
        if self.closed is not None:
            raise OSError(f"node {self._name!r} must stay open until then, and {self.closed}")

    # --- events -----------------------------------------------------------------------------------

    def take(self, host: str, content: bytes, reply: Reply, most: int) -> Iterator[int]:
        """Take the question of another host, of at most so many messages at a time.

        Yields how many there were.
        """
        token = next(self._numbers)
        self._replies[token] = host, self._counts.comes(content), reply
        ours = self.host
        for count in ours.receive_in_slices(host, content, token, most):
            yield count
            if self.host is not ours or self.closed is not None:
                return  # it has begun again from its disk meanwhile, and remembers less
        if self.host.urgent:
            self._wake()
        else:  # what others ask for is durable already
            self._say(self.host.ready())

    def learn(
        self, number: int, feedback: Feedback, offset: Offset | None = None
    ) -> asyncio.Future[None]:
        """Learn from a round; what it returns is done when that is durable."""
        self._check_still_open()
        token = next(self._numbers)
        self.host.learn(number, feedback, token, offset=offset)
        done = self._learning[token] = self._loop.create_future()
        self._wake()
        return done

    async def next_transaction(self) -> None:
        """Wait for the next transaction."""
        self._check_still_open()
        done = self._loop.create_future()
        self._written.append(done)
        self._wake()
        await done

    # --- turns ------------------------------------------------------------------------------------

    def _wake(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        """Commit what has happened, if anybody waits for it, and say what follows."""
        self._scheduled = False
        if self.closed is not None:
            return
        if not self.host.urgent:
            self._say(self.host.ready())
            return
        self.commit()
        self._after_a_turn()

    def commit_when_idle(self) -> None:
        """Write what nobody waits for."""
        if not self._scheduled and self.closed is None:
            self.commit()

    def commit(self, description: bytes | None = None) -> OSError | None:
        """Write what has happened, and say what follows; returns what went wrong, if it did.

        A description is written with it if the network has changed.
        """
        try:
            changes = self.host.changes()
            if description is not None:
                changes = changes._replace(description=description)
            if changes.empty:
                self.store.check_ours()
            else:
                self.store.write(changes)
        except Exception as error:  # whatever it is, those changes would be missing in the next one
            return self._undo(error)
        self._say(self.host.committed(changes))
        written, self._written = self._written, []
        for done in written:
            if not done.done():
                done.set_result(None)
        return None

    def _undo(self, error: Exception) -> OSError:
        """The disk is full, or broken: go back to what is on it, and say so to those who wait."""
        reason = str(error) or repr(error)
        waiting = [*self._learning.values(), *self._written]
        self._learning, self._written = {}, []
        self._replies.clear()
        self._counts.unwritten += 1
        self._report.unwritten(reason)
        for done in waiting:
            if not done.done():
                done.set_exception(OSError(reason))
        before = self.host
        try:
            self.host = self._make(self.store.read())
        except Exception as worse:
            self.closed = f"its database cannot be read any more: {worse}"
            self._report.tell("disk", reason=self.closed, level=logging.ERROR)
            self.broken.set()
        else:
            self.host.refused.update(before.refused)
            self.host.denied.update(before.denied)
            for other, link in self.host.links.items():  # what has left is sent again, if at all
                link.left = before.links[other].left if other in before.links else 0
            self._after_a_restart()
        return OSError(reason)

    def _say(self, effects: Sequence[Effect]) -> None:
        for effect in effects:
            match effect:
                case Replied(token, content):
                    asked = self._replies.pop(token, None)
                    if asked is not None:
                        host, kind, reply = asked
                        self._counts.leaves(host, content, kind)
                        reply(content)
                case Durable(token):
                    done = self._learning.pop(token, None)
                    if done is not None and not done.done():
                        done.set_result(None)
