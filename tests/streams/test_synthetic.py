import math
from collections.abc import Callable

import numpy as np
import pytest

from mtcool.graphs import Graph
from mtcool.streams import (
    Absolute,
    Hinge,
    Logistic,
    Quadratic,
    Squared,
    best_in_hindsight,
    linear_stream,
    quadratic_stream,
    regression_stream,
    stochastic,
    tasks_with_variance,
)

TRIANGLE = Graph.from_edges([("a", "b"), ("b", "c"), ("a", "c")], labels="abc")
TASKS = np.array([[1.0, 0.0], [0.5, -2.0], [0.0, 3.0]])
KINDS = {
    "squared": Squared,
    "absolute": Absolute,
    "logistic": Logistic,
    "hinge": Hinge,
}
STREAMS = {
    "quadratic": lambda seed, **more: quadratic_stream(TRIANGLE, TASKS, 500, seed, **more),
    "linear": lambda seed, **more: linear_stream(TRIANGLE, 2, 500, seed, **more),
    **{
        kind: lambda seed, kind=kind, **more: regression_stream(
            TRIANGLE, TASKS, 500, seed, kind, **more
        )
        for kind in KINDS
    },
}
every_stream = pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)


@every_stream
def test_a_seed_gives_the_same_stream(make: Callable) -> None:
    first, again, other = make(1), make(np.random.default_rng(1)), make(2)
    assert (first.agents == again.agents).all()
    assert type(first.losses.kind) is type(again.losses.kind)
    assert (first.losses.rows == again.losses.rows).all()
    assert (first.losses.rows != other.losses.rows).any()


@every_stream
def test_names_are_those_of_the_graph_and_activations_those_asked_for(make: Callable) -> None:
    assert make(1).labels == ("a", "b", "c")
    assert np.bincount(make(1).agents).min() > 120
    assert set(make(1, q=[0.0, 0.5, 0.5]).agents) == {1, 2}
    agents = np.arange(500) % 2
    assert (make(1, agents=agents).agents == agents).all()


def test_quadratic_targets_are_the_tasks_with_the_given_noise() -> None:
    stream = quadratic_stream(TRIANGLE, TASKS, 20_000, seed=3, noise=0.1)
    assert isinstance(stream.losses.kind, Quadratic)
    assert (stream.comparator == TASKS).all()
    noise = stream.losses.rows - TASKS[stream.agents]
    assert np.abs(noise.mean(axis=0)).max() < 4 * 0.1 / math.sqrt(20_000)
    assert noise.std(axis=0) == pytest.approx(0.1, rel=4 / math.sqrt(40_000))


def test_the_paper_has_noise_of_variance_one_in_ten_thousand() -> None:
    stream = quadratic_stream(TRIANGLE, TASKS, 20_000, seed=3)
    noise = stream.losses.rows - TASKS[stream.agents]
    assert noise.var() == pytest.approx(1e-4, rel=0.04)


def test_linear_gradients_are_unit_vectors_and_the_comparator_is_the_best_in_hindsight() -> None:
    stream = linear_stream(TRIANGLE, 3, 400, seed=4)
    assert np.linalg.norm(stream.losses.rows, axis=1) == pytest.approx(1.0)
    assert (stream.comparator == best_in_hindsight(stream, 1.0)).all()
    assert stream.lipschitz(1.0) == pytest.approx(1.0)


def test_linear_gradients_lean_more_with_more_drift_and_alike_on_a_smooth_graph() -> None:
    def lean(drift: float) -> float:
        stream = linear_stream(TRIANGLE, 3, 3000, seed=5, drift=drift)
        best = stream.comparator[stream.agents]
        return -float((best * stream.losses.rows).sum(axis=1).mean())

    assert 0 < lean(0.0) < 0.1 < lean(0.5) < lean(2.0) < 1
    alike = linear_stream(TRIANGLE, 3, 3000, seed=5, drift=10.0, smoothness=math.inf).comparator
    assert (alike @ alike.T).min() > 0.99


@pytest.mark.parametrize("kind", KINDS)
def test_features_are_on_the_unit_sphere(kind: str) -> None:
    stream = regression_stream(TRIANGLE, TASKS, 200, seed=6, kind=kind)
    assert isinstance(stream.losses.kind, KINDS[kind])
    assert np.linalg.norm(stream.losses.rows[:, :-1], axis=1) == pytest.approx(1.0)
    assert (stream.comparator == TASKS).all()


