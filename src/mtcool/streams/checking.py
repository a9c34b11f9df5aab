"""A check of losses from outside: convex functions with their subgradients, as all bounds need."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mtcool.streams.loss import pay_all
from mtcool.streams.losses import Losses, Vector, dim_of, lipschitz
from mtcool.streams.stream import checked_losses
from mtcool.types import Integers
from mtcool.validation import non_negative, positive

ROUNDS = 16  # looked at, at most
LENGTHS = (2.0, 0.5, 0.05, 0.005)  # of segments in each of them, over the radius
SLACK = 1e-7  # for rounding, over the largest value that was met


class LossAtPoint(NamedTuple):
    """What a loss is at a point."""

    x: Vector
    value: float
    gradient: Vector

    def reach(self, other: Vector) -> float:
        """The least that the loss may be at another point, if this is its subgradient here."""
        return self.value + float(self.gradient @ (other - self.x))


def check_loss(losses: Losses, radius: float = 1.0) -> None:
    """Refuse losses that are not what the theory takes them for, on a ball around the origin.

    They must be finite and convex, `subgradient` must give one of their subgradients, none may be
    longer than `lipschitz` says, if there is one, and points and rows must stay as they are. That
    is tried on up to 16 rounds, on segments of the ball from its diameter down to a 400th of it, so
    that slopes are compared with differences, too. Rounds and segments are drawn at random, but
    always the same: the check takes milliseconds, and finds most mistakes, not all. `simulate` and
    `mtcool run` make it for kinds that are not the package's own.

    Parameters
    ----------
    losses
        The losses of a stream.
    radius
        Radius of the ball.

    Examples
    --------
    >>> import mtcool.streams as streams
    >>> check_loss(streams.squared([[1.0, 2.0], [0.5, -1.0]], [1.0, -1.0]))
    """
    losses, radius = checked_losses(losses), positive("radius", radius)
    count, rng = len(losses.rows), np.random.default_rng(0)
    picked = np.sort(rng.choice(count, min(ROUNDS, count), replace=False, shuffle=False))
    longest = _longest(losses, picked, radius)
    with np.errstate(all="ignore"):  # what is not finite is refused below
        for t in picked.tolist():
            _check_round(losses, t, radius, longest, rng)


def _longest(losses: Losses, picked: Integers, radius: float) -> float:
    """What no subgradient of the rounds may be longer than."""
    kind = losses.kind
    if not len(picked) or lipschitz.dispatch(type(kind)) is lipschitz.dispatch(object):
        return np.inf
    return non_negative("lipschitz", lipschitz(kind, losses.rows[picked], radius))


def _check_round(
    losses: Losses, t: int, radius: float, longest: float, rng: np.random.Generator
) -> None:
    segments = [_segment(losses, t, radius, length, rng) for length in LENGTHS]
    points = [point for segment in segments for point in segment]
    size = max(abs(point.value) + radius * float(np.abs(point.gradient).max()) for point in points)
    slack, what = SLACK * size, f"got {losses.kind!r} in round {t}"
    for a, middle, b in segments:
        mean = 0.5 * (a.value + b.value)
        if middle.value > mean + slack:
            raise ValueError(
                f"losses must be convex, {what}, which is {middle.value:.6g} at {_words(middle.x)} "
                f"and {mean:.6g} on the mean of {_words(a.x)} and {_words(b.x)}, around it"
            )
    for a, middle, b in segments:
        for here, there in ((a, b), (b, a), (a, middle), (b, middle), (middle, a), (middle, b)):
            if here.reach(there.x) > there.value + slack:
                raise ValueError(
                    f"losses must be convex, and subgradients support them from below, {what} with "
                    f"{_words(here.gradient)} at {_words(here.x)}, where it is {here.value:.6g}: "
                    f"at {_words(there.x)} it would be {here.reach(there.x):.6g} or more, and is "
                    f"{there.value:.6g}"
                )
    for point in points:
        length = float(np.linalg.norm(point.gradient))
        if length > longest * (1.0 + SLACK):
            raise ValueError(
                f"losses must be no steeper than lipschitz says, which is {longest:.6g} for radius "
                f"{radius:g}, {what}, with a subgradient of length {length:.6g} at "
                f"{_words(point.x)}"
            )


def _segment(
    losses: Losses, t: int, radius: float, length: float, rng: np.random.Generator
) -> tuple[LossAtPoint, LossAtPoint, LossAtPoint]:
    """Both ends and the middle of a segment of the ball."""
    dim = dim_of(losses.kind, losses.rows.shape[1])
    middle, along = rng.uniform() * radius * _direction(dim, rng), _direction(dim, rng)
    a, b = (_in_ball(middle + side * length * radius * along, radius) for side in (-0.5, 0.5))
    points = (_point(losses, t, x) for x in (a, 0.5 * (a + b), b))
    first, half, last = (_finite(losses, t, radius, point) for point in points)
    return first, half, last


def _direction(dim: int, rng: np.random.Generator) -> Vector:
    drawn = rng.standard_normal(dim)
    return drawn / np.linalg.norm(drawn)


def _in_ball(x: Vector, radius: float) -> Vector:
    return x * (radius / max(float(np.linalg.norm(x)), radius))


def _point(losses: Losses, t: int, x: Vector) -> LossAtPoint:
    gradient, room = np.zeros_like(x), np.full_like(x, np.nan)  # all of it must be written
    rows, given = losses.rows[t : t + 1].copy(), x.copy()
    value = pay_all(losses.kind, rows, given, gradient, room)
    if not (np.array_equal(given, x) and np.array_equal(rows, losses.rows[t : t + 1])):
        raise ValueError(
            f"losses must leave the point and their rows as they are, got {losses.kind!r} in round "
            f"{t}, which changes one of them at {_words(x)}"
        )
    return LossAtPoint(x, float(value), gradient)


def _finite(losses: Losses, t: int, radius: float, point: LossAtPoint) -> LossAtPoint:
    if not (np.isfinite(point.value) and np.isfinite(point.gradient).all()):
        raise ValueError(
            f"losses must be finite, with finite subgradients, in the ball of radius {radius:g}, "
            f"got {losses.kind!r} in round {t}, which is {point.value:.6g} with "
            f"{_words(point.gradient)} at {_words(point.x)}"
        )
    return point


def _words(x: Vector) -> str:
    return np.array2string(x, precision=6, threshold=6, edgeitems=2, max_line_width=1000)
