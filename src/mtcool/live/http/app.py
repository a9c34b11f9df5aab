"""The endpoints of a node: predict, learn, update, status, metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

import mtcool
from mtcool.graphs.labels import label_of, plain_name
from mtcool.live.agents import told_feedback
from mtcool.live.config import Description
from mtcool.live.http.metrics import metrics_of
from mtcool.live.node import Node
from mtcool.live.refusals import Refusal, Stopped
from mtcool.live.reloading import reload_node
from mtcool.live.wanted import WANTED, shortened, what_is_wrong
from mtcool.types import Label, Name, Plain

Numbers = list[float | None] | dict[str, float | None]
"""Features in their order or by name; null where one is missing."""


ROUND = "The round of an earlier prediction, if it is not the last one of the agent."


class AgentRequest(BaseModel):
    """Something about an agent of this node."""

    model_config = ConfigDict(extra="forbid", strict=True)
    agent: int | str | list[Any] = Field(description="Name of an agent that lives on this node.")


class ToPredict(AgentRequest):
    """What to predict."""

    features: Numbers | None = Field(None, description="None for a point instead of a number.")
    timeout: Annotated[float, Field(gt=0, le=5)] | None = Field(
        None, description="Seconds to wait for neighbours, at most 5."
    )


class ToLearn(AgentRequest):
    """What to learn from."""

    features: Numbers | None = Field(None, description="May be left out if a round is named.")
    target: float
    round: int | None = Field(None, description=ROUND)


class LossBody(BaseModel):
    """A loss: its kind, and the numbers of its round."""

    model_config = ConfigDict(extra="forbid", strict=True)
    kind: str
    row: list[float]
    parameters: list[float] = []


class ToUpdate(AgentRequest):
    """The gradient at the last prediction of an agent, or the loss of it."""

    gradient: list[float] | None = None
    loss: LossBody | None = None
    round: int | None = Field(None, description=ROUND)


class PredictReply(BaseModel):
    """A prediction, and how much of it is old."""

    value: float | list[float]
    alone: float | None = Field(description="What the agent would predict without neighbours.")
    old: list[Any] = Field(description="Neighbours whose last known rows were used.")
    missing: list[Any] = Field(description="Neighbours of which nothing is known.")
    round: int = Field(description="Its number, by which /learn and /update may name it.")


class LearnReply(BaseModel):
    """It survives a crash."""

    durable: bool = True
    activations: int = Field(
        description="Rounds that the agent has ever learned from, this one among them."
    )


class Reloaded(BaseModel):
    """What the host has, now that it has read its file again."""

    agents: list[Any]
    revision: int
    release: str


class Well(BaseModel):
    """Whether all is as it should be; `/status` says why not."""

    ok: bool


class Problem(BaseModel):
    """Why something was not done, in a sentence."""

    error: str


BODIES: dict[str, type[BaseModel]] = {
    "/predict": ToPredict,
    "/learn": ToLearn,
    "/update": ToUpdate,
}
IN_TIME = WANTED | {"timeout": "a number of seconds above 0 and at most 5"}
UNREADABLE = (
    "body must be JSON in UTF-8, without deep nesting and endless numbers, got one that cannot be "
    "read"
)

PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The request is not understood or not allowed."},
    404: {"model": Problem, "description": "The agent does not live here."},
    409: {"model": Problem, "description": "Not possible now, for a reason that may pass."},
    503: {
        "model": Problem,
        "description": "The disk takes nothing, or the memory of this host, or of a neighbour's, "
        "must be mended first.",
    },
}


def http_app(node: Node, read: Callable[[], Description] | None = None) -> FastAPI:
    """The app of a node that is open; `serving` lets others call it.

    Parameters
    ----------
    node
        An open node; the app asks it and no other.
    read
        Reads the description of the network again, for `POST /reload`.

    Examples
    --------
    >>> from mtcool.live import described
    >>> node = Node(described({"name": "demo", "graph": {"kind": "ring", "agents": 4},
    ...     "learn": {"features": ["x"]}, "shards": {"count": 1}}))
    >>> sorted(http_app(node).openapi()["paths"])
    ['/health', '/learn', '/metrics', '/predict', '/ready', '/reload', '/status', '/update']
    """
    app = FastAPI(
        title="mtcool",
        version=mtcool.__version__,
        summary=f"Agents of host {node.name} in network {node.network.file.name}",
        docs_url=None,  # its pages load scripts from elsewhere
        redoc_url=None,
    )

    def here(name: Name) -> Label:
        agent = label_of(plain_name(name, "called"))
        if agent not in node.host.drivers:
            raise HTTPException(404, f"agent must live on host {node.name!r}, got {agent!r}")
        return node.host.named(name)

    @app.post("/predict", responses=PROBLEMS)
    async def predict(asked: ToPredict) -> PredictReply:
        """Predict with what the neighbours know."""
        said = await node.predict(here(asked.agent), asked.features, timeout=asked.timeout)
        value = list(said.value) if isinstance(said.value, tuple) else said.value
        old, missing = (
            [plain_name(name, "sent") for name in of] for of in (said.old, said.missing)
        )
        return PredictReply(
            value=value, alone=said.alone, old=old, missing=missing, round=said.round
        )

    @app.post("/learn", responses=PROBLEMS)
    async def learn(asked: ToLearn) -> LearnReply:
        """Learn from a row and its target; answers when that survives a crash."""
        agent = here(asked.agent)
        await node.learn(agent, asked.features, asked.target, round=asked.round)
        return LearnReply(activations=node.host.learned[agent])

    @app.post("/update", responses=PROBLEMS)
    async def update(asked: ToUpdate) -> LearnReply:
        """Learn from the gradient, or the loss, of the last prediction; answers when durable."""
        agent = here(asked.agent)
        feedback = told_feedback(asked.gradient, asked.loss)
        await node.update(agent, feedback, round=asked.round)
        return LearnReply(activations=node.host.learned[agent])

    @app.get("/status")
    async def status() -> dict[str, Any]:
        """What the node is doing: its agents, its links, what it has counted."""
        return node.status()

    @app.post("/reload", responses=PROBLEMS)
    async def reload() -> Reloaded:
        """Read the network file of this host again; an unchanged file changes nothing."""
        return Reloaded(**await reload_node(node, read))

    @app.get("/health", responses={503: {"model": Well}})
    async def health(response: Response) -> Well:
        """Whether the process works: it answers, and its database is open."""
        return _well(response, node.closed is None)

    @app.get("/ready", responses={503: {"model": Well}})
    async def ready(response: Response) -> Well:
        """Whether it can be given work, too: no agent waits for a memory to be mended."""
        host = node.host
        stopped = any(host.stopped_by(agent) is not None for agent in host.drivers)
        return _well(response, node.closed is None and not stopped)

    @app.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> PlainTextResponse:
        """The counts of the node, for Prometheus."""
        return PlainTextResponse(metrics_of(node), media_type=CONTENT_TYPE_LATEST)

    _say_what_is_wrong(app)
    return app


def _sentence(path: str, body: Plain, wrong: dict[str, Any]) -> str:
    """What is wrong with a request, from the first error that was found."""
    word = wrong["loc"][1] if len(wrong["loc"]) > 1 else None
    if word is None or not isinstance(body, dict):
        return f"body must be an object, got {shortened(body)}"
    return what_is_wrong(str(word), BODIES[path].model_fields, body, IN_TIME)


def _well(response: Response, ok: bool) -> Well:
    response.status_code = 200 if ok else 503
    return Well(ok=ok)


def _say_what_is_wrong(app: FastAPI) -> None:
    """Every error is a sentence, and a status that says whose fault it is."""

    def answer(status: int, reason: str) -> JSONResponse:
        return JSONResponse({"error": reason}, status)

    @app.exception_handler(HTTPException)
    async def known(request: Request, error: HTTPException) -> JSONResponse:
        if error.status_code == 400:  # FastAPI could not read the body, and does not say why
            return answer(400, UNREADABLE)
        return answer(error.status_code, str(error.detail))

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        kind = request.headers.get("content-type", "nothing")
        if request.method == "POST" and kind.partition(";")[0].strip() != "application/json":
            return answer(400, f"Content-Type must be application/json, got {kind}")
        if first["type"] == "json_invalid":
            return answer(400, f"body must be JSON, got an error at character {first['loc'][-1]}")
        return answer(400, _sentence(request.url.path, error.body, first))

    @app.exception_handler(Refusal)
    async def not_now(request: Request, error: Refusal) -> JSONResponse:
        return answer(409, str(error))

    @app.exception_handler(Stopped)
    async def stopped(request: Request, error: Stopped) -> JSONResponse:
        return answer(503, str(error))

    @app.exception_handler(ValueError)
    async def wrong(request: Request, error: ValueError) -> JSONResponse:
        return answer(400, str(error))

    @app.exception_handler(OSError)
    async def broken(request: Request, error: OSError) -> JSONResponse:
        return answer(503, str(error))

    made = app.openapi

    def schema() -> dict[str, Any]:
        """FastAPI promises an error 422 of its own form everywhere, and it is never given."""
        found = made()
        for methods in found["paths"].values():
            for operation in methods.values():
                operation["responses"].pop("422", None)
        for name in ("HTTPValidationError", "ValidationError"):
            found["components"]["schemas"].pop(name, None)
        return found

    app.openapi = schema  # type: ignore[method-assign]  # as FastAPI's guide says
