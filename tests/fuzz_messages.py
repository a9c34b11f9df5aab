"""Hostile messages to agents of all kinds: refused without a trace, or the agent plays on.

`make fuzz` sends ten thousand to each kind of agent; `tests/agents/test_hostile.py` a few hundred.
They are what a neighbour can send: any bytes, any numbers and any names. Uncompiled, where Python
notices an index that does not exist.
"""

from __future__ import annotations

import itertools
import sys
import warnings
from collections import Counter
from collections.abc import Callable

import msgspec
import numpy as np

import mtcool
from mtcool.agents import messages
from mtcool.agents.messages import SCHEMA, decode, encode
from mtcool.learn import Model
from mtcool.learn.agent import PanelAgent
from mtcool.learn.exchange import knowledge_size, lesson_size, products_size
from mtcool.learners import FTRL, MTFTRL, MTFTRLKT
from mtcool.live.agents import GradientDriver, Near, TableDriver
from mtcool.streams import Loss, Quadratic
from mtcool.streams.kinds import KINDS

DIM, SIZE = 2, 4
RING = mtcool.graphs.ring(SIZE)
PERIOD = 200
"""Messages after which an agent begins afresh: who accepts one huge number hears no small ones."""


def gradients(make, **settings):
    """The driver of an agent of a network that learns from gradients."""
    return lambda: GradientDriver(make(RING, DIM, **settings).agent(0))


def late(**settings):
    """An agent in the field that was not told of every change of its graph."""

    def make():
        driver = gradients(mtcool.mt_co2ol, learner=MTFTRLKT(), rates="adaptive", **settings)()
        driver.meet([Near(1, 1, 2), Near(3, 3, 2)], skipped=True)
        return driver

    return make


def private(**settings):
    level = mtcool.Privacy(1.0, 100_000, **settings)
    return lambda: GradientDriver(mtcool.dpmt_co2ol(RING, DIM, level, seed=1).agent(0))


def tables(**settings):
    def make():
        model = Model(RING, **settings)
        model.expect_features(DIM)
        return TableDriver(model.agent(0))

    return make


FIELD = {"learner": MTFTRLKT(), "rates": "adaptive"}
KINDS_OF_AGENTS: dict[str, Callable[[], GradientDriver | TableDriver]] = {
    "Hedge": gradients(mtcool.mt_co2ol, learner=MTFTRL()),
    "KT": gradients(mtcool.mt_co2ol, learner=MTFTRLKT()),
    "FTRL": gradients(mtcool.mt_co2ol, learner=FTRL()),
    "adaptive rates": gradients(mtcool.mt_co2ol, **FIELD),
    "no bound": gradients(mtcool.mt_co2ol, learner=MTFTRLKT(), lipschitz="adaptive"),
    "pairwise": gradients(mtcool.pairwise, learner=MTFTRLKT()),
    "alone": gradients(mtcool.i_ftrl, learner=FTRL()),
    "one task": gradients(mtcool.st_ftrl, learner=FTRL(), lipschitz=9.0),
    "one task, no bound": gradients(mtcool.st_ftrl, learner=FTRL(), lipschitz="adaptive"),
    "field": gradients(mtcool.mt_co2ol, messages=mtcool.Messages(), **FIELD),
    "field, bits": gradients(mtcool.mt_co2ol, messages=mtcool.Messages(bits=4), **FIELD),
    "field, changed": late(messages=mtcool.Messages()),
    "private": private(),
    "private, doubling": private(aggregator=mtcool.privacy.Doubling()),
    "tables": tables(),
    "tables, rows": tables(share="rows"),
    "tables, classes": tables(task="classification"),
}

KINDS_OF_MESSAGES = [
    messages.RowRequest, messages.Rows, messages.Gradient, messages.Sums, messages.LossShared,
    messages.SumsRequest, messages.Knowledge, messages.Lesson, messages.FieldRequest,
    messages.FieldRow, messages.FieldGradient, messages.Announcement,
]  # fmt: skip
NUMBERS = [
    0.0, -0.0, 1.0, 2.0, 3.0, 7.0, -1.0, 0.5, 1 / 3, 1.5, 1e-320, 1e-9, 1e9, 1e15, 1e154, 1e155,
    1e300, -1e300, 2.0**53, 2.0**53 + 2, 2.0**63, float("inf"), float("-inf"), float("nan"),
]  # fmt: skip
SENDERS = [
    1,
    3,
    0,
    2,
    9,
    -1,
    2**62,
    1.0,
    True,
    None,
    "1",
    "",
    "nobody",
    [1],
    [[1]],
    ["a", 1.5],
    "x" * 999,
]
LENGTHS = [0, 1, DIM - 1, DIM, DIM + 1, 3 * DIM, 12, 18, 30, 48, 100]


