"""The tables of an experiment file.

An experiment is TOML: a graph, tasks, a stream and algorithms make a *point*; sweeps vary any of
their parameters, by path, and multiply. Every point is repeated on independent replicates.
"""

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

from mtcool.config import schema
from mtcool.types import Plain

ROUNDS = 150_000  # as in the paper, unless the file says otherwise

PARAMETERS = ("parameters", "learner_parameters", "aggregator_parameters")
"""Keys of an algorithm that are tables of their own, for what the file names."""
FIELD = ("messages", "delays")
"""Keys that a point has for all of its algorithms, and an algorithm for itself."""


TRAFFIC = ("bytes", "messages")
"""Axes of figures: what a round costs on average."""
MEASURED = ("time", "sigma", *TRAFFIC)
"""Axes of figures that no sweep is needed for."""


class Still(schema.Part, frozen=True, tag="still"):
    """A graph that does not change."""


class Blinking(schema.Part, frozen=True, tag="blinking"):
    """In each round an edge vanishes with one probability, and appears again with another."""

    vanish: schema.Probability
    appear: schema.Probability


class Moving(schema.Part, frozen=True, tag="moving"):
    """Agents that move about, with edges to those within reach; of the graph only their number."""

    radius: schema.Positive
    speed: schema.Positive
    pause: schema.NonNegative = 0.0
    every: schema.Count = 1


class Churn(schema.Part, frozen=True, tag="churn"):
    """Agents that come and go; without `arrivals` as many come, on average, as go at the start."""

    departures: schema.NonNegative
    neighbours: schema.Count
    arrivals: schema.NonNegative | None = None


class ChangesFile(schema.Part, frozen=True, tag="file"):
    """Changes from a file, as `mtcool.changes.read_changes` reads it."""

    path: str


Network: TypeAlias = Still | Blinking | Moving | Churn | ChangesFile


class Gaussian(schema.Part, frozen=True, tag="gaussian"):
    """Tasks U ~ N(0, (I + smoothness L)^-1), as in the paper; infinite smoothness is allowed."""

    dim: schema.Count = 1
    smoothness: schema.NonNegative = 6.0


class Variance(schema.Part, frozen=True, tag="variance"):
    """Tasks whose mean local deviation is `sigma`; where it is large, some leave the unit ball."""

    sigma: schema.NonNegative
    dim: schema.Count = 1


class Groups(schema.Part, frozen=True, tag="groups"):
    """Tasks of two hidden groups at distance `gap`, `spread` around a common point of this norm."""

    gap: schema.NonNegative
    spread: schema.NonNegative = 0.0
    centre: schema.NonNegative = 0.0
    dim: schema.Count = 1


Tasks: TypeAlias = Gaussian | Variance | Groups


class Stochastic(schema.Part, frozen=True, tag="stochastic"):
    """Independent activations; q_i is proportional to (i + 1)^-skew."""

    skew: schema.NonNegative = 0.0


class RoundRobin(schema.Part, frozen=True, tag="round_robin"):
    """Agents take turns."""


class Bursts(schema.Part, frozen=True, tag="bursts"):
    """One agent stays active for `length` rounds, then another."""

    length: schema.Count


Activations: TypeAlias = Stochastic | RoundRobin | Bursts


