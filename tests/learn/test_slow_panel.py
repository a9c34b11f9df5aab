"""The compiled learner is the obvious one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learn.slow_panel import SlowPanel

import mtcool
from mtcool.learn import Model
from mtcool.learn.stored_predictions import nothing_said
from mtcool.learners.panel.fields import ACCOUNT, BALANCE, LISTENS, WORST


def rows_of(rng, agents, count, features, classes):
    """Rows of related tasks with odd scales, gaps, drift and outliers."""
    who = rng.integers(agents, size=count)
    x = rng.normal(size=(count, features)) * 10.0 ** rng.integers(-3, 4, size=features)
    tasks = rng.normal(size=features) + 0.3 * rng.normal(size=(agents, features))
    signal = (x / x.std(axis=0) * tasks[who]).sum(axis=1)
    y = 1e4 + 50 * (signal + rng.normal(size=count) + np.linspace(0, 2, count))
    y[rng.random(count) < 0.02] *= 1.1
    x[rng.random(x.shape) < 0.05] = np.nan
    return who, x, ((signal + rng.normal(size=count)) > 0).astype(float) if classes else y


def order_of(rng, count):
    """Predictions in order, each learned from some time later."""
    times = np.concatenate([np.arange(count), np.arange(count) + rng.integers(0, 6, size=count)])
    rows = np.concatenate([np.arange(count), ~np.arange(count)])
    return rows[np.lexsort((rows < 0, times))]


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    features=st.integers(0, 4),
    task=st.sampled_from(["regression", "classification"]),
    share=st.sampled_from(["gradients", "rows"]),
)
def test_predictions_are_those_of_the_obvious_version(seed, features, task, share):
    rng = np.random.default_rng(seed)
    graph = mtcool.graphs.erdos_renyi(5, 0.5, seed=rng)
    classes, count = task == "classification", 60
    who, x, y = rows_of(rng, 5, count, max(features, 1), classes)
    x = x[:, :features]
    model = Model(graph, task=task, share=share)
    slow = SlowPanel(model._places.neighbours, features, classes, share == "rows")
    events = order_of(rng, count)
    expected, said = np.full((count, 2), np.nan), {}
    for e in events:
        if e >= 0:
            expected[e], said[e] = slow.predict(who[e], x[e])
        else:
            slow.learn(who[~e], x[~e], y[~e], said[~e])
    if classes:
        expected = 1 / (1 + np.exp(-expected))
    played = model.play(who, x, y, events)
    found = np.stack([played.prediction, played.alone], axis=1)
    unit = 1.0 if classes else np.std(y)
    np.testing.assert_allclose(found / unit, expected / unit, rtol=1e-9, atol=1e-7)


def test_the_guard_is_that_of_the_obvious_version_when_targets_come_late():
    rng = np.random.default_rng(4)
    who, x, y = rows_of(rng, 5, 400, 2, False)
    y = np.where(who == 0, -3 * y, y)
    model = Model(mtcool.graphs.complete(5))
    slow = SlowPanel(model._places.neighbours, 2)
    said, asks = {}, nothing_said(400)
    for e in order_of(rng, 400).tolist():
        if e >= 0:
            said[e] = slow.predict(who[e], x[e])[1]
            asks[e] = model.play(who[[e]], x[[e]], y[[e]], [0]).said  # one call for each event
        else:
            slow.learn(who[~e], x[~e], y[~e], said[~e])
            model.play(who[[~e]], x[[~e]], y[[~e]], [~0], asks[[~e]])
    for i, agent in enumerate(slow.agents):
        kept = model._panel.number[i, [WORST, BALANCE]]
        assert kept == pytest.approx([agent.worst, agent.balance], rel=1e-7)


def test_accounts_are_those_of_the_obvious_version():
    rng = np.random.default_rng(1)
    graph = mtcool.graphs.ring(5)
    who, x, y = rows_of(rng, 5, 400, 2, False)
    y = np.where(who == 0, -3 * y, y)  # an agent that misleads its neighbours
    model = Model(graph)
    slow = SlowPanel(model._places.neighbours, 2)
    for i, row, target in zip(who, x, y, strict=True):
        slow.learn(i, row, target)
    model.play(who, x, y, ~np.arange(400))
    panel, places = model._panel, model._places
    closed = 0
    for i, others in enumerate(places.neighbours):
        for k, j in enumerate(others, start=1):
            link = panel.link[panel.ptr[i] + k]
            assert link[LISTENS] == slow.agents[i].listens[j]
            assert link[ACCOUNT] == pytest.approx(slow.agents[i].trust[j], abs=1e-6)
            closed += not slow.agents[i].listens[j]
    assert closed > 0
