"""What a learner is: the algorithm an agent runs on the virtual clique of its neighbourhood.

A learner is three things in one file of this folder:

1. a frozen dataclass of hyper-parameters with a method `make_state(cliques, dim)`;
2. a `NamedTuple` of arrays, its state, with one block for the cliques of all agents together;
3. implementations of `predict_row` and `update_row` for that state, in the subset of Python that
   numba compiles.

Everything is in the units of the paper: points in the unit ball, gradients of norm at most one
before they are weighted. `docs/add-a-learner.md` walks through an example.
"""

import functools
from typing import NamedTuple, Protocol

from mtcool.axes import Location
from mtcool.kernels import dispatched
from mtcool.types import Floats, Integers, State


class Cliques(NamedTuple):
    """The virtual cliques that a state has to serve.

    Clique j has the rows `start[j]:start[j + 1]` of every array with one entry per row; an agent
    that nobody listens to has an empty clique.
    """

    start: Integers
    """Where the rows of each clique begin, and the end: length C + 1."""
    rate: Floats
    """The factor of beta = rate * sqrt(1 + n), one for each clique (Theorems any-G and sto)."""
    bound: Floats
    """The largest weight max_i w_ij in each clique: a bound on its gradients' norms."""

    def location(self, clique: int) -> Location:
        """Where a clique is in a state that was made for these."""
        return Location.of(clique, int(self.start[clique]), int(self.start[clique + 1]))


class Learner(Protocol):
    """Hyper-parameters of a learner; it makes the state that the two functions below act on."""

    def make_state(self, cliques: Cliques, dim: int) -> State:
        """Fresh state, with fields `n` (updates received) and `rate`, one entry per clique."""


@dispatched
def predict_row(state: State, clique: int, row: int, out: Floats) -> None:
    """Write the model that `clique` holds for `row` into `out`; changes nothing else.

    Parameters
    ----------
    state
        A state made by a learner's `make_state`.
    clique
        Index of the clique.
    row
        Row of the state's arrays, one of `start[clique]:start[clique + 1]`.
    out
        Where the model is written, of length dim.

    Examples
    --------
    >>> import mtcool, numpy as np
    >>> one = Cliques(start=np.array([0, 1]), rate=np.ones(1), bound=np.ones(1))
    >>> state, out = mtcool.learners.FTRL().make_state(one, dim=1), np.empty(1)
    >>> predict_row(state, 0, 0, out)
    >>> out.tolist() == [0.0]
    True
    """
    raise TypeError(f"{type(state).__name__} is not the state of a learner")


@dispatched
def update_row(state: State, clique: int, row: int, weight: float, gradient: Floats) -> None:
    """Feed `clique` the linear loss <weight * gradient, .> on its `row`.

    Parameters
    ----------
    state, clique, row
        As in `predict_row`.
    weight
        Weight with which the active agent listens to the clique's owner.
    gradient
        A subgradient of the loss, divided by the Lipschitz bound.

    Examples
    --------
    >>> import mtcool, numpy as np
    >>> one = Cliques(start=np.array([0, 1]), rate=np.ones(1), bound=np.ones(1))
    >>> state, out = mtcool.learners.FTRL().make_state(one, dim=1), np.empty(1)
    >>> update_row(state, 0, 0, 1.0, np.array([-1.0]))
    >>> predict_row(state, 0, 0, out)
    >>> bool(out[0] > 0.0)
    True
    """
    raise TypeError(f"{type(state).__name__} is not the state of a learner")


class StateSize(NamedTuple):
    """What the state of a learner holds, whatever else there is in it."""

    vectors: int
    """Vectors of the dimension of the tasks."""
    experts: int = 0


@functools.singledispatch
def smallest_state(learner: Learner, sizes: Integers) -> StateSize:
    """What a state for cliques with so many rows holds at least, known before it is made.

    A saved network that has less is refused. Of a learner from outside nothing is known.

    Parameters
    ----------
    learner
        Its type chooses the implementation (`smallest_state.register`).
    sizes
        The number of rows of each clique.

    Examples
    --------
    >>> import mtcool, numpy as np
    >>> smallest_state(mtcool.learners.FTRL(), np.array([1, 1]))
    StateSize(vectors=2, experts=0)
    """
    return StateSize(0)


@functools.singledispatch
def updates_at_once(state: State) -> int:
    """How many calls of `update_row` may follow each other without a look at Ctrl-C.

    They should take less than a second at the worst. Most learners take microseconds for each.

    Parameters
    ----------
    state
        Its type chooses the implementation (`updates_at_once.register`).

    Examples
    --------
    >>> import mtcool, numpy as np
    >>> one = Cliques(start=np.array([0, 1]), rate=np.ones(1), bound=np.ones(1))
    >>> updates_at_once(mtcool.learners.FTRL().make_state(one, dim=1))
    100000
    """
    return 100_000