class StreamSpec(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Losses and activations. `drift` is for linear losses, `noise` for all others.

    `loss` is the name of a kind in `mtcool.streams`, or "module:Class" for one from outside, whose
    rows are made as for the loss that `data` names. `parameters` are those of the kind.
    """

    loss: str = "quadratic"
    parameters: dict[str, Any] = {}
    data: Literal["quadratic", "squared", "logistic", "hinge"] | None = None
    comparator: Literal["tasks", "hindsight"] | None = None
    """What regret is measured against; linear losses have no tasks, others have unless told."""
    noise: schema.NonNegative = 0.01
    drift: schema.NonNegative = 0.0
    activations: Activations = Stochastic()


class PrivacySpec(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Privacy levels of the agents, for all private algorithms of the point.

    Without `horizon` the most activations of an agent in the replicate's stream are planned for.
    `strict_agents` agents, chosen at random, have the level `strict_epsilon`.
    """

    epsilon: schema.Positive = 1.0
    delta: schema.Between = 1e-6
    horizon: schema.Count | None = None
    strict_agents: schema.Whole = 0
    strict_epsilon: schema.Positive | None = None


class Point(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All that a replicate needs besides its seed."""

    rounds: schema.Count = ROUNDS
    graph: schema.Graph = schema.ErdosRenyi()
    tasks: Tasks = Gaussian()
    stream: StreamSpec = StreamSpec()
    network: Network | None = None
    """How the graph changes, if it does."""
    messages: schema.MessagesSpec | None = None
    delays: schema.DelaysSpec | None = None
    privacy: PrivacySpec | None = None
    """Of points with a private algorithm."""
    algorithm: Annotated[list[schema.AlgorithmSpec], Meta(min_length=1)]


class Sweep(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Values of one parameter, named by its path: "tasks.smoothness", "graph.p", "rounds".

    "algorithm.lipschitz" sets all algorithms, "algorithm.NAME.lipschitz" the one of that name;
    "graph" takes whole tables. `labels` name the values in tables and figures, `title` the
    parameter.
    """

    parameter: Annotated[str, Meta(min_length=1)]
    values: Annotated[list[Any], Meta(min_length=1)]
    labels: list[str] | None = None
    title: str | None = None


class Figure(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A picture of the regret: against "time", "sigma" (measured), or a swept parameter.

    Against "bytes" or "messages", those of a round, it has a mark for every algorithm and point.
    `panels` is a swept parameter with a panel for each of its values; `at` fixes others; `among`
    names the algorithms to show, all of them if not given.
    """

    x: Annotated[str, Meta(min_length=1)]
    panels: str | None = None
    at: dict[str, Any] = {}
    among: list[str] = []
    title: str | None = None


class Claim(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What somebody says: where `at` holds, `best` has the least regret `among` these.

    `source` says who it is, if not the author of the file: "the paper, Figure 2".
    """

    text: Annotated[str, Meta(min_length=1)]
    source: str = ""
    best: Annotated[str, Meta(min_length=1)]
    at: dict[str, Any] = {}
    among: list[str] = []


class Head(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The keys of the file that say what to do with the points."""

    name: Annotated[str, Meta(pattern=r"^(?!cells$)[a-z0-9][a-z0-9-]*$")]
    title: str = ""
    question: str = ""
    paper: str = ""
    replicates: schema.Count = 48
    seed: schema.Whole = 0
    sweep: list[Sweep] = []
    figure: list[Figure] = []
    claim: list[Claim] = []


class Experiment(Struct, frozen=True, kw_only=True):
    """A checked experiment: its head, and its points in the order of the sweeps."""

    head: Head
    points: list[Point]
    values: list[dict[str, str]]
    """For every point, the label of each swept parameter."""


def label(value: Plain) -> str:
    """How tables and figures show a value.

    Examples
    --------
    >>> label(1e10), label(4), label("delegation")
    ('1e+10', '4', 'delegation')
    """
    short = f"{value:g}" if isinstance(value, float) else str(value)
    return repr(value) if isinstance(value, float) and float(short) != value else short


def algorithm_parameter(parameter: str) -> tuple[str, str] | None:
    """The name of the algorithm, or "" for all of them, and the key; None for other parameters.

    Examples
    --------
    >>> algorithm_parameter("algorithm.MT (L = 0.5).radius")
    ('MT (L = 0.5)', 'radius')
    >>> algorithm_parameter("algorithm.radius")
    ('', 'radius')
    >>> algorithm_parameter("algorithm.mine.learner_parameters.step")
    ('mine', 'learner_parameters.step')
    >>> algorithm_parameter("algorithm.mine.delays.rows.mean")
    ('mine', 'delays.rows.mean')
    """
    table, _, path = parameter.partition(".")
    if table != "algorithm":
        return None
    for inner in (*PARAMETERS, *FIELD):
        name, found, key = f".{path}".rpartition(f".{inner}.")
        if found:
            return name.removeprefix("."), f"{inner}.{key}"
    name, _, key = path.rpartition(".")
    return name, key
