"""The experts' minimiser to rounding, by its optimality conditions; cvxpy where that fails.

With m the mean of the rows, X minimises <G, X> + |X|_A^2 / 2 over rows in the unit ball with
sigma^2(X) <= xi if and only if, for some 0 < t <= 1 / (1 + N),

    X_i = P((1 - t) m - t G_i)    for all rows i, with P the projection on the ball,

and sigma^2(X) = xi, or t = 1 / (1 + N) and sigma^2(X) <= xi. (1 / t is 1 + N and the multiplier of
the variance.) Where no row is clipped this is a closed form. Elsewhere Newton's method looks for
m and t, and is believed only if the conditions hold.
"""

import itertools

import numpy as np

import oracle

ROUNDING = 3e-14
SINGULAR = 1e-12
STEPS = 60


def minimiser(linear, xi):
    """argmin <linear, X> + |X|_A^2 / 2 over rows in the unit ball with sigma^2(X) <= xi."""
    size = len(linear)
    mean = -linear.mean(axis=0)
    if size == 1 or xi == 0:  # one point for all
        return np.tile(oracle.project(mean), (size, 1))
    largest = xi * (size - 1)  # of the sum of squared deviations
    deviations = -linear - mean
    squares = (deviations**2).sum()
    t = 1 / max(1 + size, np.sqrt(squares / largest))
    x = mean + t * deviations
    if (x**2).sum(axis=1).max() <= 1:
        return x
    x = newton(linear, oracle.project(mean), 1 / (1 + size), None)
    if x is not None and squared_deviations(x) > largest:
        starts = itertools.product((x.mean(axis=0), oracle.project(mean)), (t, t / 2, t / 10))
        tries = (newton(linear, start, first, largest) for start, first in starts)
        x = next((found for found in tries if found is not None), None)
    return oracle.minimiser(linear, xi) if x is None else x


def squared_deviations(x):
    return ((x - x.mean(axis=0)) ** 2).sum()


def newton(linear, mean, t, largest):
    """Rows that meet the conditions, or None; `t` is given where `largest` is None."""
    size, dim = linear.shape
    for _ in range(STEPS):
        u = (1 - t) * mean - t * linear
        norms = np.maximum(1.0, np.linalg.norm(u, axis=1))
        x = u / norms[:, None]
        off = x.mean(axis=0) - mean
        excess = 0.0 if largest is None else ((x - mean) ** 2).sum() - largest
        if np.abs(off).max() <= ROUNDING * t and abs(excess) <= ROUNDING * (largest or 1.0) * 10:
            return x
        # The derivative of P is the identity inside the ball, and outside I - xx' over the norm.
        outside = norms > 1
        slopes = np.eye(dim) - outside[:, None, None] * x[:, :, None] * x[:, None, :]
        slopes /= norms[:, None, None]
        by_mean = (1 - t) * slopes
        by_t = -np.einsum("ijk,ik->ij", slopes, mean + linear)
        jacobian = np.zeros((dim + 1, dim + 1))
        jacobian[:dim, :dim] = by_mean.mean(axis=0) - np.eye(dim)
        if largest is None:
            jacobian[dim, dim] = 1.0
        else:
            jacobian[:dim, dim] = by_t.mean(axis=0)
            jacobian[dim, :dim] = 2 * np.einsum("ij,ijk->k", x - mean, by_mean - np.eye(dim))
            jacobian[dim, dim] = 2 * ((x - mean) * by_t).sum()
        if abs(np.linalg.det(jacobian)) < SINGULAR:  # all rows are clipped
            mean, t = mean + off, t / 2
            continue
        step = np.linalg.solve(jacobian, -np.append(off, excess))
        mean = oracle.project(mean + step[:dim])
        t = min(max(t + step[dim], t / 4), 1 / (1 + size))
    return None
