"""Requests as JSON lines: one request on a line, one reply on a line, for programs in any language.

`docs/live.md` has the protocol. Many requests may be under way; those to one agent are done in the
order in which they came.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias

import msgspec

from mtcool.graphs.labels import plain_name
from mtcool.live.agents import Prediction, told_feedback
from mtcool.live.config import Description
from mtcool.live.host import NO_NEIGHBOURS
from mtcool.live.logs import LOG
from mtcool.live.node import Node
from mtcool.live.offset import checked_offset
from mtcool.live.refusals import Refusal
from mtcool.live.reloading import reload_node
from mtcool.live.wanted import shortened, what_is_wrong
from mtcool.types import Label, Plain

LONGEST = 1 << 20
"""Bytes of a line."""
TOO_LONG = b'{"error":"line must be at most %d bytes"}\n' % LONGEST
UNDER_WAY = 1024
"""Requests of one program at a time; more are read when these are answered."""


OfAgents: TypeAlias = Literal["predict", "learn", "round", "update"]
OfTheNode: TypeAlias = Literal["delivered", "status", "reload", "rewind", "cut", "heal", "stop"]


class LossLine(msgspec.Struct, forbid_unknown_fields=True):
    """A loss: its kind, and the numbers of its round."""

    kind: str
    row: list[float]
    parameters: list[float] = []


class Request(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """One line."""

    do: OfAgents | OfTheNode
    id: Plain = None
    agent: Plain = None
    host: str | None = None
    features: list[float | None] | dict[str, float | None] | None = None
    target: float | None = None
    gradient: list[float] | None = None
    loss: LossLine | None = None
    round: int | None = None
    offset: tuple[int, int] | None = None
    timeout: float | None = None


WORDS = Request.__struct_fields__


class ReplyWriter(Protocol):
    """Where replies go."""

    def write(self, content: bytes) -> None:
        """Write soon."""

    async def drain(self) -> None:
        """Wait until there is room for more."""


class Lines:
    """Answers lines for a node.

    Parameters
    ----------
    node
        An open node.
    again
        Reads the description of the network again, for requests to reload.

    Examples
    --------
    >>> import asyncio, tempfile
    >>> from mtcool.live.config import described
    >>> async def play(folder):
    ...     network = described({"name": "demo", "graph": {"kind": "ring", "agents": 4},
    ...         "learn": {"features": ["x"]}, "shards": {"count": 1}}, folder)
    ...     async with Node(network) as node:
    ...         return await Lines(node).answer(b'{"id": 1, "do": "predict", "agent": 9}')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asyncio.run(play(folder))
    b'{"id":1,"error":"agent must live on host \\'host0\\', got 9"}\\n'
    """

    def __init__(self, node: Node, again: Callable[[], Description] | None = None) -> None:
        self.node, self._again = node, again
        self.stopped = asyncio.Event()
        """Is set when a program has asked to stop."""
        self._turns: dict[Label, asyncio.Lock] = {}
        self._decoder = msgspec.json.Decoder(Request)

    async def serve(self, reader: asyncio.StreamReader, writer: ReplyWriter) -> None:
        """Answer all lines of one program until it ends; what is under way ends with it."""
        room = asyncio.Semaphore(UNDER_WAY)

        async def reply(line: bytes | None) -> None:
            try:
                writer.write(TOO_LONG if line is None else await self.answer(line))
            finally:
                room.release()

        try:
            async with asyncio.TaskGroup() as under_way:
                while (line := await _next_line(reader)) != b"":
                    if line is None or not line.isspace():
                        await room.acquire()
                        under_way.create_task(reply(line))
                        await writer.drain()
            await writer.drain()
        except ExceptionGroup as group:
            raise group.exceptions[0] from None

    async def answer(self, line: bytes) -> bytes:
        """The reply to one line; what is refused is told in a sentence."""
        told: dict[str, Plain] = {}
        try:
            request = self._decoder.decode(line)
            told["id"] = request.id
            told |= await self._do(request)
        except (Refusal, OSError) as error:
            told |= {"error": _sentence(error), "again": True}
        except (msgspec.DecodeError, RecursionError) as error:
            told |= _refused(line, error)
        except (ValueError, TypeError, OverflowError) as error:
            told["error"] = _sentence(error)
        except Exception as error:  # a mistake of ours: whoever asks waits for a reply
            LOG.exception("line", extra={"host": self.node.name})
            told["error"] = f"{type(error).__name__}: {_sentence(error)}"
        return _encoded(told)

    async def _do(self, request: Request) -> dict[str, Plain]:
        node = self.node
        match request.do:
            case "status":
                return {"status": node.status()}
            case "delivered":
                return {"delivered": await node.delivered(_given(request.timeout, 10.0))}
            case "reload":
                return await reload_node(node, self._again)
            case "rewind":
                await node.rewind()
                return {"rewound": True}
            case "cut" | "heal":
                if request.host not in node.host.links:
                    raise ValueError(f"{NO_NEIGHBOURS}, got {request.host!r}")
                change = node.cut.add if request.do == "cut" else node.cut.discard
                change(request.host)
                return {"cut": sorted(node.cut)}
            case "stop":
                self.stopped.set()
                return {"stopped": True}
        if request.agent is None:
            raise ValueError("agent must be given")
        try:
            agent = node.host.named(request.agent)
        except TypeError:  # it can be nobody's name
            raise ValueError(what_is_wrong("agent", WORDS, {"agent": request.agent})) from None
        async with self._turns.setdefault(agent, asyncio.Lock()):
            match request.do:
                case "predict":
                    said = await node.predict(agent, request.features, timeout=request.timeout)
                    return _told(said)
                case "learn":
                    target = _wanted("target", request.target)
                    await node.learn(
                        agent, request.features, target, round=request.round, offset=request.offset
                    )
                    return {"activations": node.host.learned[agent]}
                case "update":
                    feedback = told_feedback(request.gradient, request.loss)
                    await node.update(agent, feedback, round=request.round, offset=request.offset)
                    return {"activations": node.host.learned[agent]}
                case _:
                    return await self._round(agent, request)

    async def _round(self, agent: Label, request: Request) -> dict[str, Plain]:
        """Predict, then learn from what the request brings along."""
        if (request.target is None) == (request.loss is None):
            raise ValueError("a round must have one of target and loss")
        offset = None if request.offset is None else checked_offset(request.offset)
        self.node.host.check_may_learn(agent, offset)  # asked again and again, journals would grow
        said = await self.node.predict(agent, request.features, timeout=request.timeout)
        if request.loss is None:  # not by its round, which may be over since the graph has changed
            target = _wanted("target", request.target)
            await self.node.learn(agent, request.features, target, offset=offset)
        else:
            feedback = told_feedback(request.gradient, request.loss)
            await self.node.update(agent, feedback, offset=offset)
        return _told(said) | {"activations": self.node.host.learned[agent]}


async def _next_line(reader: asyncio.StreamReader) -> bytes | None:
    """The next line, None for one that is too long and thrown away, nothing at the end."""
    whole = True
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            line = error.partial
        except asyncio.LimitOverrunError as error:
            whole = False
            await reader.readexactly(error.consumed)
            continue
        return line if whole else None


def ready_line(node: Node) -> bytes:
    """The first line that a node writes: it answers from now on."""
    told = {"ready": True, "host": node.name, "network": node.network.file.name}
    return _encoded(told | {"agents": [plain_name(name, "told") for name in node.host.drivers]})


def _told(said: Prediction) -> dict[str, Plain]:
    return {
        "value": said.value,
        "alone": said.alone,
        "old": [plain_name(name, "told") for name in said.old],
        "missing": [plain_name(name, "told") for name in said.missing],
        "round": said.round,
    }


def _wanted(name: str, value: float | None) -> float:
    if value is None:
        raise ValueError(f"{name} must be given")
    return value


def _given(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


def _refused(line: bytes, error: Exception) -> dict[str, Plain]:
    """The reply to a line that is no request: what it calls itself, if it says so, and why."""
    try:
        body = msgspec.json.decode(line)
    except (ValueError, RecursionError):
        return {"id": None, "error": f"line must be a request in JSON: {_sentence(error)}"}
    if not isinstance(body, dict):
        return {"id": None, "error": f"line must be a request in JSON, got {shortened(body)}"}
    return {"id": body.get("id"), "error": what_is_wrong(_wrong_word(body), WORDS, body)}


def _wrong_word(body: dict[str, Plain]) -> str:
    """The first word of a request that cannot be read, or the one that each must have."""
    for word, value in body.items():
        if word not in WORDS:
            return word
        try:
            msgspec.convert({"do": "status", word: value}, Request)
        except (ValueError, RecursionError):
            return word
    return "do"


def _sentence(error: Exception) -> str:
    """An error on one line."""
    return " ".join(str(error).split()) or type(error).__name__


def _encoded(told: dict[str, Plain]) -> bytes:
    return msgspec.json.encode(told) + b"\n"
