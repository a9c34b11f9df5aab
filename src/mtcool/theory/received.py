"""What the cliques of a network received in a run, whatever happened to the network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mtcool import validation
from mtcool.types import Floats


def _none() -> Floats:
    return np.zeros(())


def _not_given() -> Floats:
    return np.full((), np.nan)


@dataclass(frozen=True)
class Received:
    """What `changing` needs to know of a run, one entry for each clique.

    In the paper's units: gradients over `lipschitz`, points over `radius`. One number stands for
    all cliques. What is not given did not happen: no doubling, nothing late, lost or coded.

    Parameters
    ----------
    members
        For each clique the indices of all agents that ever had a row in it.
    slots
        M, how many rows it has room for at the end.
    bound
        b at the end: at least every weight, times kappa where gradients are coded.
    squares
        Sum of the squared weights of the gradients that arrived, times `power` where they are
        coded.
    start, first_bound
        M and b at the start. Slots only double, so M over `start` is a power of two.
    updates
        How many gradients arrived; for KT only.
    lagged
        `squares` plus twice the sum of weight times lag, so that beta^2 is b^2 plus this.
    lag
        The longest lag: weight that arrived after a row was read and before its gradient.
    late
        Weight of the gradients that did not arrive in the round in which their row was read.
    lost
        Weight of the gradients that never arrived: lost, dropped, or under way at the end.
    moved
        Sum of weight times the distance between a row and what was read of it.
    power
        A bound on the second moment of coded gradients; on their square, where rounded ones are
        late and agents choose partners by what they learned.
    in_expectation
        Whether the sums are means, or messages were rounded at random.

    Examples
    --------
    >>> two = Received([(0, 1), (0, 1, 2)], slots=[2, 4], start=2, bound=0.5, squares=[10.0, 12.0])
    >>> two.doublings.tolist(), two.lagged.tolist()
    ([0.0, 1.0], [10.0, 12.0])
    """

    members: Sequence[Sequence[int]]
    slots: Floats
    bound: Floats
    squares: Floats
    start: Floats = field(default_factory=_not_given)
    first_bound: Floats = field(default_factory=_not_given)
    updates: Floats = field(default_factory=_not_given)
    lagged: Floats = field(default_factory=_not_given)
    lag: Floats = field(default_factory=_none)
    late: Floats = field(default_factory=_none)
    lost: Floats = field(default_factory=_none)
    moved: Floats = field(default_factory=_none)
    power: float = 1.0
    in_expectation: bool = False

    def __post_init__(self) -> None:
        members = tuple(tuple(map(int, agents)) for agents in self.members)
        if not members or not all(
            agents and min(agents) >= 0 and len(set(agents)) == len(agents) for agents in members
        ):
            raise ValueError(
                f"members must be distinct indices, some in every clique, got {self.members!r}"
            )
        object.__setattr__(self, "members", members)
        for name in ("slots", "bound", "squares"):
            self._set(name, np.nan)
        self._set("start", self.slots)
        self._set("first_bound", self.bound)
        self._set("lagged", self.squares)
        for name in ("lag", "late", "lost", "moved", "updates"):
            self._set(name, np.nan)
        self._check()

    def _set(self, name: str, other: Floats | float) -> None:
        """Make the field an array with an entry for each clique; `other` if it was not given."""
        given = validation.numbers(name, getattr(self, name), unknown=True)
        if given.shape not in ((), (len(self.members),)):
            raise ValueError(
                f"{name} must be one number or one for each of the {len(self.members)} cliques, "
                f"got shape {given.shape}"
            )
        whole = np.where(np.isnan(given), other, given) + np.zeros(len(self.members))
        whole.setflags(write=False)
        object.__setattr__(self, name, whole)

    def _check(self) -> None:
        for name in ("squares", "lag", "late", "lost", "moved"):
            if not (getattr(self, name) >= 0.0).all():
                raise ValueError(f"{name} must not be negative, got {getattr(self, name).min()}")
        rows = np.array([len(agents) for agents in self.members])
        if not (self.slots >= rows).all():
            raise ValueError(f"slots must be at least the number of members, got {self.slots}")
        doublings = np.log2(self.slots / np.maximum(self.start, 1.0))
        if not (self.start >= 1.0).all() or (doublings < 0).any() or (doublings % 1.0 != 0.0).any():
            raise ValueError(f"start must be slots over a power of two, got {self.start}")
        if not ((self.first_bound > 0.0) & (self.first_bound <= self.bound)).all():
            raise ValueError(f"first_bound must be positive, at most bound, got {self.first_bound}")
        more = self.lagged - self.squares
        rounding = 1e-9 * self.squares
        if not (more >= -rounding).all():
            raise ValueError(f"lagged must be at least squares, got {self.lagged}")
        if ((self.late == 0.0) & ((self.lag > 0.0) | (more > rounding))).any():
            raise ValueError(f"late must be positive where there is a lag, got {self.late}")
        if not validation.finite("power", self.power) >= 1.0:
            raise ValueError(f"power must be at least 1, got {self.power}")

    @property
    def doublings(self) -> Floats:
        """How often each clique doubled its slots."""
        return np.asarray(np.log2(self.slots / self.start), np.float64)
