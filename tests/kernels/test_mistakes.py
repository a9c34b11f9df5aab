"""A mistake in a learner of one's own is told in a sentence: which function, which line, what."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import mtcool
from mtcool.kernels import inline
from mtcool.learners import Cliques, predict_row, update_row
from mtcool.testing import check_learner


class Misspelt(NamedTuple):
    points: Any
    n: Any
    rate: Any


class Undefined(NamedTuple):
    points: Any
    n: Any
    rate: Any


class InHelper(NamedTuple):
    points: Any
    n: Any
    rate: Any


class Unregistered(NamedTuple):
    points: Any
    n: Any
    rate: Any


@dataclass(frozen=True)
class Own:
    """Online gradient descent whose state, chosen by name, has a mistake in its functions."""

    kind: type

    def make_state(self, cliques: Cliques, dim: int) -> Any:
        count = len(cliques.rate)
        points = np.zeros((cliques.start[-1], dim))
        return self.kind(points, np.zeros(count, np.int64), cliques.rate.copy())


@inline
def step_of(weight: Any) -> Any:
    return weight.size


@predict_row.register(Misspelt)
@predict_row.register(Undefined)
@predict_row.register(InHelper)
def _(state: Any, clique: int, row: int, out: Any) -> None:
    for k in range(out.shape[0]):
        out[k] = state.points[row, k]


@update_row.register
def _(state: Misspelt, clique: int, row: int, weight: float, gradient: Any) -> None:
    state.n[clique] += 1
    state.pints[row, 0] -= weight * gradient[0]


@update_row.register
def _(state: Undefined, clique: int, row: int, weight: float, gradient: Any) -> None:
    state.n[clique] += 1
    state.points[row, 0] -= stepp * gradient[0]  # noqa: F821


@update_row.register
def _(state: InHelper, clique: int, row: int, weight: float, gradient: Any) -> None:
    state.n[clique] += 1
    state.points[row, 0] -= step_of(weight) * gradient[0]


LINES = Path(__file__).read_text().splitlines()
MISTAKES = {
    Misspelt: ("state.pints[row, 0] -=", "update_row", "Unknown attribute 'pints'"),
    Undefined: ("-= stepp *", "update_row", "NameError: name 'stepp' is not defined"),
    InHelper: ("return weight.size", "update_row", "Unknown attribute 'size' of type float64"),
}


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_check_of_its_own_names_function_line_and_mistake(kind):
    source, function, what = MISTAKES[kind]
    line = next(n for n, text in enumerate(LINES, 1) if source in text)
    with pytest.raises(AssertionError) as caught:
        check_learner(Own(kind))
    told = str(caught.value)
    assert "fails the check functions_compile" in told
    assert f"{function} for {kind.__name__} does not compile: {__file__}, line {line} " in told
    assert what in told
    assert len(told) < 900
    assert "\n" not in told


def test_a_function_that_is_not_registered_is_named():
    with pytest.raises(AssertionError, match="predict_row is not implemented for Unregistered"):
        check_learner(Own(Unregistered))


def test_a_network_refuses_such_a_learner_by_name():
    net = mtcool.mt_co2ol(mtcool.graphs.ring(3), dim=1, learner=Own(Misspelt))
    net.predict(0)
    with pytest.raises(ValueError, match=r"learner Own\(.*'pints'") as caught:
        net.update(0, [0.5])
    assert "\n" not in str(caught.value)


def test_so_does_a_simulation():
    net = mtcool.mt_co2ol(mtcool.graphs.ring(3), dim=1, learner=Own(Undefined))
    stream = mtcool.streams.Stream([0, 1], mtcool.streams.linear(np.ones((2, 1))))
    with pytest.raises(ValueError, match=r"learner Own\(.*'stepp'"):
        mtcool.simulate(net, stream)
