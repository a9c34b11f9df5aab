"""A stream: who is active in each round, and which loss that agent pays."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from mtcool.graphs.labels import are_names, indices_of, names_in, positions_of
from mtcool.streams.activations import Agents, sequence
from mtcool.streams.kinds import checked_kind
from mtcool.streams.loss import Loss, loss_of
from mtcool.streams.losses import (
    Losses,
    Matrix,
    check,
    dim,
    dim_of,
    lipschitz,
    rounds,
    rows_of,
)
from mtcool.validation import matrix, non_negative


@final
@dataclass(frozen=True, init=False, eq=False, repr=False)
class Stream:
    """Activated agents and their losses, in the order of the rounds.

    A network finds its agents by name; `named` tells whether the stream has names. Iteration yields
    the name of the active agent and its loss. A slice is a stream with the same comparator and
    names.

    Parameters
    ----------
    agents
        The active agent in each round, by its index in `labels`, or by its name if names are
        strings.
    losses
        What it pays, made by `linear`, `quadratic`, `squared` and so on, or `Losses(kind, rows)`
        for a kind of your own.
    comparator
        Row i is the task U_i that the regret of agent i is measured against, or None.
    labels
        The agents' names, in any order, which is that of the indices and of the comparator. If they
        are not given they are the names in `agents`, or 0, 1, ...

    Examples
    --------
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
        losses = checked_losses(losses)
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
        put(self, "losses", losses)
        put(self, "comparator", None if comparator is None else comparator.copy())
        put(self, "labels", names)
        put(self, "named", named)

    @property
    def dim(self) -> int:
        """The dimension of the tasks."""
        return dim(self.losses)

    def lipschitz(self, radius: float) -> float:
        """A Lipschitz constant of all the losses on the ball of the given radius.

        Parameters
        ----------
        radius
            Radius of the ball around the origin.

        Examples
        --------
        >>> from mtcool.streams import quadratic
        >>> Stream([0, 0], quadratic([[1.0], [2.0]])).lipschitz(radius=1.0)
        3.0
        """
        # A kind from outside may return any number.
        return non_negative("lipschitz", lipschitz(*self.losses, non_negative("radius", radius)))

    def __repr__(self) -> str:
        return (
            f"Stream({len(self):,} rounds, {len(self.labels):,} agents, dim {self.dim}, "
            f"{self.losses.kind!r})"
        )

    def __len__(self) -> int:
        return self.agents.size

    def __iter__(self) -> Iterator[tuple[Hashable, Loss]]:
        for t, agent in enumerate(self.agents):
            yield self.labels[agent], loss_of(self.losses, t)

    def __getitem__(self, span: slice) -> Stream:
        if not isinstance(span, slice):
            raise ValueError(f"span must be a slice of the rounds, got {span!r}")
        losses = Losses(self.losses.kind, self.losses.rows[span])
        part = Stream(self.agents[span], losses, self.comparator, self.labels)
        object.__setattr__(part, "named", self.named)
        return part


def _names(labels: Sequence[Hashable]) -> Sequence[Hashable]:
    if isinstance(labels, range):
        return labels
    try:
        names = tuple(labels)
    except TypeError:
        raise ValueError(f"labels must be a sequence of names, got {labels!r}") from None
    positions_of(names)
    return names


def checked_losses(losses: Losses) -> Losses:
    """Sound losses in arrays of their own: the compiled code trusts types and widths."""
    if not isinstance(losses, Losses):
        raise ValueError(
            "losses must be Losses(kind, rows), as made by linear, quadratic, squared and so on, "
            f"got {type(losses).__name__}"
        )
    kind = checked_kind(losses.kind)
    rows = rows_of("losses.rows", losses.rows)
    dim_of(kind, rows.shape[1])
    check(kind, rows)
    return Losses(kind, rows.copy())
