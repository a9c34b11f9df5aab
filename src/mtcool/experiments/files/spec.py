"""The tables of an experiment file.

An experiment is TOML: a graph, tasks, a stream and algorithms make a *point*; sweeps vary any of
their parameters, by path, and multiply. Every point is repeated on independent replicates.
"""

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

from mtcool.types import Plain

ROUNDS = 150_000  # as in the paper, unless the file says otherwise

Count: TypeAlias = Annotated[int, Meta(ge=1)]
Whole: TypeAlias = Annotated[int, Meta(ge=0)]
Positive: TypeAlias = Annotated[float, Meta(gt=0)]
NonNegative: TypeAlias = Annotated[float, Meta(ge=0)]
Probability: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Between: TypeAlias = Annotated[float, Meta(gt=0, lt=1)]
BelowOne: TypeAlias = Annotated[float, Meta(ge=0, lt=1)]
Share: TypeAlias = Annotated[float, Meta(gt=0, le=1)]
Bits: TypeAlias = Annotated[int, Meta(ge=1, le=52)]
Sizes: TypeAlias = Annotated[list[Count], Meta(min_length=1)]

PARAMETERS = ("parameters", "learner_parameters", "aggregator_parameters")
"""Keys of an algorithm that are tables of their own, for what the file names."""
FIELD = ("messages", "delays")
"""Keys that a point has for all of its algorithms, and an algorithm for itself."""


TRAFFIC = ("bytes", "messages")
"""Axes of figures: what a round costs on average."""
MEASURED = ("time", "sigma", *TRAFFIC)
"""Axes of figures that no sweep is needed for."""


class Part(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="kind"):
    """A table of the file; an unknown key is refused."""


class ErdosRenyi(Part, frozen=True, tag="erdos_renyi"):
    """Every edge independently with probability `p`."""

    agents: Count = 30
    p: Probability = 0.9


class Regular(Part, frozen=True, tag="regular"):
    """A random graph where every agent has `degree` neighbours."""

    agents: Count
    degree: Whole


class Ring(Part, frozen=True, tag="ring"):
    """A ring where every agent has the `reach` nearest neighbours on both sides."""

    agents: Count
    reach: Count = 1


class Cliques(Part, frozen=True, tag="cliques"):
    """A disjoint union of cliques of these sizes."""

    sizes: Sizes


class Stars(Part, frozen=True, tag="stars"):
    """A disjoint union of stars of these sizes."""

    sizes: Sizes


class Grid(Part, frozen=True, tag="grid"):
    """A rectangular grid."""

    rows: Count
    columns: Count


class GraphFile(Part, frozen=True, tag="file"):
    """A graph from a file, as `mtcool.graphs.read_graph` reads it; the suffix says how."""

    path: str


Graph: TypeAlias = ErdosRenyi | Regular | Ring | Cliques | Stars | Grid | GraphFile


class Still(Part, frozen=True, tag="still"):
    """A graph that does not change."""


class Blinking(Part, frozen=True, tag="blinking"):
    """In each round an edge vanishes with one probability, and appears again with another."""

    vanish: Probability
    appear: Probability


class Moving(Part, frozen=True, tag="moving"):
    """Agents that move about, with edges to those within reach; of the graph only their number."""

    radius: Positive
    speed: Positive
    pause: NonNegative = 0.0
    every: Count = 1


class Churn(Part, frozen=True, tag="churn"):
    """Agents that come and go; without `arrivals` as many come, on average, as go at the start."""

    departures: NonNegative
    neighbours: Count
    arrivals: NonNegative | None = None


class ChangesFile(Part, frozen=True, tag="file"):
    """Changes from a file, as `mtcool.changes.read_changes` reads it."""

    path: str


Network: TypeAlias = Still | Blinking | Moving | Churn | ChangesFile


