"""A kind of loss from outside the package: parameters are numbers, and errors name the field."""

from typing import NamedTuple

import numpy as np
import pytest

import mtcool
from huber import Distance, Huber
from mtcool.learners import FTRL
from mtcool.streams import Losses, Stream, examples, make_kind, name_of, value

GRAPH = mtcool.graphs.ring(4)


def a_stream(kind: Huber) -> Stream:
    rng = np.random.default_rng(0)
    features, target = rng.standard_normal((200, 2)), 3.0 * rng.standard_normal(200)
    return Stream(rng.integers(4, size=200), Losses(kind, examples(features, target)))


def test_it_is_simulated_with_the_numbers_of_its_definition():
    stream = a_stream(Huber(0.7))
    network = mtcool.i_ftrl(GRAPH, 2, learner=FTRL(), lipschitz=stream.lipschitz(1.0))
    told = mtcool.i_ftrl(GRAPH, 2, learner=FTRL(), lipschitz=stream.lipschitz(1.0))
    paid = 0.0
    for row, agent in zip(stream.losses.rows, stream.agents.tolist(), strict=True):
        x = told.predict(agent)
        error = row[:2] @ x - row[2]
        paid += min(0.5 * error**2, 0.7 * (abs(error) - 0.35)) if abs(error) > 0.7 else error**2 / 2
        told.update(agent, np.clip(error, -0.7, 0.7) * row[:2])
    assert mtcool.simulate(network, stream).loss[-1] == pytest.approx(paid, rel=1e-12)


def test_parameters_matter_without_another_compilation():
    narrow, wide = (mtcool.i_ftrl(GRAPH, 2, learner=FTRL(), on_excess="clip") for _ in range(2))
    one = mtcool.simulate(narrow, a_stream(Huber(0.1))).loss[-1]
    assert one < mtcool.simulate(wide, a_stream(Huber(2))).loss[-1]
    assert isinstance(a_stream(Huber(2)).losses.kind.delta, float)
    assert isinstance(a_stream(Huber(np.float32(2.0))).losses.kind.delta, float)


def test_its_name_says_where_it_is():
    assert name_of(Huber(1.0)) == "huber:Huber"
    assert repr(a_stream(Huber(2.0))) == "Stream(200 rounds, 4 agents, dim 2, Huber(delta=2.0))"


class Unknown(NamedTuple):
    """No function knows it."""


class Half(NamedTuple):
    """It has a value only."""


@value.register
def _(kind: Half, row, x):
    return 0.0


ROWS = np.ones((1, 3))


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        (Huber("1"), r"Huber\.delta must be a number, got '1'"),
        (Huber(True), r"Huber\.delta must be a number, got True"),
        (Huber(np.inf), r"Huber\.delta must be finite, got inf"),
        (Huber(np.ones(2)), r"Huber\.delta must be a number, got array"),
        (Huber(-1.0), r"Huber\.delta must be positive, got -1\.0"),
        (Huber, "kind must be made with its parameters, got the class Huber"),
        (Unknown(), r"kind must be a NamedTuple whose type has a value, got Unknown\(\)"),
        (Half(), r"kind must be a NamedTuple whose type has a subgradient, got Half\(\)"),
        (3.0, r"kind must be a NamedTuple whose type has a value, got 3\.0"),
    ],
)
def test_a_kind_that_does_not_fit_is_refused_by_the_name_of_its_field(kind, complaint):
    with pytest.raises(ValueError, match=complaint):
        Stream([0], Losses(kind, ROWS))


@pytest.mark.parametrize(
    ("cls", "parameters", "complaint"),
    [
        (Huber, {"gamma": 1.0}, "Huber has no parameter gamma; it has delta"),
        (Distance, {}, r"Distance\.scale is missing"),
        (Distance, {"scale": "x"}, r"Distance\.scale must be a number, got 'x'"),
        (dict, {}, "kind must be a NamedTuple class, got <class 'dict'>"),
    ],
)
def test_a_kind_is_made_from_named_parameters_only_if_they_fit(cls, parameters, complaint):
    with pytest.raises(ValueError, match=complaint):
        make_kind(cls, parameters)


def test_parameters_with_a_default_may_be_left_out():
    assert make_kind(Huber, {}) == Huber(1.0)
    assert make_kind(Distance, {"scale": 2}) == Distance(2.0)


def test_a_kind_without_a_lipschitz_constant_can_be_played_but_not_asked_for_one():
    with pytest.raises(ValueError, match=r"type with a Lipschitz constant, got Half\(\)"):
        mtcool.streams.lipschitz(Half(), ROWS, 1.0)
