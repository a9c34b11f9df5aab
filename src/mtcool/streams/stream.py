"""A stream: who is active in each round, and which loss that agent pays."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtcool.graphs.labels import are_names, indices_of, names_in, positions_of
from mtcool.kernels import kernel
from mtcool.streams.activations import Agents, sequence
from mtcool.streams.losses import (
    LinearLosses,
    Losses,
    Matrix,
    Vector,
    dim,
    lipschitz,
    norms,
    rounds,
    subgradient,
    value,
)
from mtcool.validation import matrix, positive, vector


@kernel
def _pay(losses: Losses, t: int, x: Vector, out: Vector) -> float:
    subgradient(losses, t, x, out)
    return value(losses, t, x)


@final
@dataclass(frozen=True, eq=False, slots=True)
class Loss:
    """The loss of one round, as a function of the point.

    It runs the compiled code of the simulator, so that both give the same numbers to the bit.

    >>> from mtcool.streams import quadratic
    >>> loss = Loss(quadratic([[1.0, 2.0]]), 0)
    >>> loss([1.0, 4.0])
    (2.0, array([0., 2.]))
    """

    losses: Losses
    t: int

    def __post_init__(self) -> None:
        # The compiled code does not check its indices.
        if not 0 <= self.t < rounds(self.losses):
            raise ValueError(f"t must be a round before {rounds(self.losses)}, got {self.t!r}")

    def __call__(self, x: ArrayLike) -> tuple[float, Vector]:
        """The loss paid at `x`, and a subgradient there."""
        point = vector("x", x, dim(self.losses))
        gradient = np.empty_like(point)
        return float(_pay(self.losses, self.t, point, gradient)), gradient

    def value(self, x: ArrayLike) -> float:
        """The loss at `x`.

        >>> from mtcool.streams import linear
        >>> Loss(linear([[1.0, 2.0]]), 0).value([1.0, 1.0])
        3.0
        """
        return self(x)[0]

    def subgradient(self, x: ArrayLike) -> Vector:
        """A subgradient at `x`, in a new array.

        >>> from mtcool.streams import linear
        >>> Loss(linear([[1.0, 2.0]]), 0).subgradient([1.0, 1.0])
        array([1., 2.])
        """
        return self(x)[1]


@final
@dataclass(frozen=True, init=False, eq=False, repr=False)
class Stream:
    """Activated agents and their losses, in the order of the rounds.

    - `agents`: the active agent in each round, by its index in `labels`, or by its name if names
      are texts;
    - `losses`: what it pays, made by `linear`, `quadratic`, `squared` and so on;
    - `comparator`: row i is the task U_i that the regret of agent i is measured against, or None;
    - `labels`: the agents' names, in any order, which is that of the indices and of the comparator.
      If they are not given they are the names in `agents`, or 0, 1, ...

    A network finds its agents by name; `named` tells whether the stream has names.

    Iteration yields the name of the active agent and its loss. A slice is a stream with the same
    comparator and names.

    >>> from mtcool.streams import quadratic
    >>> stream = Stream([1, 0], quadratic([[1.0], [2.0]]), labels=["roof", "yard"])
    >>> for name, loss in stream:
    ...     print(name, loss.value([0.0]))
    yard 0.5
    roof 2.0
    >>> len(stream[1:])
    1
    >>> Stream(["yard", "roof", "yard"], quadratic([[1.0], [2.0], [3.0]])).labels
    ('yard', 'roof')
    """

    agents: Agents
    losses: Losses
    comparator: Matrix | None
    labels: Sequence[Hashable]
    named: bool

    def __init__(
        self,
        agents: ArrayLike | Sequence[Hashable],
        losses: Losses,
        comparator: ArrayLike | None = None,
        labels: Sequence[Hashable] | None = None,
    ) -> None:
        _check_losses(losses)
        names = None if labels is None else _names(labels)
        given: Any = agents
        if are_names(agents):
            if labels is None and comparator is not None:
                raise ValueError("labels must be given for the order of the comparator, got None")
            given = np.asarray(agents, dtype=object).tolist()
            names = names_in("agents", given) if names is None else names
            given = indices_of("agents", given, names)
        named = names is not None
        if comparator is not None:
            size = None if names is None else len(names)
            comparator = matrix("comparator", comparator, (size, dim(losses)))
            names = range(len(comparator)) if names is None else names
        active = sequence(given, None if names is None else len(names))
        if active.size != rounds(losses):
            raise ValueError(
                f"agents must have {rounds(losses)} entries as losses, got {active.size}"
            )
        if names is None:
            names = range(int(active.max(initial=-1)) + 1)
        # The class is frozen: this is the one place that sets its fields.
        put = object.__setattr__
        # Copies: the caller may go on writing to what it gave.
        put(self, "agents", active.copy())
        put(self, "losses", _with_fields(losses, (field.copy() for field in losses)))
        put(self, "comparator", None if comparator is None else comparator.copy())
        put(self, "labels", names)
        put(self, "named", named)

    @property
    def dim(self) -> int:
        """The dimension of the tasks."""
        return dim(self.losses)

    def lipschitz(self, radius: float) -> float:
        """A Lipschitz constant of all the losses on the ball of the given radius.

        >>> from mtcool.streams import quadratic
        >>> Stream([0, 0], quadratic([[1.0], [2.0]])).lipschitz(radius=1.0)
        3.0
        """
        return lipschitz(self.losses, radius)

    def __repr__(self) -> str:
        kind = type(self.losses).__name__
        return f"Stream({len(self):,} rounds, {len(self.labels):,} agents, dim {self.dim}, {kind})"

    def __len__(self) -> int:
        return self.agents.size

    def __iter__(self) -> Iterator[tuple[Hashable, Loss]]:
        for t, agent in enumerate(self.agents):
            yield self.labels[agent], Loss(self.losses, t)

    def __getitem__(self, span: slice) -> Stream:
        if not isinstance(span, slice):
            raise ValueError(f"span must be a slice of the rounds, got {span!r}")
        losses = _with_fields(
            self.losses, (np.ascontiguousarray(field[span]) for field in self.losses)
        )
        part = Stream(self.agents[span], losses, self.comparator, self.labels)
        object.__setattr__(part, "named", self.named)
        return part


def best_in_hindsight(stream: Stream, radius: float) -> Matrix:
    """The tasks of least total loss in the ball, for linear losses: U_i = -radius G_i / |G_i|.

    G_i is the sum of the gradients of agent i. Where it is 0 every task is as good: U_i is 0.

    >>> from mtcool.streams import linear
    >>> stream = Stream([0, 0, 1], linear([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]]))
    >>> best_in_hindsight(stream, radius=5.0) + 0.0
    array([[-3., -4.],
           [ 0.,  0.]])
    """
    positive("radius", radius)
    if not isinstance(stream.losses, LinearLosses):
        raise ValueError(
            f"stream must have linear losses for a closed form, got {type(stream.losses).__name__}"
        )
    totals = np.zeros((len(stream.labels), stream.dim))
    np.add.at(totals, stream.agents, stream.losses.gradients)
    lengths = norms(totals)[:, np.newaxis]
    return np.divide(-radius * totals, lengths, out=np.zeros_like(totals), where=lengths > 0)


def _names(labels: Sequence[Hashable]) -> Sequence[Hashable]:
    if isinstance(labels, range):
        return labels
    try:
        names = tuple(labels)
    except TypeError:
        raise ValueError(f"labels must be a sequence of names, got {labels!r}") from None
    positions_of(names)
    return names


def _with_fields(losses: Losses, fields: Iterable[NDArray[np.float64]]) -> Losses:
    """Losses of the same type with other arrays: the type is what `value` is chosen by."""
    made: Losses = tuple.__new__(type(losses), fields)
    return made


def _check_losses(losses: Losses) -> None:
    # For tuples that were built by hand: the compiled code trusts types and lengths.
    if value.dispatch(type(losses)) is value.dispatch(object):
        raise ValueError(f"losses must be of a type with a value, got {type(losses).__name__}")
    sound = losses[0].ndim == 2 and all(
        field.dtype == np.float64 and field.flags.c_contiguous and len(field) == rounds(losses)
        for field in losses
    )
    if not sound:
        raise ValueError(
            "losses must hold contiguous float64 arrays with a row for each round, as made by "
            f"linear, quadratic, squared and so on, got {losses!r}"
        )
