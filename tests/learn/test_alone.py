"""An agent without neighbours learns alone, to the bit."""

import numpy as np
import pytest
from tests.learn.test_slow_panel import order_of, rows_of

import mtcool
from mtcool.learn import Model


@pytest.mark.parametrize("share", ["gradients", "rows"])
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_an_agent_without_neighbours_plays_what_learning_alone_does(task, share):
    rng = np.random.default_rng(7)
    who, x, y = rows_of(rng, 5, 200, 3, task == "classification")
    events = order_of(rng, 200)
    lonely = Model(None, task=task, share=share)
    played = lonely.play(lonely.index(who), x, y, events)
    assert np.array_equal(played.prediction, played.alone)
    # The last agent has no neighbours on a graph on which the others have some.
    beside = Model(mtcool.graphs.cliques([4, 1]), task=task, share=share).play(who, x, y, events)
    own = who == 4
    assert np.array_equal(beside.prediction[own], played.prediction[own])
    assert np.array_equal(beside.prediction[own], beside.alone[own])
    assert not np.array_equal(beside.prediction[~own], beside.alone[~own])