class Attacker:
    """Makes messages."""

    def __init__(self, rng: np.random.Generator, driver) -> None:
        self._rng, self._driver = rng, driver
        self._count = 0

    def pick(self, values):
        return values[self._rng.integers(len(values))]

    def number(self) -> float:
        if self._rng.random() < 0.4:
            self._count += 1
            return float(self._count)
        return self.pick(NUMBERS)

    def vector(self) -> np.ndarray:
        length = DIM if self._rng.random() < 0.4 else self.pick(LENGTHS)
        size = self.pick(self.sizes()) if self._rng.random() < 0.3 else length
        draw = self._rng.random()
        if draw < 0.4:
            return self._rng.uniform(-0.5, 0.5, size)
        if draw < 0.6:
            return np.full(size, self.pick(NUMBERS))
        found = self._rng.uniform(-1.0, 1.0, size) * self.pick([1.0, 1e10, 1e140, 1e300])
        if size:
            found[self._rng.integers(size)] = self.pick(NUMBERS)
        return found

    def sizes(self) -> list[int]:
        """Lengths that are right for this kind of agent, if that is known."""
        agent = self._driver.agent
        if hasattr(agent, "panel"):
            width = agent.panel.vector.shape[2]
            return [
                lesson_size(width),
                knowledge_size(width),
                knowledge_size(width) + products_size(width),
            ]
        if hasattr(agent, "state") and hasattr(agent.state, "first"):
            first = agent.state.first
            return [int(b - a) for a, b in itertools.pairwise(first)] or [DIM]
        return [DIM]

    def experts(self) -> int:
        """How many numbers of experts an answer has; now and then some others."""
        agent = self._driver.agent
        right = isinstance(agent, mtcool.agents.PrivateAgent) and self._rng.random() < 0.8
        return self._driver.experts_of(1) * DIM if right else self.pick([0, 0, 0, 1, DIM])

    def content(self) -> bytes:
        draw = self._rng.random()
        if draw < 0.5:
            return self.vector().tobytes()
        return self._rng.bytes(int(self.pick([0, 1, 5, 6, 9, 12, 16, 17, 24, 200])))

    def value(self, name: str):
        made = {
            "sender": lambda: 1 if self._rng.random() < 0.7 else self.pick(SENDERS),
            "experts": lambda: np.ones(self.experts()) * self.pick(NUMBERS),
            "number": self.number, "weight": self.number, "stamp": self.number,
            "bound": self.number, "content": self.content,
            "kind": lambda: self.pick([*KINDS, "os:system", ""]),
            "parameters": lambda: [] if self._rng.random() < 0.7 else [self.pick(NUMBERS)] * 2,
        }  # fmt: skip
        return made.get(name, self.vector)()

    def _understood(self) -> list[type]:
        """Kinds of messages that such an agent learns from or answers."""
        kinds = {
            mtcool.agents.FieldAgent: [
                messages.FieldGradient, messages.FieldRequest, messages.FieldRow,
                messages.Announcement,
            ],
            mtcool.agents.PrivateAgent: [messages.Sums, messages.Rows],
            mtcool.agents.SingleTaskAgent: [messages.LossShared],
            PanelAgent: [messages.Lesson, messages.Knowledge],
        }  # fmt: skip
        return kinds.get(type(self._driver.agent), [messages.Gradient, messages.Rows])

    def message(self) -> bytes:
        """A message in bytes."""
        kind = self.pick(KINDS_OF_MESSAGES if self._rng.random() < 0.4 else self._understood())
        values = [self.value(name) for name in kind.__struct_fields__]
        plain = [one.tobytes() if isinstance(one, np.ndarray) else one for one in values]
        if self._rng.random() < 0.1:  # a part of another type, or one too many or too few
            place = self._rng.integers(len(plain) + 1)
            plain[place : place + self._rng.integers(3)] = [
                self.pick([None, "x", b"x", 7, {}, [1]])
            ]
        content = bytes([SCHEMA]) + msgspec.msgpack.encode([kind.__struct_config__.tag, *plain])
        if self._rng.random() < 0.1:
            damaged = bytearray(content)
            for place in self._rng.integers(len(damaged), size=3):
                damaged[place] = self._rng.integers(256)
            content = bytes(damaged)
        return content


