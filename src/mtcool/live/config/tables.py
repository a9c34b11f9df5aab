"""The tables of a network file: who learns what, who talks to whom, and which host is where."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

from mtcool.config import schema
from mtcool.live.transport.transport import LONGEST_WAIT

Port: TypeAlias = Annotated[int, Meta(ge=1, le=65535)]
Agent: TypeAlias = str | int
Wait: TypeAlias = Annotated[float, Meta(gt=0, le=LONGEST_WAIT)]
NotNegative: TypeAlias = Annotated[float, Meta(ge=0)]


class EdgesTable(schema.Part, frozen=True, tag="edges"):
    """A graph that is written out; agents without neighbours are named in `agents`."""

    edges: tuple[tuple[Agent, Agent], ...] = ()
    agents: tuple[Agent, ...] = ()


class BirthsGraph(schema.Part, frozen=True, tag="births"):
    """The graph of the built-in stream of births."""


class FlightsGraph(schema.Part, frozen=True, tag="flights"):
    """The graph of the built-in stream of flights."""


class SchoolsGraph(schema.Part, frozen=True, tag="schools"):
    """The graph of the built-in stream of schools."""


BuiltInGraph: TypeAlias = BirthsGraph | FlightsGraph | SchoolsGraph
Graph: TypeAlias = (
    EdgesTable
    | BuiltInGraph
    | schema.ErdosRenyi
    | schema.Regular
    | schema.Ring
    | schema.CliquesGraph
    | schema.Stars
    | schema.Grid
    | schema.GraphFile
)


class Learn(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The learner for tables, `mtcool.learn`: there is nothing to tune."""

    features: Annotated[list[str], Meta(min_length=1)]
    """Names of the features, all of them numbers, in the order of plain lists."""
    task: Literal["regression", "classification"] = "regression"
    share: Literal["gradients", "rows"] = "gradients"


class AlgorithmTable(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An algorithm that learns from gradients, as in experiment files.

    With `loss`, agents may be given features and targets; they predict <x, features>.
    """

    dim: schema.Count
    algorithm: str = "mt_co2ol"
    loss: Literal["squared", "absolute", "logistic", "hinge"] | None = None
    learner: str | None = None
    learner_parameters: dict[str, Any] = {}
    experts: Literal["paper", "geometric"] | Annotated[list[float], Meta(min_length=1)] = "paper"
    weights: Literal["uniform", "delegation"] = "uniform"
    rates: Literal["adversarial", "adaptive"] = "adversarial"
    lipschitz: schema.Positive | Literal["adaptive"] = 1.0
    radius: schema.Positive = 1.0
    aggregator: str | None = None
    aggregator_parameters: dict[str, Any] = {}
    law: Literal["laplace", "gaussian"] | None = None


class PrivacyTable(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The level of every agent of a private network, and how many activations each may have."""

    epsilon: schema.Positive
    horizon: schema.Count
    delta: schema.Between = 1e-6
    noise: Literal["exact", "simulated"] = "exact"


class HostTable(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A process with some agents."""

    agents: Annotated[list[Agent], Meta(min_length=1)]
    listen: str
    """Where it listens: "127.0.0.1:7447"."""
    address: str | None = None
    """What others call it, if that differs from `listen`: "rome.example.org:7447"."""
    http: str | None = None
    """Where its HTTP endpoint listens, if it has one: "127.0.0.1:8000"."""


class Shards(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Instead of hosts: so many processes on this machine, with equal shares of the agents."""

    count: schema.Count
    port: Port = 17447
    """Of the first; the others follow."""
    http: Port | None = None
    """Of the first's HTTP endpoint; the others follow. None for no endpoints."""


class Synthetic(schema.Part, frozen=True, tag="synthetic"):
    """Random features and tasks that are alike for neighbours."""

    rounds: schema.Count = 10_000
    noise: NotNegative = 0.1
    smoothness: NotNegative = 4.0
    """How alike the tasks of neighbours are."""
    seed: schema.Whole = 0


class Births(schema.Part, frozen=True, tag="births"):
    """Births in 48 states of the USA, day by day."""


class Flights(schema.Part, frozen=True, tag="flights"):
    """Minutes made up in the air by flights from New York."""


class Schools(schema.Part, frozen=True, tag="schools"):
    """Scores of pupils in 160 schools."""


class Csv(schema.Part, frozen=True, tag="csv"):
    """A CSV file with a header; its features are the columns that `learn.features` names."""

    path: str = "-"
    """Relative to the network file; "-" for standard input."""
    agent: str = "agent"
    target: str = "target"


class JsonLinesTable(schema.Part, frozen=True, tag="lines"):
    """A file with a row on each line: {"agent": ..., "features": ..., "target": ...}."""

    path: str = "-"
    """Relative to the network file; "-" for standard input."""


Stream: TypeAlias = Synthetic | Births | Flights | Schools | Csv | JsonLinesTable


class Timing(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How long hosts wait, in seconds."""

    rows: Wait = 0.5
    """A prediction for the rows of neighbours; at most five."""
    delivery: Wait = 2.0
    """A batch of gradients for its acknowledgement; at most five."""
    lease: schema.Positive = 5.0
    """A silent connection before it is given up."""
    heartbeat: schema.Positive = 1.0
    """After which a host that has not been heard of is asked whether it is there."""


class LimitsTable(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a host takes from another at most."""

    outbox: schema.Count = 100_000
    """Messages that wait for one host; beyond it agents with neighbours there stop learning."""
    message: schema.Count | None = None
    """Bytes of one question or reply. None for a mebibyte, or more where the network needs it."""
    rate: schema.Count = 50_000
    """Messages of one host in a second: questions, and what they tell. More waits."""
    bytes: schema.Count = 1 << 26
    """Bytes of one host in a second. More waits."""
    refused: schema.Count = 1000
    """Messages of one host that may be refused in a minute; then it is not heard for another."""


class Security(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Who gets in."""

    certificates: str = "certs"
    """The folder that `mtcool certs` fills."""
    token: str | None = None
    """File, of mode 0600, with what callers over HTTP must know; needed beyond loopback."""
    tls: bool = True
    """Without it, anybody who reaches a port is believed: for experiments on one machine."""


class NetworkFile(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A network file."""

    name: str
    graph: Graph
    learn: Learn | None = None
    algorithm: AlgorithmTable | None = None
    privacy: PrivacyTable | None = None
    hosts: dict[str, HostTable] = {}
    shards: Shards | None = None
    timing: Timing = Timing()
    limits: LimitsTable = LimitsTable()
    security: Security = Security()
    stream: Stream | None = None
    """What `mtcool up` feeds it."""
    state: str = "state"
    """The folder of the hosts' databases."""
    journal: bool = False
    """Whether hosts write down what happens, for `mtcool replay`."""
    publish_losses: bool | None = None
    """Whether status, metrics and page have losses; None for yes unless agents are private."""
    revision: schema.Whole = 0
    """To be raised whenever the graph of a running network changes."""
    seed: schema.Whole = 0
    """Of random graphs."""
