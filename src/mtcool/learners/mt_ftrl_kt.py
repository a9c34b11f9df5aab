"""MT-FTRL with KT (Algorithm `alg:mt-ftrl-kt`): the learner of the paper's experiments.

Everything the algorithm needs of the matrix Gamma of gradient sums is, for each clique, the sum S
of its rows and their squared deviation from the mean, so a row or an update costs O(d):

    A^-1 Gamma row r = (Gamma_r + S) / (1 + N)
    |A^-1 Gamma|_A^2 = deviation / (1 + N) + |S|^2 / N
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mtcool.learners.kt import coin_bet
from mtcool.learners.learner import Cliques, Floats, Integers, predict_row, update_row


class MTFTRLKTState(NamedTuple):
    """State of `MTFTRLKT` for all cliques."""

    start: Integers
    """Rows of clique j are start[j]:start[j + 1]."""
    gradients: Floats
    """Gamma: the gradient sum of every row, (M, d)."""
    total: Floats
    """S: sum of the rows of each clique, (C, d)."""
    deviation: Floats
    """Squared deviation of the rows of each clique from their mean."""
    direction: Floats
    """Factor of (Gamma_r + S) that gives the row of the direction Y~."""
    bet: Floats
    """Magnitude z of the next prediction."""
    outcomes: Floats
    """Sum of the coin's outcomes u."""
    reward: Floats
    """Sum of z * u."""
    n: Integers
    """Number of updates received."""
    rate: Floats
    """Factor of beta."""
    coin: Floats
    """sqrt(N / 2) / largest weight: the unit of u, so that |u| <= 1."""


@dataclass(frozen=True)
class MTFTRLKT:
    """MT-FTRL with a KT magnitude: adapts to the variance of the tasks and to their size.

    Unconstrained: the radius only sets the unit. Needs gradients of norm at most `lipschitz`.

    >>> import networkx as nx, numpy as np, mtcool
    >>> net = mtcool.mt_co2ol(nx.complete_graph(3), dim=1, learner=mtcool.learners.MTFTRLKT())
    >>> for _ in range(3):
    ...     net.update(0, np.array([-1.0]))
    >>> bool(net.predict(0)[0] > net.predict(1)[0] > 0.0)
    True
    """

    def make_state(self, cliques: Cliques, dim: int) -> MTFTRLKTState:
        """Fresh state for the given cliques."""
        count = len(cliques.rate)
        roots = np.sqrt(np.diff(cliques.start) / 2.0)
        return MTFTRLKTState(
            start=cliques.start,
            gradients=np.zeros((cliques.start[-1], dim)),
            total=np.zeros((count, dim)),
            deviation=np.zeros(count),
            direction=np.zeros(count),
            bet=np.zeros(count),
            outcomes=np.zeros(count),
            reward=np.zeros(count),
            n=np.zeros(count, np.int64),
            rate=cliques.rate.copy(),
            coin=np.divide(roots, cliques.bound, out=roots, where=roots > 0.0),
        )


@predict_row.register
def _(state: MTFTRLKTState, clique: int, row: int, out: Floats) -> None:
    factor = state.bet[clique] * state.direction[clique]
    for k in range(out.shape[0]):
        out[k] = factor * (state.gradients[row, k] + state.total[clique, k])


@update_row.register
def _(state: MTFTRLKTState, clique: int, row: int, gradient: Floats) -> None:
    size = float(state.start[clique + 1] - state.start[clique])
    shared = 1.0 / (size * (1.0 + size))  # one division serves 1 / N and 1 / (1 + N)
    per_row, per_mode = shared * (1.0 + size), shared * size
    along, across, square, length = 0.0, 0.0, 0.0, 0.0
    for k in range(gradient.shape[0]):
        g = gradient[k]
        row_sum, total = state.gradients[row, k], state.total[clique, k]
        along += (row_sum + total) * g
        across += (row_sum - total * per_row) * g
        square += g * g
        state.gradients[row, k] = row_sum + g
        state.total[clique, k] = total + g
        length += (total + g) * (total + g)
    deviation = state.deviation[clique] + 2.0 * across + square * (1.0 - per_row)
    state.deviation[clique] = max(deviation, 0.0)
    u = state.coin[clique] * state.direction[clique] * along
    state.outcomes[clique] += u
    state.reward[clique] += state.bet[clique] * u
    state.n[clique] += 1
    # argmin over |X|_A <= 1: scale -(sqrt N / beta) A^-1 Gamma to A-norm at most one.
    n, norm = state.n[clique], state.deviation[clique] * per_mode + length * per_row
    beta = state.rate[clique] ** 2 * (1.0 + n)  # squared
    state.direction[clique] = -per_mode / np.sqrt(max(beta * per_row, norm))
    state.bet[clique] = coin_bet(state.outcomes[clique], state.reward[clique], n)
