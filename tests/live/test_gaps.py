"""Rounds that an agent was not told of leave gaps in what it notes of a neighbour: short ones."""

import numpy as np
import pytest

from live.networks import ring, tables
from mtcool.agents.messages import Gradient
from mtcool.live.agents import Driver
from mtcool.live.agents.driver import WINDOW

ROUNDS = WINDOW + 50


def learn(driver: Driver, features: np.ndarray | None, feedback: float | np.ndarray) -> dict:
    """A round in which no neighbour answers."""
    begun = driver.begin(features)
    begun.predict({})
    return begun.learn(feedback)


def test_a_neighbour_that_comes_back_is_noted_in_few_numbers() -> None:
    agent, neighbour = tables().make(0), tables().make(1)
    learn(neighbour, np.ones(1), 1.0)  # its number is missing for ever
    for _ in range(ROUNDS):
        agent.receive(learn(neighbour, np.ones(1), 1.0)[0])
    heard = agent.agent.heard[1]
    assert (heard.last, len(heard.beyond)) == (ROUNDS + 1, 0)
    before = agent.keep()
    lesson = learn(neighbour, np.ones(1), 1.0)[0]
    agent.receive(lesson)
    after = agent.keep()
    agent.receive(lesson)  # which is taken once
    assert after == agent.keep() != before


def test_a_gradient_that_was_refused_is_waited_for_no_more_after_a_while() -> None:
    agent, neighbour = ring().make(0), ring().make(1)
    lost = learn(neighbour, None, np.array([0.5]))[0]
    with pytest.raises(ValueError, match="gradient must have norm"):
        agent.receive(Gradient(lost.sender, lost.number, np.array([9.0])))
    for _ in range(ROUNDS):
        agent.receive(learn(neighbour, None, np.array([0.5]))[0])
    heard = agent.agent.heard[1]
    assert (heard.last, len(heard.beyond)) == (ROUNDS + 1, 0)
