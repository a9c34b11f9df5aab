"""Where a round may take long, `simulate` plays by ask and tell: the same numbers."""

import numpy as np
import pytest

import mtcool
from mtcool.learners import FTRL, updates_at_once
from mtcool.learners.ftrl import FTRLState

GRAPH = mtcool.graphs.ring(4)


@pytest.fixture
def _slow():
    """FTRL that claims to take a second for ten updates."""
    updates_at_once.register(FTRLState, lambda state: 10)
    yield
    updates_at_once.register(FTRLState, updates_at_once.dispatch(object))


def played(centre=0.3, **settings):
    net = mtcool.st_ftrl(GRAPH, 1, learner=FTRL(), **settings)
    stream = mtcool.streams.quadratic_stream(GRAPH, np.full((4, 1), centre), rounds=30, seed=0)
    return net, mtcool.simulate(net, stream)


def test_st_ftrl_is_told_losses_in_slow_rounds_too(request):
    fast, quick = played(lipschitz=0.05, on_excess="clip")
    request.getfixturevalue("_slow")
    slow, patient = played(lipschitz=0.05, on_excess="clip")
    assert slow.is_slow
    assert not fast.is_slow
    np.testing.assert_array_equal(patient.loss, quick.loss)
    np.testing.assert_array_equal(patient.agent_clipped, quick.agent_clipped)
    assert quick.clipped[-1] > 0
    assert all(slow.predict(agent) == fast.predict(agent) for agent in range(4))


@pytest.mark.usefixtures("_slow")
def test_a_refusal_says_what_it_comes_from():
    with pytest.raises(ValueError, match="stream has a gradient in round 0") as refused:
        played(lipschitz=0.05)
    assert "gradient must have norm at most lipschitz = 0.05" in str(refused.value.__cause__)
