"""The regression on a neighbourhood's rows is generalised least squares with random levels."""

import numpy as np
import pytest
from tests.learn.test_slow_panel import rows_of

import mtcool
from mtcool.learn import Model
from mtcool.learners.panel.constants import POOLED_VARIANCE
from mtcool.learners.panel.fields import (
    BETWEEN,
    CENTRE,
    DEVIATION,
    FIRST_RIDGE,
    GRAPH,
    LISTENS,
    NOISE,
    RIDGE_SIZE,
    SHARED_SCALE,
    SPREAD,
    TO_NEIGHBOURS,
)
from mtcool.learners.panel.regression import draw_to_neighbours


def regression_of(panel, agent):
    """Level at feature zero and slopes, in the units of the rows."""
    scale = panel.vector[agent, SHARED_SCALE : SHARED_SCALE + 2]
    spread, noise = panel.number[agent, GRAPH + SPREAD], panel.number[agent, GRAPH + NOISE]
    drawn = np.empty(panel.vector.shape[2])
    draw_to_neighbours(panel, agent, scale, spread, noise, drawn)
    slopes = drawn[1:] * spread / scale[DEVIATION, 1:]
    return np.append(drawn[0] - slopes @ scale[CENTRE, 1:], slopes)


def least_squares(who, x, y, ratio, penalty):
    """The same by rows: whitened by the covariance of the targets, a row for each penalty."""
    covariance = np.eye(len(y)) + ratio * (who[:, None] == who)
    root = np.linalg.cholesky(covariance)
    # Columns of about the same length, which is a matter of rounding only.
    length = x.std(axis=0)
    design = np.linalg.solve(root, np.column_stack([np.ones(len(y)), x / length]))
    more = np.column_stack([np.zeros(len(penalty)), np.diag(np.sqrt(penalty) / length)])
    right = np.append(np.linalg.solve(root, y), np.zeros(len(penalty)))
    found = np.linalg.lstsq(np.vstack([design, more]), right, rcond=None)[0]
    return found / np.append(1.0, length)


@pytest.mark.parametrize("ratio", [0.0, 0.1, 3.0, 1e6])
@pytest.mark.parametrize("seed", [0, 1])
def test_it_is_generalised_least_squares_on_explicit_matrices(seed, ratio):
    rng = np.random.default_rng(seed)
    who, x, _ = rows_of(rng, 6, 90, 3, False)
    x = np.nan_to_num(x)
    # Without targets that stray, which count as less far away.
    y = 0.3 * rng.normal(size=6)[who] + x / x.std(axis=0) @ [1.0, -2.0, 0.5] + rng.normal(size=90)
    model = Model(mtcool.graphs.star(6), share="rows")
    model.play(who, x, y, ~np.arange(90))
    panel = model._panel
    panel.number[:, BETWEEN] = ratio
    for agent in range(6):
        heard = np.ones(90, bool) if agent == 0 else (who == agent) | (who == 0)
        penalty = panel.number[agent, GRAPH + NOISE] / POOLED_VARIANCE
        penalty = penalty * panel.vector[agent, SHARED_SCALE + DEVIATION, 1:] ** 2
        expected = least_squares(who[heard], x[heard], y[heard], ratio, penalty)
        found = regression_of(panel, agent)
        size = np.abs(expected) + np.append(0.0, np.std(y) / x.std(axis=0))
        np.testing.assert_allclose(found / size, expected / size, atol=1e-8)


def test_levels_far_apart_do_not_hide_the_slopes_within_agents():
    """Agents with larger features have lower levels: between agents the slope has another sign."""
    rng = np.random.default_rng(0)
    who = np.tile(np.arange(8), 50)
    x = who[:, None] + 0.5 * rng.normal(size=(400, 1))
    y = 2.0 * x[:, 0] - 20.0 * who + 0.5 * rng.normal(size=400)
    pooled = least_squares(who, x, y, 0.0, np.zeros(1))
    assert pooled[1] == pytest.approx(-18.0, abs=1.0)
    model = Model(mtcool.graphs.complete(8), share="rows")
    model.play(who, x, y, ~np.arange(400))
    panel, everybody = model._panel, 0
    for agent in range(8):  # accounts of some neighbours are closed, as their levels mislead
        heard = panel.link[panel.ptr[agent] : panel.ptr[agent + 1], LISTENS].sum()
        everybody += heard == 8.0
        deviation = 1.0 / np.sqrt(50 * heard)  # of noise over that of features within agents
        assert regression_of(panel, agent)[1] == pytest.approx(2.0, abs=3 * deviation)
        line = panel.vector[agent, FIRST_RIDGE + TO_NEIGHBOURS * RIDGE_SIZE]
        assert line[1] == pytest.approx(2.0, abs=3 / np.sqrt(50))
    assert everybody >= 4


@pytest.mark.parametrize("deviation", [0.0, 0.5, 2.0])
def test_the_variance_between_levels_is_found(deviation):
    """Whatever the features say: their means differ between agents as well."""
    rng = np.random.default_rng(1)
    who = np.tile(np.arange(60), 40)
    x = rng.normal(size=(2400, 2)) + rng.normal(size=(60, 2))[who]
    y = 7 + x @ [3.0, -1.0] + deviation * rng.normal(size=60)[who] + rng.normal(size=2400)
    model = Model(mtcool.graphs.complete(60), share="rows")
    model.play(who, x, y, ~np.arange(2400))
    found = model._panel.number[:60, BETWEEN]
    # The deviation of an estimated variance is sqrt(2 / 60) of it; twice that, and the prior.
    np.testing.assert_allclose(found, deviation**2, rtol=0.37, atol=0.01)
