"""`Delays`: how late what agents wait for arrives, and how much of it never does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from mtcool import validation
from mtcool.types import Given, Label


@dataclass(frozen=True)
class Delay:
    """How many rounds something takes: the whole part of a sum of up to four terms.

    Below one round it is there at once.

    Parameters
    ----------
    constant
        Rounds that it always takes.
    mean
        Mean of a random time on top, exponentially distributed; zero for none.
    bandwidth
        Bytes that pass an edge in a round: a message takes its length over this. No limit if None.
    edges
        Rounds that a message takes on certain edges, by pairs of names such as `("rome", "milan")`.
        A pair counts for both directions. Agents may join later, so names that nobody has are not
        refused.

    Examples
    --------
    >>> Delay(constant=2, edges={("rome", "milan"): 3}).edges["milan", "rome"]
    3.0
    >>> Delay(mean=-1.0)
    Traceback (most recent call last):
    ...
    ValueError: mean must not be negative, got -1.0
    """

    constant: float = 0.0
    mean: float = 0.0
    bandwidth: float | None = None
    edges: Mapping[tuple[Label, Label], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        constant = validation.non_negative("constant", self.constant)
        mean = validation.non_negative("mean", self.mean)
        edges = _both_ways(self.edges)
        if self.bandwidth is not None:
            bandwidth = validation.positive("bandwidth", self.bandwidth)
            object.__setattr__(self, "bandwidth", bandwidth)
        object.__setattr__(self, "constant", constant)
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "edges", MappingProxyType(edges))

    def __hash__(self) -> int:
        return hash((self.constant, self.mean, self.bandwidth, frozenset(self.edges.items())))

    def __repr__(self) -> str:
        names = ("constant", "mean", "bandwidth", "edges")
        terms = dict(zip(names, self.__reduce__()[1], strict=True))
        given = (f"{name}={value!r}" for name, value in terms.items() if value)
        return f"Delay({', '.join(given)})"

    def __reduce__(self) -> tuple[type[Delay], tuple[Given, ...]]:
        # A view of a dictionary, which nobody can change, cannot be pickled either.
        return Delay, (self.constant, self.mean, self.bandwidth, dict(self.edges))

    @property
    def is_none(self) -> bool:
        """Whether nothing is ever late.

        Examples
        --------
        >>> Delay().is_none, Delay(bandwidth=1000.0).is_none
        (True, False)
        """
        return not (self.constant or self.mean or self.bandwidth or any(self.edges.values()))


@dataclass(frozen=True, init=False)
class Delays:
    """How late gradients, answers and labels are, and how many messages are lost.

    Parameters
    ----------
    gradients
        Delay of the gradients that agents send: a number of rounds, or a `Delay`.
    rows
        Delay of answers, the rows of models that an agent asks its neighbours for. It uses the
        newest that has arrived.
    labels
        Delay of what an agent learns from, after its prediction; it knows no edges and no
        bandwidth.
    lost
        Share of the answers and of the gradients that never arrive, at least 0 and below 1.

    Examples
    --------
    >>> Delays(gradients=2, rows=Delay(mean=1.5), lost=0.1)
    Delays(gradients=Delay(constant=2.0), rows=Delay(mean=1.5), labels=Delay(), lost=0.1)
    >>> Delays(lost=1.0)
    Traceback (most recent call last):
    ...
    ValueError: lost must be below 1, got 1.0
    """

    gradients: Delay
    rows: Delay
    labels: Delay
    lost: float

    def __init__(
        self,
        gradients: Delay | float = 0,
        rows: Delay | float = 0,
        labels: Delay | float = 0,
        lost: float = 0.0,
    ) -> None:
        given = {"gradients": gradients, "rows": rows, "labels": labels}
        delays = {name: _delay(name, value) for name, value in given.items()}
        for name in ("bandwidth", "edges"):
            if getattr(delays["labels"], name):
                raise ValueError(f"labels must have no {name}, got {labels!r}")
        share = validation.non_negative("lost", lost)
        if share >= 1:
            raise ValueError(f"lost must be below 1, got {lost!r}")
        for name, delay in delays.items():
            object.__setattr__(self, name, delay)
        object.__setattr__(self, "lost", share)

    @property
    def is_none(self) -> bool:
        """Whether everything arrives, and at once.

        Examples
        --------
        >>> Delays().is_none, Delays(labels=1).is_none
        (True, False)
        """
        every = (self.gradients, self.rows, self.labels)
        return self.lost == 0 and all(delay.is_none for delay in every)

    @property
    def rows_may_miss(self) -> bool:
        """Whether an agent may have to predict without the row of a neighbour that it asked.

        Examples
        --------
        >>> Delays(gradients=1).rows_may_miss, Delays(lost=0.1).rows_may_miss
        (False, True)
        """
        return self.lost > 0 or not self.rows.is_none


def _delay(name: str, value: Delay | float) -> Delay:
    if isinstance(value, Delay):
        return value
    return Delay(validation.non_negative(name, value))


def _both_ways(edges: Given) -> dict[tuple[Label, Label], float]:
    """The rounds of every edge, under both orders of its ends."""
    if not isinstance(edges, Mapping):
        raise ValueError(f"edges must map pairs of names to rounds, got {edges!r}")
    found: dict[tuple[Label, Label], float] = {}
    for pair, value in edges.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ValueError(f"edges must have pairs of names as keys, got {pair!r}")
        a, b = pair
        if a == b:
            raise ValueError(f"edges must join two agents, got {pair!r}")
        rounds = validation.non_negative(f"edges[{pair!r}]", value)
        if found.get(pair, rounds) != rounds:
            raise ValueError(
                f"edges must have one number for both directions, got {found[pair]!r} and "
                f"{rounds!r} for {pair!r}"
            )
        found[a, b] = found[b, a] = rounds
    return found
