"""Krichevsky-Trofimov: a direction by FTRL on the unit ball, a magnitude by betting on a coin."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mtcool.learners.ftrl import ball_step
from mtcool.learners.learner import Cliques, Floats, Integers, predict_row, update_row


class KTState(NamedTuple):
    """State of `KT` for all cliques."""

    total: Floats
    """Sum of the gradients received, (C, d)."""
    direction: Floats
    """Factor of the sum that gives the direction."""
    bet: Floats
    """Magnitude z of the next prediction."""
    outcomes: Floats
    """Sum of the coin's outcomes u."""
    reward: Floats
    """Sum of z * u: what the bets have cost; the wealth is one minus this."""
    n: Integers
    """Number of updates received."""
    rate: Floats
    """Factor of beta."""
    bound: Floats
    """Largest weight: divides u, so that |u| <= 1."""


@dataclass(frozen=True)
class KT:
    """MT-FTRL with KT (Algorithm `alg:mt-ftrl-kt`) for a clique of one: no radius needed.

    On a clique of several agents it learns one common task. Needs gradients of norm at most
    `lipschitz`: the bets lose all guarantees, and may diverge, when that fails.

    >>> import networkx as nx, numpy as np, mtcool
    >>> net = mtcool.i_ftrl(nx.path_graph(3), dim=1, learner=mtcool.learners.KT())
    >>> for _ in range(3):
    ...     net.update(1, np.array([-1.0]))
    >>> net.predict(1).round(4)
    array([0.5274])
    """

    def make_state(self, cliques: Cliques, dim: int) -> KTState:
        """Fresh state for the given cliques."""
        count = len(cliques.rate)
        return KTState(
            total=np.zeros((count, dim)),
            direction=np.zeros(count),
            bet=np.zeros(count),
            outcomes=np.zeros(count),
            reward=np.zeros(count),
            n=np.zeros(count, np.int64),
            rate=cliques.rate.copy(),
            bound=cliques.bound.copy(),
        )


@predict_row.register
def _(state: KTState, clique: int, row: int, out: Floats) -> None:
    factor = state.bet[clique] * state.direction[clique]
    for k in range(out.shape[0]):
        out[k] = factor * state.total[clique, k]


@update_row.register
def _(state: KTState, clique: int, row: int, weight: float, gradient: Floats) -> None:
    total = state.total[clique]
    along = 0.0
    for k in range(gradient.shape[0]):
        along += total[k] * weight * gradient[k]
        total[k] += weight * gradient[k]
    u = state.direction[clique] * along / state.bound[clique]
    outcomes = state.outcomes[clique] + u
    reward = state.reward[clique] + state.bet[clique] * u
    n = state.n[clique] + 1
    state.outcomes[clique], state.reward[clique], state.n[clique] = outcomes, reward, n
    state.direction[clique] = ball_step(total, state.rate[clique] * np.sqrt(1.0 + n))
    # The magnitude is a fraction of the wealth (line "update the magnitude").
    state.bet[clique] = -outcomes * (1.0 - reward) / (n + 1.0)
