"""The best tasks in hindsight: those of least total loss in a ball, agent by agent."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy  # its submodules when they are first used: some are slow to import

from mtcool.streams.loss import pay_all
from mtcool.streams.losses import Kind, Linear, Matrix, Quadratic, norms
from mtcool.streams.stream import Stream
from mtcool.types import Floats
from mtcool.validation import positive

STEPS = 1_000  # of the level method; most problems take tens

Function = Callable[[Floats], tuple[float, Floats]]
"""From a point to the value there and a subgradient."""


def best_in_hindsight(stream: Stream, radius: float, tolerance: float = 1e-7) -> Matrix:
    """For every agent the task of least total loss in the ball of the given radius.

    Linear and quadratic losses have closed forms. For all other convex losses, smooth or not, the
    task is found numerically, with a proof: no task of the ball has a total loss that is lower by
    more than `tolerance` times `max(|F(0)|, radius |G|)`, where F(0) is the agent's total loss at
    zero and G its subgradient there. An agent that is never active has the task 0.

    Parameters
    ----------
    stream
        Who is active when, and the losses.
    radius
        Radius of the ball.
    tolerance
        How far from the least total loss a task may be, as said above.

    Examples
    --------
    >>> from mtcool.streams import absolute, linear
    >>> stream = Stream([0, 0, 1], linear([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]]))
    >>> best_in_hindsight(stream, radius=5.0) + 0.0
    array([[-3., -4.],
           [ 0.,  0.]])
    >>> median = Stream([0, 0, 0], absolute(np.ones((3, 1)), [1.0, 2.0, 7.0]))
    >>> best_in_hindsight(median, radius=5.0).round(6)
    array([[2.]])
    """
    radius, tolerance = positive("radius", radius), positive("tolerance", tolerance)
    kind, rows = stream.losses
    tasks = np.zeros((len(stream.labels), stream.dim))
    if isinstance(kind, Linear | Quadratic):
        np.add.at(tasks, stream.agents, rows)
        return _linear(tasks, radius) if isinstance(kind, Linear) else _mean(stream, tasks, radius)
    order = np.argsort(stream.agents, kind="stable")
    active, first = np.unique(stream.agents[order], return_index=True)
    for agent, mine in zip(active, np.split(rows[order], first[1:]), strict=True):
        try:
            total = _total_of(kind, mine, stream.dim)
            tasks[agent], _ = least(total, stream.dim, radius, tolerance)
        except ValueError as error:
            raise ValueError(f"{error} (losses of agent {stream.labels[agent]!r})") from None
    return tasks


def _linear(totals: Matrix, radius: float) -> Matrix:
    """-radius G_i / |G_i|, and 0 where the gradients sum to 0."""
    lengths = norms(totals)[:, np.newaxis]
    return np.divide(-radius * totals, lengths, out=np.zeros_like(totals), where=lengths > 0)


def _mean(stream: Stream, totals: Matrix, radius: float) -> Matrix:
    """The mean of each agent's targets, or the point of the ball that is nearest to it."""
    counts = np.bincount(stream.agents, minlength=len(totals))
    means = totals / np.maximum(counts, 1)[:, np.newaxis]
    return means * (radius / np.maximum(norms(means), radius))[:, np.newaxis]


def least(function: Function, dim: int, radius: float, tolerance: float) -> tuple[Floats, float]:
    """A point of the ball where a convex function is least, and a lower bound on its values there.

    The level method. Every point that is tried gives a cut, a linear function below ours; the
    largest of the cuts is a model. The next point is the one of least norm where the model is
    halfway between the best value so far and the lower bound. If there is none in the ball, the
    model proves a better bound. A quasi-Newton method goes first: it finds the minimum of a smooth
    function in many dimensions sooner, and where it does not, it has found a good cut.
    """
    start = np.zeros(dim)
    cuts = _Cuts(function, radius)
    cuts.add(start)
    scale = max(abs(cuts.best), cuts.best - cuts.bound)
    box = [(-radius, radius)] * dim
    guess = scipy.optimize.minimize(
        function, start, jac=True, method="L-BFGS-B", bounds=box, tol=1e-14
    ).x
    if np.isfinite(guess).all():
        cuts.add(guess / max(1.0, _norm(guess) / radius))
    for _ in range(STEPS):
        gap = cuts.best - cuts.bound
        if gap < -tolerance * scale:
            raise ValueError("losses must be convex, got a value below what their subgradients say")
        if gap <= tolerance * scale:
            break
        try:
            point = cuts.nearest(cuts.bound + 0.5 * gap)
        except RuntimeError:  # least squares did not converge
            break
        if _norm(point) <= radius:
            cuts.add(point)
        elif not cuts.best - cuts.bound < 0.75 * gap:
            break  # rounding errors: the model knows no more
    gap = cuts.best - cuts.bound
    if not gap <= tolerance * scale:
        raise ValueError(
            f"tolerance must be larger for these losses, got {tolerance!r}; {gap / scale:.1e} was "
            "reached"
        )
    return cuts.point, cuts.bound


class _Cuts:
    """What is known of a convex function on a ball, from its values and subgradients."""

    def __init__(self, function: Function, radius: float) -> None:
        self._function, self._radius = function, radius
        self._slopes: list[Floats] = []
        self._heights: list[float] = []
        """Values of the cuts at zero."""
        self.best, self.bound = math.inf, -math.inf
        self.point = np.zeros(0)

    def add(self, point: Floats) -> None:
        value, slope = self._function(point)
        self._slopes.append(slope)
        self._heights.append(value - float(slope @ point))
        if value < self.best:
            self.best, self.point = value, point
        self.bound = max(self.bound, self._heights[-1] - self._radius * _norm(slope))

    def nearest(self, level: float) -> Floats:
        """The point of least norm where no cut is above the level, which need not be in the ball.

        Least norm under linear constraints is a problem of non-negative least squares (Lawson and
        Hanson, 1974). Its solution weighs the cuts: that mean of them is below the function too,
        and gives a lower bound on the ball whatever the rounding errors.
        """
        slopes, heights = np.array(self._slopes), np.array(self._heights)
        system = np.vstack((-self._radius * slopes.T, heights - level))
        lengths = np.linalg.norm(system, axis=0)
        lengths[lengths == 0.0] = 1.0
        goal = np.zeros(len(system))
        goal[-1] = 1.0
        weights, _ = scipy.optimize.nnls(system / lengths, goal)
        rest = system / lengths @ weights - goal
        weights /= lengths
        if weights.sum() > 0.0:
            weights /= weights.sum()
            bound = float(weights @ heights) - self._radius * _norm(weights @ slopes)
            self.bound = max(self.bound, bound)
        if not rest[-1] < 0.0:
            return np.full(slopes.shape[1], math.inf)
        return np.asarray(-self._radius / rest[-1] * rest[:-1])


def _norm(vector: Floats) -> float:
    return float(np.linalg.norm(vector))


def _total_of(kind: Kind, rows: Matrix, dim: int) -> Function:
    room = np.empty(dim)

    def total(x: Floats) -> tuple[float, Floats]:
        gradient = np.zeros(dim)
        return float(pay_all(kind, rows, np.ascontiguousarray(x), gradient, room)), gradient

    return total
