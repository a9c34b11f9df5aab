"""Half the square of the error <a, x> - y, as somebody writes it who makes a mistake."""

from typing import NamedTuple

import numpy as np

from mtcool.streams import lipschitz, subgradient, value, width

MISTAKES = (
    "none",
    "sign",
    "half",
    "coordinate",
    "unwritten",
    "one side",
    "concave",
    "capped",
    "infinite",
    "undefined",
    "lipschitz",
    "row",
    "point",
)


class Planted(NamedTuple):
    """A loss with one of the mistakes, by its number."""

    mistake: int


def planted(mistake: str) -> Planted:
    return Planted(MISTAKES.index(mistake))


@width.register
def _(kind: Planted, dim: int) -> int:
    return dim + 1


@value.register
def _(kind: Planted, row, x):
    if kind.mistake == 11:
        row[x.shape[0]] = abs(row[x.shape[0]])
    error = -row[x.shape[0]]
    for k in range(x.shape[0]):
        error += row[k] * x[k]
    loss = 0.5 * error * error
    if kind.mistake == 6:
        return -loss
    if kind.mistake == 7:
        return min(loss, 0.5)
    if kind.mistake == 8 and error > 1.0:
        return np.inf
    if kind.mistake == 9:
        return loss + 0.0 * np.log(error)
    return loss


@subgradient.register
def _(kind: Planted, row, x, out):
    error = -row[x.shape[0]]
    for k in range(x.shape[0]):
        error += row[k] * x[k]
    if kind.mistake == 1 or kind.mistake == 6 or (kind.mistake == 5 and error > 0.0):
        error = -error
    if kind.mistake == 2:
        error *= 0.5
    if kind.mistake == 7 and abs(error) > 1.0:
        error = 0.0
    for k in range(x.shape[0]):
        if kind.mistake == 3 and k == 0:
            out[k] = 0.0
        elif kind.mistake != 4 or k > 0:
            out[k] = error * row[k]
    if kind.mistake == 12:
        x[0] = 0.0


@lipschitz.register
def _(kind: Planted, rows, radius):
    lengths = np.linalg.norm(rows[:, :-1], axis=1)
    largest = (lengths * (lengths * radius + np.abs(rows[:, -1]))).max(initial=0.0)
    return 0.2 * largest if kind.mistake == 10 else largest
