"""The rivals that the benchmarks of the learner compile themselves, and what counts there."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.learn.problem import Problem, from_table
from benchmarks.learn.rivals import gradients, ridge

from mtcool.graphs import Graph
from mtcool.streams import Table

GRAPH = Graph.from_edges([(0, 1), (1, 2)], size=4)


@pytest.fixture(scope="module")
def problem() -> Problem:
    random = np.random.default_rng(0)
    time = np.sort(random.integers(0, 30, 60)).astype(float)
    features = random.normal(2.0, 3.0, (60, 2))
    target = 5.0 + features @ [1.0, -1.0] + random.normal(size=60)
    agent, arrives = random.integers(0, 4, 60), time + random.integers(0, 4, 60)
    return from_table(Table("small", GRAPH, agent, ("a", "b"), features, target, time, arrives))


def learned_before(problem: Problem, row: int) -> list[int]:
    """The rows whose targets are known when the row is predicted, in the order of learning."""
    events = problem.events.tolist()
    return [~event for event in events[: events.index(row)] if event < 0]


def test_rows_count_once_a_target_was_seen_in_the_closed_neighbourhood(problem):
    for row, i in enumerate(problem.agent):
        known = {problem.agent[other] for other in learned_before(problem, row)}
        assert problem.counted[row] == bool(known & set(GRAPH.neighbours(i).tolist()))
    assert 0 < problem.counted.sum() < 60


def test_online_ridge_is_ridge_on_all_targets_of_the_agent_known_by_then(problem):
    x, y = problem.scaled_features, problem.scale.apply(problem.target)
    found = problem.scale.apply(ridge.predict(problem))
    for row, i in enumerate(problem.agent):
        own = [k for k in learned_before(problem, row) if problem.agent[k] == i]
        moments = ridge.RIDGE * np.eye(3) + x[own].T @ x[own]
        assert found[row] == pytest.approx(x[row] @ np.linalg.solve(moments, x[own].T @ y[own]))


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("kind", ["independent", "pooled", "spread"])
def test_gradient_steps_are_those_of_the_obvious_loop(kind, classes, problem):
    problem = problem.as_classes() if classes else problem
    x, y = problem.scaled_features, problem.scale.apply(problem.target)
    # The loop keeps the point of each agent, and of each neighbourhood, as a row.
    near = {"independent": [[i] for i in range(4)], "pooled": [[0]] * 4}
    rows = near.get(kind, [GRAPH.neighbours(i).tolist() for i in range(4)])
    shared, own, expected = np.zeros((4, 3)), np.zeros((4, 3)), np.empty(60)
    taken, own_taken = np.zeros((4, 1)), np.zeros(4)
    for event in problem.events.tolist():
        row = event if event >= 0 else ~event
        i = 0 if kind == "pooled" else problem.agent[row]
        p = x[row] @ (shared[rows[i]].mean(axis=0) + own[i])
        p = 1.0 / (1.0 + np.exp(-p)) if classes else p
        if event >= 0:
            expected[row] = p
        else:
            taken[rows[i]] += 1
            own_taken[i] += 1
            shared[rows[i]] += 0.1 * (y[row] - p) * x[row] / taken[rows[i]] ** 0.25
            own[i] += 0.03 * (y[row] - p) * x[row] / own_taken[i] ** 0.25
    found = problem.scale.apply(gradients.play(problem, kind, 0.1, 0.25, 0.3))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_steps_are_the_best_of_the_grid(problem):
    best = problem.loss(gradients.predict(problem, "independent"))
    fixed = [gradients.play(problem, "independent", step, 0.0, 0.0) for step in gradients.STEPS]
    slower = [gradients.play(problem, "independent", step, 0.5, 0.0) for step in gradients.STEPS]
    assert best <= min(map(problem.loss, fixed + slower))
    assert problem.loss(gradients.predict(problem, "spread")) < problem.loss(np.zeros(60))


def test_losses_are_those_of_the_field(problem):
    rows = problem.counted
    mean = np.full(60, problem.target[rows].mean())
    assert problem.loss(mean) == pytest.approx(1.0)
    assert problem.as_classes().loss(np.full(60, 0.5)) == pytest.approx(np.log(2.0))
    assert problem.loss(np.full(60, np.nan)) == problem.loss(np.full(60, 1e300)) == np.inf
    wrong_elsewhere = np.where(rows, problem.target, 1e3)
    assert problem.loss(wrong_elsewhere) == 0.0


def test_the_better_scale_of_targets_counts(problem):
    played = []

    def play(scale):
        played.append(scale)
        return np.zeros(60)

    # Zero is the mean of z-scored targets, which is better than zero itself.
    found = problem.best_of_scales(play)
    np.testing.assert_allclose(found, problem.target.mean())
    assert len(played) == 2
    played.clear()
    replace(problem, target=(problem.target > 0.0).astype(float), classes=True).best_of_scales(play)
    assert len(played) == 1
