"""What neighbours say about experts counts a little, and no neighbour decides."""

import numpy as np
import pytest

import mtcool
from mtcool.learn import Model
from mtcool.learn.stored_predictions import nothing_said
from mtcool.learners.panel.constants import HEARSAY
from mtcool.learners.panel.fields import EVIDENCE, EXPERTS, FILTERS
from mtcool.learners.panel.mixing import learn_weights, weigh_evidence
from mtcool.learners.panel.play import MOST_HEARSAY, WEIGHTS, play

SHARES = ("gradients", "rows")


def trained(agents, share="gradients", task="regression"):
    """The centre of a star has no row, its neighbours have ten each."""
    rng = np.random.default_rng(0)
    model = Model(mtcool.graphs.star(agents), task=task, share=share)
    who, x = np.tile(np.arange(1, agents), 10), rng.normal(size=(10 * (agents - 1), 2))
    y = x.sum(axis=1) + rng.normal(size=len(x))
    model.play(who, x, (y > 0).astype(float) if task == "classification" else y, ~np.arange(len(x)))
    return model


def log_weights(model, agent=0):
    """Logarithms of an agent's weights in a prediction, which must be finite."""
    panel, out, event = model._panel, np.full((1, 3), np.nan), np.zeros(1, np.int64)
    play(panel, np.array([agent]), np.ones((1, 2)), np.zeros(1), event, nothing_said(1), out)
    assert np.isfinite(out).all()
    return np.log(panel.work.expert[WEIGHTS, : FILTERS + 2 + panel.rows])


def moved(after, before):
    """By how much each weight has changed against the one that has gained most."""
    change = after - before
    return change - change.max()


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_evidence_of_neighbours_moves_the_weights_of_an_agent_without_rows(task, share):
    model = trained(6, share, task)
    told = model._panel.number[1:6, EVIDENCE : EVIDENCE + FILTERS + 2 + model._panel.rows].copy()
    assert told.min() < -0.1
    found = log_weights(model)
    model._panel.number[:, EVIDENCE:] = 0.0
    expected = HEARSAY * told.sum(axis=0)
    np.testing.assert_allclose(
        moved(found, log_weights(model)), expected - expected.max(), atol=1e-12
    )


@pytest.mark.parametrize("share", SHARES)
def test_an_agent_says_which_expert_is_bad_on_its_rows(share):
    """Levels of the neighbours are far away, so experts that hear them do worse than alone."""
    rng = np.random.default_rng(2)
    who, x = np.tile(np.arange(4), 60), rng.normal(size=(240, 1))
    y = rng.normal(size=240) + np.where(rng.random(240) < 0.5, 30.0, -30.0) * (who > 0)
    model = Model(mtcool.graphs.complete(4), share=share)
    model.play(who, x, y, ~np.arange(240))
    evidence = model._panel.number[0, EVIDENCE : EVIDENCE + FILTERS + 2 + model._panel.rows]
    assert evidence.max() == 0.0
    assert evidence[-1] > evidence[:FILTERS].max()


@pytest.mark.parametrize("lie", [-1.0, -1e300, -np.inf, np.nan, 1.0, 1e300, np.inf])
@pytest.mark.parametrize("share", SHARES)
def test_no_neighbour_moves_a_logarithm_of_a_weight_by_more_than_hearsay(share, lie):
    model = trained(6, share)
    for place in range(EXPERTS):
        model._panel.number[:, EVIDENCE:] = 0.0
        before = log_weights(model)
        model._panel.number[1, EVIDENCE + place] = lie
        change = moved(log_weights(model), before)
        assert change.min() >= -HEARSAY - 1e-12
        if lie <= -1.0 and place < len(change):
            assert change[place] == pytest.approx(-HEARSAY)


def test_rounding_errors_are_neither_losses_nor_evidence():
    state, evidence = np.zeros((3, 3)), np.full(3, np.nan)
    learn_weights(state, np.array([5.0, 5.0 + 1e-15, 5.0 - 1e-15]), 5.0, 1.0, 3, 0.0)
    weigh_evidence(state, evidence, 3, 0.0)
    assert not state.any()
    assert not evidence.any()
    learn_weights(state, np.array([5.0, 5.1, 4.9]), 5.0, 1.0, 3, 0.0)
    weigh_evidence(state, evidence, 3, 0.0)
    assert evidence.argmax() == 2
    assert evidence.min() < -0.5


def test_all_neighbours_together_leave_an_expert_its_part():
    model = trained(80)
    model._panel.number[:, EVIDENCE:] = 0.0
    before = log_weights(model)
    model._panel.number[:, EVIDENCE] = -1.0
    assert moved(log_weights(model), before)[0] == pytest.approx(-MOST_HEARSAY)


def test_a_neighbour_that_is_not_listened_to_has_no_say():
    model = trained(4)
    model._panel.number[:, EVIDENCE:] = 0.0
    before = log_weights(model)
    model._panel.number[1, EVIDENCE] = -1.0
    model._panel.link[1, 0] = 0.0
    np.testing.assert_allclose(moved(log_weights(model), before), 0.0, atol=1e-12)