class Messages(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The fields of `mtcool.Messages`, as far as they are given; partners may be "all"."""

    every: Count | None = None
    probability: Share | None = None
    partners: Count | Literal["all"] | None = None
    choose: Literal["random", "best"] | None = None
    budget: Count | None = None
    budget_bytes: Count | None = None
    bits: Bits | None = None
    coordinates: Count | None = None
    """Refused by `mtcool.Messages`, which says what to use instead."""


class Delay(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The fields of `mtcool.Delay` but for single edges."""

    constant: NonNegative = 0.0
    mean: NonNegative = 0.0
    bandwidth: Positive | None = None


class Delays(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The fields of `mtcool.Delays`, as far as they are given."""

    gradients: NonNegative | Delay | None = None
    rows: NonNegative | Delay | None = None
    labels: NonNegative | Delay | None = None
    lost: BelowOne | None = None


class Gaussian(Part, frozen=True, tag="gaussian"):
    """Tasks U ~ N(0, (I + smoothness L)^-1), as in the paper; infinite smoothness is allowed."""

    dim: Count = 1
    smoothness: NonNegative = 6.0


class Variance(Part, frozen=True, tag="variance"):
    """Tasks whose mean local deviation is `sigma`; where it is large, some leave the unit ball."""

    sigma: NonNegative
    dim: Count = 1


class Groups(Part, frozen=True, tag="groups"):
    """Tasks of two hidden groups at distance `gap`, `spread` around a common point of this norm."""

    gap: NonNegative
    spread: NonNegative = 0.0
    centre: NonNegative = 0.0
    dim: Count = 1


Tasks: TypeAlias = Gaussian | Variance | Groups


class Stochastic(Part, frozen=True, tag="stochastic"):
    """Independent activations; q_i is proportional to (i + 1)^-skew."""

    skew: NonNegative = 0.0


class RoundRobin(Part, frozen=True, tag="round_robin"):
    """Agents take turns."""


class Bursts(Part, frozen=True, tag="bursts"):
    """One agent stays active for `length` rounds, then another."""

    length: Count


Activations: TypeAlias = Stochastic | RoundRobin | Bursts


class Stream(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Losses and activations. `drift` is for linear losses, `noise` for all others.

    `loss` is the name of a kind in `mtcool.streams`, or "module:Class" for one from outside, whose
    rows are made as for the loss that `data` names. `parameters` are those of the kind.
    """

    loss: str = "quadratic"
    parameters: dict[str, Any] = {}
    data: Literal["quadratic", "squared", "logistic", "hinge"] | None = None
    comparator: Literal["tasks", "hindsight"] | None = None
    """What regret is measured against; linear losses have no tasks, others have unless told."""
    noise: NonNegative = 0.01
    drift: NonNegative = 0.0
    activations: Activations = Stochastic()


class Privacy(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Privacy levels of the agents, for all private algorithms of the point.

    Without `horizon` the most activations of an agent in the replicate's stream are planned for.
    `strict_agents` agents, chosen at random, have the level `strict_epsilon`.
    """

    epsilon: Positive = 1.0
    delta: Between = 1e-6
    horizon: Count | None = None
    strict_agents: Whole = 0
    strict_epsilon: Positive | None = None


class Algorithm(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An algorithm with its parameters.

    `algorithm` is the name of one in `mtcool.algorithms`, or "module:name" for a record from
    outside, or for a function that makes one from `parameters`. `learner` is the name of one in
    `mtcool.learners`, or "module:Class" for one from outside, made with `learner_parameters`;
    `experts` is short for that parameter of MTFTRL. Only private algorithms have an aggregator
    ("binary_tree" if not given), which is named and made in the same way, a calibration ("tight")
    and a law of the noise ("laplace"). What `messages` and `delays` give is put in place of what
    the point gives.
    """

    name: Annotated[str, Meta(min_length=1)]
    algorithm: Annotated[str, Meta(min_length=1)]
    parameters: dict[str, Any] = {}
    learner: str | None = None
    learner_parameters: dict[str, Any] = {}
    experts: Literal["paper", "geometric"] | Annotated[list[NonNegative], Meta(min_length=1)] = (
        "paper"
    )
    weights: Literal["uniform", "delegation", "proportional"] = "uniform"
    rates: Literal["adversarial", "stochastic", "estimated", "adaptive"] = "adversarial"
    lipschitz: Positive | Literal["adaptive"] = 1.0
    radius: Positive = 1.0
    aggregator: str | None = None
    aggregator_parameters: dict[str, Any] = {}
    calibration: Literal["tight", "paper"] | None = None
    law: Literal["laplace", "gaussian"] | None = None
    messages: Messages | None = None
    delays: Delays | None = None

    @property
    def bound(self) -> str:
        """The bound L on gradients, as figures and reports show it."""
        return self.lipschitz if isinstance(self.lipschitz, str) else f"{self.lipschitz:g}"


class Point(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All that a replicate needs besides its seed."""

    rounds: Count = ROUNDS
    graph: Graph = ErdosRenyi()
    tasks: Tasks = Gaussian()
    stream: Stream = Stream()
    network: Network | None = None
    """How the graph changes, if it does."""
    messages: Messages | None = None
    delays: Delays | None = None
    privacy: Privacy | None = None
    """Of points with a private algorithm."""
    algorithm: Annotated[list[Algorithm], Meta(min_length=1)]


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
    replicates: Count = 48
    seed: Whole = 0
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