@pytest.mark.parametrize("kind", ["squared", "absolute"])
def test_regression_targets_are_the_tasks_predictions_with_noise(kind: str) -> None:
    stream = regression_stream(TRIANGLE, TASKS, 20_000, seed=7, kind=kind, noise=0.2)
    features, target = stream.losses.rows[:, :-1], stream.losses.rows[:, -1]
    noise = target - (features * TASKS[stream.agents]).sum(axis=1)
    assert abs(noise.mean()) < 4 * 0.2 / math.sqrt(20_000)
    assert noise.std() == pytest.approx(0.2, rel=4 / math.sqrt(40_000))


def test_hinge_labels_are_the_sign_of_the_prediction_without_noise() -> None:
    stream = regression_stream(TRIANGLE, TASKS, 500, seed=8, kind="hinge", noise=0.0)
    scores = (stream.losses.rows[:, :-1] * TASKS[stream.agents]).sum(axis=1)
    assert (stream.losses.rows[:, -1] == np.sign(scores)).all()


def test_logistic_labels_are_drawn_with_the_logistic_probability() -> None:
    stream = regression_stream(TRIANGLE, TASKS, 40_000, seed=9, kind="logistic", noise=0.0)
    scores = (stream.losses.rows[:, :-1] * TASKS[stream.agents]).sum(axis=1)
    order = np.argsort(scores)
    for bin_ in np.array_split(order, 8):
        chance = 1 / (1 + np.exp(-scores[bin_]))
        error = math.sqrt((chance * (1 - chance)).sum())
        assert abs((stream.losses.rows[bin_, -1] == 1).sum() - chance.sum()) < 4 * error


@pytest.mark.parametrize(
    "call",
    [
        lambda rng: quadratic_stream(TRIANGLE, TASKS, 5, rng, q=[1.0]),
        lambda rng: linear_stream(TRIANGLE, 2, 5, rng, agents=[7]),
        lambda rng: linear_stream(TRIANGLE, 2, 5, rng, smoothness=-1.0),
        lambda rng: regression_stream(TRIANGLE, TASKS, 5, rng, noise=-1.0),
        lambda rng: tasks_with_variance(Graph.from_edges([], size=2), 1, 1.0, rng),
        lambda rng: stochastic(5, [0.5, 0.6], rng),
    ],
)
def test_a_refused_call_leaves_a_shared_generator_where_it_was(call: Callable) -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="must"):
        call(rng)
    assert rng.random() == np.random.default_rng(0).random()


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: quadratic_stream(TRIANGLE, TASKS, 0, 0), "rounds.*0"),
        (lambda: quadratic_stream(TRIANGLE, TASKS[:2], 5, 0), "tasks must have 3 rows.*2"),
        (lambda: quadratic_stream(TRIANGLE, TASKS * math.nan, 5, 0), "tasks.*nan"),
        (lambda: quadratic_stream(TRIANGLE, TASKS, 5, 0, noise=-1), "noise.*-1"),
        (lambda: quadratic_stream(TRIANGLE, TASKS, 5, "x"), "seed.*x"),
        (lambda: quadratic_stream(TRIANGLE, TASKS, 5, 0, q=[0.5, 0.5]), "q must have shape"),
        (lambda: quadratic_stream(TRIANGLE, TASKS, 2, 0, agents=[0, 3]), "agents.*3"),
        (lambda: quadratic_stream(TRIANGLE, TASKS, 5, 0, agents=[0]), "agents must have 5.*1"),
        (
            lambda: quadratic_stream(TRIANGLE, TASKS, 1, 0, q=[1, 0, 0], agents=[0]),
            "q must be None",
        ),
        (lambda: quadratic_stream(None, TASKS, 1, 0), "graph must be.*None"),
        (lambda: linear_stream(TRIANGLE, 0, 5, 0), "dim.*0"),
        (lambda: linear_stream(TRIANGLE, 2, 5, 0, drift=-0.5), r"drift.*-0\.5"),
        (lambda: linear_stream(TRIANGLE, 2, 5, 0, smoothness=-1.0), "smoothness.*-1"),
        (lambda: linear_stream(None, 2, 5, 0), "graph must be.*None"),
        (lambda: regression_stream(TRIANGLE, TASKS, 5, 0, kind="cubic"), "kind.*cubic"),
        (lambda: regression_stream(TRIANGLE, TASKS, 5, 0, noise=math.inf), "noise.*inf"),
        (lambda: regression_stream(TRIANGLE, TASKS[0], 5, 0), "tasks.*shape"),
    ],
)
def test_bad_synthetic_streams_are_refused(call: Callable[[], object], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        call()
