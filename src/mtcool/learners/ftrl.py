"""FTRL on the unit ball: one point per clique, the same for all of its rows."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mtcool.axes import CLIQUE, set_axes
from mtcool.kernels import inline
from mtcool.learners.learner import Cliques, StateSize, predict_row, smallest_state, update_row
from mtcool.types import Floats, Integers


class FTRLState(NamedTuple):
    """State of `FTRL` for all cliques."""

    total: Floats
    """Sum of the gradients received, (C, d)."""
    n: Integers
    """Number of updates received."""
    rate: Floats
    """Factor of beta."""


set_axes(FTRLState, total=CLIQUE, n=CLIQUE, rate=CLIQUE)


@dataclass(frozen=True)
class FTRL:
    """Follow the regularised leader on the ball with step 1 / beta, beta = rate * sqrt(1 + n).

    The single-agent algorithm behind i-FTRL and ST-FTRL, and MT-FTRL of a clique of one. On a
    clique of several agents it learns one common task.

    Examples
    --------
    >>> import networkx as nx, numpy as np, mtcool
    >>> net = mtcool.i_ftrl(nx.path_graph(3), dim=2, learner=mtcool.learners.FTRL())
    >>> net.update(1, np.array([0.6, 0.8]))
    >>> net.predict(1)
    array([-0.42426407, -0.56568542])
    """

    def make_state(self, cliques: Cliques, dim: int) -> FTRLState:
        """Fresh state for the given cliques."""
        count = len(cliques.rate)
        return FTRLState(np.zeros((count, dim)), np.zeros(count, np.int64), cliques.rate.copy())


@smallest_state.register
def _(learner: FTRL, sizes: Integers) -> StateSize:
    return StateSize(len(sizes))


@inline
def ball_step(total: Floats, beta: float) -> float:
    """The f for which f * total minimises <total, x> / beta + |x|^2 / 2 over the unit ball."""
    square = 0.0
    for k in range(total.shape[0]):
        square += total[k] * total[k]
    return -1.0 / max(beta, math.sqrt(square))


@predict_row.register
def _(state: FTRLState, clique: int, row: int, out: Floats) -> None:
    total = state.total[clique]
    factor = ball_step(total, state.rate[clique] * np.sqrt(1.0 + state.n[clique]))
    for k in range(out.shape[0]):
        out[k] = factor * total[k]


@update_row.register
def _(state: FTRLState, clique: int, row: int, weight: float, gradient: Floats) -> None:
    for k in range(gradient.shape[0]):
        state.total[clique, k] += weight * gradient[k]
    state.n[clique] += 1
