"""Questions of other hosts: replied to at once, worked off in turn, or turned away.

Each host has a queue of its own with a limit. The loop works at them in turn, and does little at a
time, so that calls of this host's applications come in between however much others say. Who says
more than `limits` allows in a second waits, and what is more than the queue takes is turned away.
Who says too much that is wrong is not heard for a while.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from mtcool.live.engine import Engine
from mtcool.live.host import NO_NEIGHBOURS
from mtcool.live.rate_limit import Bucket
from mtcool.live.refusals import STRANGER
from mtcool.live.reporting import Reporter
from mtcool.live.transport.transport import Reply
from mtcool.live.wire import Refused, to_bytes

TOO_MANY = "questions must not be more than the queue of a host takes"
MOST_WAITING, MOST_LENGTH = 1024, 4
"""Questions of one host that wait, and their bytes, in questions of the largest size."""
SLICE, PIECE = 64, 4096
"""Messages that are worked at in one turn of the loop; as many bytes count as one more."""
PAUSE = 60.0
"""Seconds for which who says too much that is wrong is not heard."""


class RateLimits(NamedTuple):
    """What one host may say at most."""

    messages: int
    """In a second: questions, and the messages in them."""
    bytes: int
    """In a second: of questions, and of the replies that are given at once."""
    largest: int
    """Bytes of one question."""
    refused: int
    """Messages that may be refused in a minute."""


@dataclass
class _Queue:
    """What has come from one host."""

    host: str
    questions: deque[tuple[bytes, Reply]] = field(default_factory=deque)
    length: int = 0
    """Bytes of these."""
    working: Iterator[int] | None = None
    """The one that is worked at."""
    messages: Bucket = field(default_factory=Bucket)
    bytes: Bucket = field(default_factory=Bucket)
    refusals: Bucket = field(default_factory=Bucket)
    stopped: str = ""
    """Why it is not heard, and until when."""
    until: float = 0.0
    turned_away: Counter[str] = field(default_factory=Counter)
    """Questions that nobody has looked at, by reason, that are not counted by the host yet."""

    @property
    def busy(self) -> bool:
        return self.working is not None or bool(self.questions)

    def wait(self, now: float, limits: RateLimits) -> float:
        """Seconds until it may say more."""
        return max(
            self.messages.wait(now, limits.messages, limits.messages),
            self.bytes.wait(now, limits.bytes, limits.bytes),
        )

    def take(self, messages: int, length: int) -> None:
        self.messages.take(messages)
        self.bytes.take(length)

    def why_not(self, now: float) -> str:
        """Why it is not heard now; nothing if it is."""
        if now >= self.until:
            self.stopped = ""
        return self.stopped


class Inbox:
    """The questions of all other hosts.

    Parameters
    ----------
    engine
        Takes them.
    report
        Where it is told that a host is not heard any more.
    limits
        What each host may say at most, as the description says now.
    """

    def __init__(self, engine: Engine, report: Reporter, limits: Callable[[], RateLimits]) -> None:
        self._engine, self._report, self._limits = engine, report, limits
        self.clock = time.monotonic
        self._lock = threading.Lock()
        self._queues: dict[str, _Queue] = {}
        """By host; who was served last comes last."""
        self._scheduled = False
        self._timer: asyncio.TimerHandle | None = None

    def open(self) -> None:
        """Begin to work on this loop."""
        self._loop = asyncio.get_running_loop()

    @property
    def stopped(self) -> dict[str, str]:
        """Hosts that are not heard now, and why."""
        now = self.clock()
        with self._lock:
            return {host: why for host, one in self._queues.items() if (why := one.why_not(now))}

    # --- on any thread ----------------------------------------------------------------------------

    def at_once(self, host: str, content: bytes) -> bytes | None:
        """The reply to a question, if it needs no turn of the loop; else None."""
        now, limits = self.clock(), self._limits()
        if host not in self._engine.host.links:
            return None
        with self._lock:
            queue = self._queue(host)
            if queue.why_not(now) or queue.wait(now, limits):
                return None
        reply = self._engine.host.answer(host, content)
        if reply is not None:
            with self._lock:
                queue.take(1, len(content) + len(reply))
        return reply

    def put(self, host: str, content: bytes, reply: Reply) -> None:
        """Let a question wait for the loop, or turn it away."""
        known = host in self._engine.host.links
        with self._lock:
            queue = self._queue(host if known else STRANGER)
            why = queue.why_not(self.clock()) if known else NO_NEIGHBOURS
            why = why or self._full(queue, len(content))
            if why:
                queue.turned_away[why] += 1
            else:
                queue.questions.append((content, reply))
                queue.length += len(content)
            wake = not why and not self._scheduled
            self._scheduled |= wake
        if why:
            reply(to_bytes(Refused(why)))
        elif wake:
            with contextlib.suppress(RuntimeError):  # the loop is closed: so is this host
                self._loop.call_soon_threadsafe(self._work)

    def _queue(self, host: str) -> _Queue:
        return self._queues.setdefault(host, _Queue(host))

    def _full(self, queue: _Queue, length: int) -> str:
        """Why there is no room; one question always has room, and is refused where it is read."""
        most = MOST_LENGTH * self._limits().largest
        full = len(queue.questions) >= MOST_WAITING or queue.length + length > most
        return TOO_MANY if queue.questions and full else ""

    # --- on the loop ------------------------------------------------------------------------------

    def settle(self) -> None:
        """Let the host count who was turned away."""
        with self._lock:
            counts = [(one.host, one.turned_away) for one in self._queues.values()]
            for one in self._queues.values():
                one.turned_away = Counter()
        for host, turned_away in counts:
            for reason, count in turned_away.items():
                self._engine.host.refuse(host, reason, count)

    def _work(self) -> None:
        """Work at the queues in turn for a while, and go on in the next turn of the loop."""
        room = SLICE
        try:
            while room > 0 and self._engine.closed is None:
                queue = self._next()
                if queue is None:
                    break
                room -= self._work_at(queue)
        finally:
            self._schedule()

    def _next(self) -> _Queue | None:
        """Who has waited longest of those that may say more."""
        now, limits = self.clock(), self._limits()
        with self._lock:
            for host, queue in self._queues.items():
                if queue.working is not None or (queue.questions and not queue.wait(now, limits)):
                    self._queues[host] = self._queues.pop(host)
                    return queue
        return None

    def _work_at(self, queue: _Queue) -> int:
        """Take a slice of a question; returns what it has cost."""
        cost, refused = 0, self._engine.host.refused.total()
        if queue.working is None:
            with self._lock:
                content, reply = queue.questions.popleft()
                queue.length -= len(content)
                queue.take(1, len(content))
            queue.working = self._engine.take(queue.host, content, reply, SLICE)
            cost = 1 + len(content) // PIECE
        count = next(queue.working, None)
        if count is None:
            queue.working = None
        else:
            cost += count
            with self._lock:
                queue.take(max(0, count - 1), 0)  # a question with a message counts as one
        self._judge(queue, self._engine.host.refused.total() - refused)
        return cost

    def _judge(self, queue: _Queue, refused: int) -> None:
        """Stop to hear who has said too much that is wrong."""
        now, most = self.clock(), self._limits().refused
        if refused <= 0 or queue.why_not(now):
            return
        queue.refusals.wait(now, most / PAUSE, most)
        queue.refusals.take(refused)
        if queue.refusals.wait(now, most / PAUSE, most) == 0.0:
            return
        why = (
            f"host {queue.host!r} is not heard for {PAUSE:g} seconds, because more than {most} of "
            "its messages in a minute were refused (limits.refused)"
        )
        queue.refusals = Bucket()
        with self._lock:  # other threads ask `why_not`, which forgets a reason that is over
            queue.stopped, queue.until = why, now + PAUSE
            waiting, queue.questions, queue.length = queue.questions, deque(), 0
            queue.turned_away[why] += len(waiting)
        for _, reply in waiting:
            reply(to_bytes(Refused(why)))
        self._report.tell("stopped", peer=queue.host, reason=why, level=logging.ERROR)

    def _schedule(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        now, limits = self.clock(), self._limits()
        with self._lock:
            waits = [
                0.0 if one.working is not None else one.wait(now, limits)
                for one in self._queues.values()
                if one.busy
            ]
            self._scheduled = bool(waits) and min(waits) == 0.0 and self._engine.closed is None
        if self._engine.closed is not None or not waits:
            return
        if self._scheduled:
            self._loop.call_soon(self._work)
        else:
            self._timer = self._loop.call_later(min(waits), self._work)
