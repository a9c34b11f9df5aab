"""The tables that experiment files and network files share: graphs and algorithms."""

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

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


class CliquesGraph(Part, frozen=True, tag="cliques"):
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


Graph: TypeAlias = ErdosRenyi | Regular | Ring | CliquesGraph | Stars | Grid | GraphFile


class MessagesSpec(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
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


class DelaySpec(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The fields of `mtcool.Delay` but for single edges."""

    constant: NonNegative = 0.0
    mean: NonNegative = 0.0
    bandwidth: Positive | None = None


class DelaysSpec(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The fields of `mtcool.Delays`, as far as they are given."""

    gradients: NonNegative | DelaySpec | None = None
    rows: NonNegative | DelaySpec | None = None
    labels: NonNegative | DelaySpec | None = None
    lost: BelowOne | None = None


class AlgorithmSpec(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
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
    messages: MessagesSpec | None = None
    delays: DelaysSpec | None = None

    @property
    def bound(self) -> str:
        """The bound L on gradients, as figures and reports show it."""
        return self.lipschitz if isinstance(self.lipschitz, str) else f"{self.lipschitz:g}"