def plays_on(driver) -> None:
    """A round of the agent, and what it tells its neighbours: all of it finite."""
    agent, told = driver.agent, {}
    single, field = (
        isinstance(agent, getattr(mtcool.agents, kind))
        for kind in ("SingleTaskAgent", "FieldAgent")
    )
    if not field or not agent.code.in_bits:  # as in live networks
        table = isinstance(driver, TableDriver)
        began = driver.begin(np.zeros(DIM) if table else None)
        assert np.isfinite(began.predict({}).value).all()
        loss = Loss(Quadratic(), np.zeros(DIM)) if single else np.full(DIM, 0.1)
        told = began.learn(1.0 if table else loss)
    for name in driver.neighbours:
        request = messages.FieldRequest(name, 2.0**53) if field else messages.RowRequest(name)
        for message in (None if single else driver.receive(request), told.get(name)):
            if message is not None:
                encode(message)
                values = (getattr(message, part) for part in message.__struct_fields__)
                assert all(
                    np.isfinite(one).all() for one in values if isinstance(one, np.ndarray | float)
                ), message


def asked_by(driver) -> list[object]:
    """Whom such an agent asks, where it takes what was not heard for nothing known."""
    agent = driver.agent
    if isinstance(agent, mtcool.agents.FieldAgent) and agent.code.in_bits:
        return []
    return list(driver.begin(np.zeros(DIM) if isinstance(driver, TableDriver) else None).requests)


def receive(driver, message, fresh: bytes) -> str:
    """Let an agent take a message; returns what comes of it."""
    try:
        driver.receive(message)
    except ValueError as error:
        refusal = str(error)
    else:
        return "accepted"
    assert driver.keep() == fresh, "refused, and has left a trace"
    assert len(refusal) < 2000, "a long refusal"
    return "refused"


def answer(driver, message, fresh: bytes) -> str:
    """Let it be the answer to a request of the agent, in a round that nobody learns from."""
    began = driver.begin(np.full(DIM, 0.5) if isinstance(driver, TableDriver) else None)
    begun = driver.keep()
    request = began.requests[1]
    if isinstance(request, messages.FieldRequest) and isinstance(message, messages.FieldRow):
        # One of another round would be refused for that.
        message = msgspec.structs.replace(message, number=request.number)
    try:
        began.check(1, message)
    except ValueError as error:
        refusal = str(error)
    else:
        assert np.isfinite(began.predict({1: message}).value).all()
        return "answered"
    assert driver.keep() == begun, "refused, and has left a trace"
    assert len(refusal) < 2000, "a long refusal"
    return "refused as an answer"


def attack(name: str, count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Send so many messages to an agent of a kind; counts of outcomes, and what went wrong."""
    rng, outcomes, failures = np.random.default_rng(seed), Counter[str](), list[str]()
    driver, turns = None, itertools.count()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=RuntimeWarning)  # NumPy's, uncompiled
        for k in range(count):
            if driver is None or next(turns) % PERIOD == 0:
                driver = KINDS_OF_AGENTS[name]()
                attacker, asks = Attacker(rng, driver), 1 in asked_by(driver)
                plays_on(driver)
            content = attacker.message()
            try:
                message = decode(content)
            except ValueError:
                outcomes["not understood"] += 1
                continue
            try:
                offer = answer if asks and rng.random() < 0.3 else receive
                outcome = offer(driver, message, driver.keep())
                if outcome in ("accepted", "answered") and k % 3 == 0:
                    plays_on(driver)
            except Exception as error:
                what = f"{type(error).__name__}: {error}"
                failures.append(f"{name}, message {k}: {content[:120]!r}: {what[:300]}")
                driver, outcome = None, "FAILED"
            outcomes[outcome] += 1
    return outcomes, failures


def main() -> int:
    count, seed = (int(word) for word in (*sys.argv[1:], "10000", "0")[:2])
    failed = 0
    for name in KINDS_OF_AGENTS:
        outcomes, failures = attack(name, count, seed)
        print(f"{name:20}", dict(sorted(outcomes.items())), flush=True)
        for failure in failures[:5]:
            print(failure)
        failed += len(failures)
    print(f"{failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
