"""What an algorithm is: one record, which says how its networks are made and what is known of it.

A record stands in one file of `mtcool.algorithms`, or in a module of the user's own
(`docs/add-an-algorithm.md`). Everything that needs to know about an algorithm asks its record.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, get_args

from mtcool import validation
from mtcool.graphs import Graph
from mtcool.graphs.entries import one_for_each_agent
from mtcool.graphs.weights import WeightsLike
from mtcool.learners import Learner
from mtcool.privacy.noise import Noise
from mtcool.types import Floats, Indices, Integers, PeersBlock, Rates

if TYPE_CHECKING:
    from mtcool.peers.exchange import Exchange
    from mtcool.peers.settings import Settings
    from mtcool.theory import Bound

RATES: tuple[Rates, ...] = get_args(Rates)


class TheoryUnits(TypedDict):
    """Keyword arguments of all functions of `mtcool.theory`."""

    radius: float
    lipschitz: float


class TheoryOptions(TheoryUnits):
    """Keyword arguments of bounds on networks with weights."""

    weights: WeightsLike


class Question(NamedTuple):
    """The run that a bound is asked about."""

    graph: Graph
    settings: Settings
    weights: WeightsLike
    """Who listens to whom how much, as it was given."""
    q: Floats | None
    """Activation probabilities, if they are known."""
    tasks: Floats
    activations: Integers
    """Number of activations of each agent."""

    @property
    def rounds(self) -> int:
        """Length of the run."""
        return int(self.activations.sum())

    @property
    def units(self) -> TheoryUnits:
        """Radius and gradient bound, as keyword arguments for a bound.

        Without a gradient bound the longest gradient of the run is the unit, 1.
        """
        return {"radius": self.settings.radius, "lipschitz": self.settings.gradient_unit}

    @property
    def options(self) -> TheoryOptions:
        """Weights, radius and gradient bound, as keyword arguments for a bound."""
        return {"weights": self.weights, **self.units}


def as_given(graph: Graph, weights: Floats) -> Floats:
    """The weights that were given."""
    return weights


def no_bound(question: Question) -> Bound | None:
    """Nothing is known."""
    return None


@dataclass(frozen=True)
class Algorithm:
    """A named algorithm."""

    name: str
    """In experiment files and saved networks, such as "mt_co2ol"."""
    title: str
    """In figures and reports, such as "MT-CO2OL"."""
    learner: Learner
    """The learner that its agents run unless another is given."""
    peers: Callable[[Settings, Graph, Floats], PeersBlock]
    """Makes fresh peers; the last argument has a weight for each entry of the graph."""
    exchange: Callable[[PeersBlock, Settings, Graph, Noise | None], Exchange]
    """Makes their `Exchange` from peers, settings, graph and a source of noise, or None."""
    cliques: Callable[[Graph], Indices] = one_for_each_agent
    """The clique that each entry of a graph listens to."""
    kept_by_members: bool = False
    """Every member of a clique keeps it, so nothing is fetched; else agent j keeps clique j."""
    bound: Callable[[Question], Bound | None] = no_bound
    """The regret bound that applies to a run, or None."""
    rates: tuple[Rates, ...] = RATES
    """Learning rates that it can use."""
    weights: Callable[[Graph, Floats], Floats] = as_given
    """Changes the weights that were given, once, when a network is made; one for each entry."""
    own_weights: bool = False
    """Every agent predicts with its own point, so that no weights can be chosen."""
    alone: bool = False
    """Nothing is sent: the baseline that experiments compare sharing with."""
    shares_losses: bool = False
    """The loss itself travels, so that `update` takes a function x -> subgradient."""
    private: bool = False
    """Needs a privacy level, and clips gradients always."""
    adaptive: bool = False
    """Its peers run `Settings.clique_learner`, so that no gradient bound need be given."""
    changing: bool = False
    """Its peers can live in the field: the graph may change, messages be few, small or late."""
    colour: str | None = None
    """In figures, as "#RRGGBB"; one that is free if not given."""

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        # A registered record stays the same object in a copy; others are copied field by field.
        if ALGORITHMS.get(self.name) is self:
            return algorithm, (self.name,)
        return Algorithm, tuple(getattr(self, field.name) for field in fields(self))


ALGORITHMS: dict[str, Algorithm] = {}
"""The algorithms of the package, by name."""


def register(record: Algorithm) -> Algorithm:
    """Make an algorithm known by its name.

    Parameters
    ----------
    record
        The algorithm; no other may have its name.

    Examples
    --------
    >>> import mtcool
    >>> register(algorithm("i_ftrl")).name  # the same record again changes nothing
    'i_ftrl'
    """
    import_module("mtcool.algorithms")  # whose names are taken
    if ALGORITHMS.setdefault(record.name, record) is not record:
        raise ValueError(f"name must be new, got {record.name!r}")
    return record


def algorithm(name: str) -> Algorithm:
    """The algorithm of this name.

    Parameters
    ----------
    name
        A key of `ALGORITHMS`.

    Examples
    --------
    >>> import mtcool
    >>> algorithm("i_ftrl").title
    'i-FTRL'
    """
    if name not in ALGORITHMS:
        import_module("mtcool.algorithms")  # a file may name one before anybody has imported them
    validation.one_of("algorithm", name, tuple(ALGORITHMS))
    return ALGORITHMS[name]
