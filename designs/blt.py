"""Find the coefficients of BLT: the least largest error for n activations and so many buffers.

The generating function of the first column of C is a product over the buffers,

    c(x) = prod_b (1 - theta_b x) / (1 - phi_b x),    0 < theta_B < phi_B < ... < theta_1 < phi_1,

with phi_1 < 1, and that of C^-1 is its reciprocal: theta are the decays of the recurrence of C^-1,
and the couplings are the residues of 1 / c. In this order all couplings are negative, as in McMahan
et al. (2024). The largest squared error over n activations, with noise calibrated to C, is

    sum of c_t^2 (squared norm of the longest column of C) times
    sum of r_t^2 (squared norm of the longest row of B = A C^-1),    t = 0, ..., n - 1.

Both sequences are sums of geometric ones, so both sums are closed forms, whatever n.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from mtcool.privacy.aggregators.filters import Recurrence

Floats = NDArray[np.float64]

STEPS = 20_000  # of one search


class Design(NamedTuple):
    """The coefficients that were found, and their error."""

    recurrence: Recurrence
    error: float


def find_design(n: int, buffers: int, *, starts: int = 3, seed: int = 0) -> Design:
    """The best design of searches from several starts: all of them end at the same one."""
    rng = np.random.default_rng(seed)
    # Memories 1 / (1 - pole) evenly spaced on a logarithmic scale from 1 to n, then moved about.
    first, step = 0.5 - np.log(n), np.log(np.log(n) / (2 * buffers))
    even = np.array([first] + [step] * (2 * buffers - 1))
    moved = [rng.normal(scale=0.3, size=even.size) for _ in range(starts - 1)]
    x, least = min((_search(even + move, n) for move in [0.0, *moved]), key=lambda found: found[1])
    phi, theta = _poles(x)
    recurrence = Recurrence(tuple(theta.tolist()), tuple(_residues(theta, phi).tolist()))
    return Design(recurrence, float(np.exp(least)))


def largest_error(recurrence: Recurrence, n: int) -> float:
    """The largest error of given coefficients over n activations, by the closed forms."""
    theta, coupling = np.array(recurrence.theta), np.array(recurrence.coupling)
    # 1 / c = 1 + sum_b coupling_b x / (1 - theta_b x) vanishes where 1 / x is an eigenvalue.
    phi = np.sort(np.linalg.eigvals(np.diag(theta) - coupling[np.newaxis]).real)[::-1]
    return float(np.exp(_log_error(phi, theta, n)))


def _search(start: Floats, n: int) -> tuple[Floats, float]:
    """Nelder and Mead's method, started again where it ended until nothing improves."""
    options = {"maxiter": STEPS, "maxfev": STEPS, "xatol": 1e-9, "fatol": 1e-13, "adaptive": True}
    x, least = start, np.inf
    for _ in range(20):
        found = minimize(_objective, x, (n,), method="Nelder-Mead", options=options)
        if found.fun > least - 1e-11:
            break
        x, least = found.x, float(found.fun)
    return x, least


def _objective(x: Floats, n: int) -> float:
    return _log_error(*_poles(x), n)


def _poles(x: Floats) -> tuple[Floats, Floats]:
    """phi and theta, descending: 1 - pole has increasing log-odds, and x holds the steps' logs."""
    odds = np.cumsum(np.concatenate((x[:1], np.exp(x[1:]))))
    poles = 1.0 / (1.0 + np.exp(odds))
    return poles[0::2], poles[1::2]


def _residues(poles: Floats, zeros: Floats) -> Floats:
    """Those of prod (z - zeros) / prod (z - poles), at its poles."""
    gaps = poles[:, np.newaxis] - poles
    np.fill_diagonal(gaps, 1.0)
    return (poles[:, np.newaxis] - zeros).prod(axis=1) / gaps.prod(axis=1)


def _log_error(phi: Floats, theta: Floats, n: int) -> float:
    # c_0 = 1 and c_t = sum_b omega_b phi_b^(t - 1)
    column = 1.0 + _squares(_residues(phi, theta), phi, n - 1)
    # r_t = 1 + sum_b w_b (1 - theta_b^t) / (1 - theta_b): a constant is a pole at 1
    parts = _residues(theta, phi) / (1.0 - theta)
    rows = _squares(np.append(-parts, 1.0 + parts.sum()), np.append(theta, 1.0), n)
    return float(np.log(column) + np.log(rows))


def _squares(factors: Floats, poles: Floats, terms: int) -> float:
    """Sum of the squares of sum_b factor_b pole_b^t, t = 0, ..., terms - 1."""
    logs = np.log(poles)[:, np.newaxis] + np.log(poles)
    with np.errstate(invalid="ignore"):
        sums = np.expm1(terms * logs) / np.expm1(logs)
    sums[logs == 0.0] = terms
    return float(factors @ sums @ factors)
