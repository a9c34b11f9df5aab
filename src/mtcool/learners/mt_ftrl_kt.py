"""MT-FTRL with KT (Algorithm `alg:mt-ftrl-kt`): the learner of the paper's experiments.

Everything the algorithm needs of the matrix Gamma of gradient sums is, for each clique, the sum S
of its rows and their squared deviation from the mean, so a row or an update costs O(d):

    A^-1 Gamma row r = (Gamma_r + S) / (1 + N)
    |A^-1 Gamma|_A^2 = deviation / (1 + N) + |S|^2 / N
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtcool.axes import CLIQUE, ROW, set_axes
from mtcool.learners.learner import Cliques, StateSize, predict_row, smallest_state, update_row
from mtcool.learners.wealth import after_bet, available
from mtcool.types import Floats, Integers

# The numbers of a clique lie side by side: a neighbour costs one or two cache lines, not ten.
CLIQUE_RECORD = np.dtype(
    [
        ("size", np.float64),  # N, the number of rows
        ("deviation", np.float64),  # N times the squared deviation of the rows from their mean
        ("direction", np.float64),  # factor of (Gamma_r + S) that gives the row of Y~
        ("fraction", np.float64),  # share of the wealth that is bet next: z / wealth
        ("outcomes", np.float64),  # sum of the coin's outcomes u
        ("wealth", np.float64),  # one minus the sum of z * u, with `power` (`wealth.py`)
        ("power", np.int64),  # powers of 2^500 in the wealth
        ("rate", np.float64),  # factor of beta
        ("coin", np.float64),  # the unit of u, so that |u| <= 1
        ("n", np.int64),  # number of updates received
    ]
)


class MTFTRLKTState(NamedTuple):
    """State of `MTFTRLKT` for all cliques."""

    gradients: Floats
    """Gamma: the gradient sum of every row, (M, d)."""
    total: Floats
    """S: sum of the rows of each clique, (C, d)."""
    cliques: NDArray[np.void]
    """The other numbers of each clique, of type `CLIQUE_RECORD`."""
    n: Integers
    """The column `n` of `cliques`."""
    rate: Floats
    """The column `rate` of `cliques`."""


set_axes(MTFTRLKTState, gradients=ROW, total=CLIQUE, cliques=CLIQUE)


@dataclass(frozen=True)
class MTFTRLKT:
    """MT-FTRL with a KT magnitude: adapts to the variance of the tasks and to their size.

    Unconstrained: the radius only sets the unit. Needs gradients of norm at most `lipschitz`.
    Predictions may grow up to about `LARGEST` times the radius (`wealth.py`).

    Examples
    --------
    >>> import networkx as nx, numpy as np, mtcool
    >>> net = mtcool.mt_co2ol(nx.complete_graph(3), dim=1, learner=mtcool.learners.MTFTRLKT())
    >>> for _ in range(3):
    ...     net.update(0, np.array([-1.0]))
    >>> bool(net.predict(0)[0] > net.predict(1)[0] > 0.0)
    True
    """

    def make_state(self, cliques: Cliques, dim: int) -> MTFTRLKTState:
        """Fresh state for the given cliques."""
        sizes = np.diff(cliques.start)
        numbers = np.zeros(len(sizes), CLIQUE_RECORD)
        numbers["size"], numbers["rate"], numbers["wealth"] = sizes, cliques.rate, 1.0
        # sqrt(N / 2), as in the paper; but a row of norm at most 1 needs no factor: one agent alone
        # bets as plain KT does.
        roots = np.where(sizes == 1, 1.0, np.sqrt(sizes / 2.0))
        numbers["coin"] = np.divide(roots, cliques.bound, out=roots, where=roots > 0.0)
        return MTFTRLKTState(
            gradients=np.zeros((cliques.start[-1], dim)),
            total=np.zeros((len(sizes), dim)),
            cliques=numbers,
            n=numbers["n"],
            rate=numbers["rate"],
        )


@smallest_state.register
def _(learner: MTFTRLKT, sizes: Integers) -> StateSize:
    return StateSize(int(sizes.sum()))


@predict_row.register
def _(state: MTFTRLKTState, clique: int, row: int, out: Floats) -> None:
    c = state.cliques[clique]
    factor = c["fraction"] * available(c["wealth"], c["power"]) * c["direction"]
    for k in range(out.shape[0]):
        out[k] = factor * (state.gradients[row, k] + state.total[clique, k])


@update_row.register
def _(state: MTFTRLKTState, clique: int, row: int, weight: float, gradient: Floats) -> None:
    c = state.cliques[clique]
    size, clock = c["size"], c["n"] + 2.0  # 1 + n after this update
    along, across, square, length = 0.0, 0.0, 0.0, 0.0
    for k in range(gradient.shape[0]):
        g = weight * gradient[k]
        row_sum, total = state.gradients[row, k], state.total[clique, k]
        along += (row_sum + total) * g
        across += (size * row_sum - total) * g
        square += g * g
        state.gradients[row, k] = row_sum + g
        state.total[clique, k] = total + g
        length += (total + g) * (total + g)
    # Rounding in this sum stays far below beta^2, beneath which `norm` never falls.
    deviation = max(c["deviation"] + 2.0 * across + square * (size - 1.0), 0.0)
    u = c["coin"] * c["direction"] * along
    # A product, not one minus a sum: a fortune made and lost leaves no rounding behind.
    c["wealth"], c["power"] = after_bet(c["wealth"], c["power"], 1.0 - c["fraction"] * u)
    outcomes = c["outcomes"] + u
    # argmin over |X|_A <= 1: scale -(sqrt N / beta) A^-1 Gamma to A-norm at most one.
    modes, rate = 1.0 + size, c["rate"]
    norm = modes * max(rate * rate * clock * modes, deviation + length * modes)
    shared = 1.0 / (norm * clock)  # one division serves 1 / norm and 1 / clock
    c["direction"] = -np.sqrt(size * norm) * (shared * clock)
    c["fraction"] = -outcomes * (shared * norm)
    c["deviation"], c["outcomes"] = deviation, outcomes
    c["n"] += 1
