"""An expert's minimisation by a general convex solver: cvxpy with Clarabel.

    minimise eta <Gamma, X> + |X|_A^2 / 2    over rows in the unit ball with sigma^2(X) <= xi

`Parametrised` is compiled once, with eta Gamma and sqrt(xi) as parameters (cvxpy's DPP rules), and
solved again and again. `afresh` states the problem anew each time.
"""

import warnings

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Parametrised:
    """The problem for N rows of dimension d, with parameters."""

    def __init__(self, size: int, dim: int) -> None:
        self.pull = cp.Parameter((size, dim))
        self.cap = cp.Parameter(nonneg=True)
        self.rows = cp.Variable((size, dim))
        self.problem = _problem(self.rows, self.pull, self.cap)

    def solve(self, pull: Floats, cap: float, tolerance: float | None = None) -> Floats:
        """The rows for `pull` = eta Gamma and `cap` = sqrt(xi); Clarabel's default tolerances."""
        self.pull.value, self.cap.value = pull, cap
        names = ("tol_gap_abs", "tol_gap_rel", "tol_feas")
        settings = {} if tolerance is None else dict.fromkeys(names, tolerance)
        with warnings.catch_warnings():  # near the end of its accuracy it says so
            warnings.simplefilter("ignore", UserWarning)
            self.problem.solve(solver=cp.CLARABEL, **settings)
        return np.asarray(self.rows.value)


def afresh(pull: Floats, cap: float) -> Floats:
    """The same, from a problem that is thrown away."""
    rows = cp.Variable(pull.shape)
    _problem(rows, pull, cap).solve(solver=cp.CLARABEL)
    return np.asarray(rows.value)


def _problem(rows: cp.Variable, pull: object, cap: object) -> cp.Problem:
    size = rows.shape[0]
    # Sparse and fast: objective and constraint are both least where `mean` is the mean of the rows.
    mean = cp.Variable((1, rows.shape[1]))
    deviations = rows - np.ones((size, 1)) @ mean
    energy = cp.sum_squares(rows) + size * cp.sum_squares(deviations)  # |X|_A^2
    constraints = [
        cp.norm(rows, 2, axis=1) <= 1.0,
        cp.norm(deviations, "fro") <= np.sqrt(size - 1.0) * cap,
    ]
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(pull, rows)) + energy / 2.0), constraints)
