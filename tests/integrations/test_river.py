"""GraphRegressor and GraphClassifier for River: its checks, labels, agents, pipelines, delays."""

import datetime as dt
import pickle
import random

import networkx as nx
import numpy as np
import pytest
from river import checks, compose, evaluate, metrics, preprocessing, stream

from mtcool.integrations.river import GraphClassifier, GraphRegressor
from mtcool.learn import Model

TOWNS = nx.path_graph(["rome", "milan", "turin"])
CHECKED = [
    pytest.param(estimator, check, id=f"{type(estimator).__name__}-{k}-{check.__name__}")
    for estimator in (GraphRegressor(), GraphClassifier())
    for k, check in enumerate(checks.yield_checks(estimator))
]


@pytest.mark.parametrize(("estimator", "check"), CHECKED)
def test_it_passes_the_checks_of_river(estimator, check):
    random.seed(0)  # some of the checks shuffle
    assert check.__name__ not in estimator._unit_test_skips()
    check(estimator.clone())


def days(count=60, seed=0):
    """Rows with a date, a town, numbers on any scale, a text, and a target in degrees."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        town = ("rome", "milan", "turin")[k % 3]
        sun, wind = float(rng.uniform(0, 9)), rng.choice(["north", "south"]).item()
        x = {"town": town, "sun": sun, "pressure": 1e5 + 300 * rng.normal(), "wind": wind}
        y = 10 + 2 * sun + (3 if wind == "south" else 0) + (4 if town == "rome" else 0)
        yield {**x, "day": dt.datetime(2026, 1, 1) + dt.timedelta(hours=8 * k)}, y + rng.normal()


def rows(count=60):
    return [({key: x[key] for key in x if key != "day"}, y) for x, y in days(count)]


def test_the_key_of_the_agent_is_no_feature_and_chooses_the_agent():
    estimator, model = GraphRegressor(TOWNS, agent="town"), Model(TOWNS)
    for x, y in rows():
        features = {key: value for key, value in x.items() if key != "town"}
        assert estimator.predict_one(x) == model.predict_one(x["town"], features)
        estimator.learn_one(x, y)
        model.learn_one(x["town"], features, y)
    assert estimator.model.encoder.names == model.encoder.names
    assert estimator.model.messages == model.messages > 0


def test_all_agents_are_neighbours_unless_a_graph_is_given():
    default, none = GraphRegressor(agent="town"), GraphRegressor("none", agent="town")
    for x, y in rows(20):
        default.learn_one(x, y)
        none.learn_one(x, y)
    assert default.model.messages > none.model.messages == 0


def test_rows_without_the_key_belong_to_one_agent():
    estimator = GraphRegressor("complete", agent="station")
    for x, y in rows(10):
        estimator.learn_one(x, y)
    assert estimator.model.agents == (None,)
    assert "town=rome" in estimator.model.encoder.names


@pytest.mark.parametrize(
    ("first", "second"),
    [(False, True), (True, False), ("wet", "dry"), (3, 1), (np.bool_(True), np.bool_(False))],
)
def test_two_labels_of_any_kind_are_learned_in_any_order(first, second):
    model = GraphClassifier("complete", agent="town")
    for k in range(60):
        model.learn_one({"town": k % 3, "sun": k % 7}, second if k % 7 > 3 else first)
    assert model.predict_one({"town": 0, "sun": 6}) == second
    assert model.predict_one({"town": 0, "sun": 0}) == first
    probability = model.predict_proba_one({"town": 0, "sun": 6})
    assert set(probability) == {first, second}
    assert sum(probability.values()) == pytest.approx(1.0)
    assert not any(isinstance(label, np.generic) for label in probability)


def test_one_label_is_predicted_until_there_is_another():
    model = GraphClassifier()
    assert model.predict_one({"sun": 1}) is None
    model.learn_one({"sun": 1}, "wet")
    assert model.predict_one({"sun": 9}) == "wet"
    assert model.predict_proba_one({"sun": 9}) == {"wet": 1.0}


def test_truth_values_have_two_probabilities_from_the_first_on():
    model = GraphClassifier()
    model.learn_one({"sun": 1}, True)
    probability = model.predict_proba_one({"sun": 1})
    assert 0.5 < probability[True] < 1.0
    assert list(probability) == [False, True]


@pytest.mark.parametrize("wrong", ["snow", None, float("nan"), ["wet"]])
def test_a_third_class_and_no_class_are_refused_and_leave_no_trace(wrong):
    model = GraphClassifier()
    for label in ("wet", "dry"):
        model.learn_one({"sun": 1.0}, label)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"y must be .*, got (?:'snow'|None|nan|\['wet'\])"):
        model.learn_one({"sun": 1.0, "rain": 2.0}, wrong)
    assert pickle.dumps(model) == before


def test_a_refused_row_does_not_make_its_label_known():
    model = GraphClassifier()
    with pytest.raises(ValueError, match="feature 'sun' must be finite"):
        model.learn_one({"sun": float("inf")}, "wet")
    model.learn_one({"sun": 1.0}, "dry")
    assert model.predict_proba_one({"sun": 1.0}) == {"dry": 1.0}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: GraphRegressor("ring"), "graph must be a graph, .*, got 'ring'"),
        (lambda: GraphClassifier(share="all"), "share must be one of .*, got 'all'"),
        (lambda: GraphRegressor().predict_one({"agent": float("nan")}), "'agent' must name an"),
        (lambda: GraphRegressor().predict_one({1: 2.0, "1": 2.0}), "x must have features with"),
        (lambda: GraphClassifier().predict_one({}, top=3), "kwargs must be empty, got {'top': 3}"),
    ],
)
def test_wrong_arguments_are_refused_by_name(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize("estimator", [GraphRegressor(TOWNS, "town"), GraphRegressor(share="rows")])
def test_a_pickle_goes_on_to_the_bit_and_a_clone_begins_again(estimator):
    begun = estimator.clone()
    for x, y in rows(30):
        begun.learn_one(x, y)
    again, (x, y) = pickle.loads(pickle.dumps(begun)), rows(31)[-1]
    for model in (begun, again):
        model.learn_one(x, y)
    assert begun.predict_one(x) == again.predict_one(x) != 0.0
    assert begun.clone().predict_one(x) == 0.0
    assert begun.clone()._get_params().keys() == {"graph", "agent", "share"}


def pipeline():
    scaled = compose.Select("sun", "pressure") | preprocessing.StandardScaler()
    return compose.Select("town", "wind") + scaled | GraphRegressor(TOWNS, agent="town")


def test_a_scaler_in_a_pipeline_leaves_the_agent_alone():
    model = pipeline()
    score = evaluate.progressive_val_score(rows(300), model, metrics.RMSE())
    assert model["GraphRegressor"].model.agents == ("rome", "milan", "turin")
    assert score.get() < 4.0  # the targets' deviation is 6


def test_labels_that_arrive_late_are_learned_late():
    """The first prediction that differs from that of an empty model comes after the delay."""
    made = {}
    for hours in (0, 48):
        model = compose.Discard("day") | GraphRegressor(TOWNS, agent="town")
        delay = dt.timedelta(hours=hours)
        steps = evaluate.iter_progressive_val_score(
            days(), model, metrics.MAE(), moment="day", delay=delay, yield_predictions=True
        )
        made[hours] = [step["Prediction"] for step in steps]
    assert [k for k, y in enumerate(made[0]) if y == 0.0] == [0]
    # Rows are eight hours apart: the first label is known before row 6 or 7.
    assert next(k for k, y in enumerate(made[48]) if y != 0.0) in (6, 7)


def test_a_classifier_is_scored_with_delay_too():
    data = (({**x, "sun": x["sun"]}, y > 22) for x, y in days(300))
    model = compose.Discard("day") | GraphClassifier("complete", agent="town")
    score = evaluate.progressive_val_score(
        data, model, metrics.LogLoss(), moment="day", delay=dt.timedelta(hours=24)
    )
    assert score.get() < 0.5  # guessing: 0.69


def test_features_numbered_by_a_stream_of_arrays_are_taken():
    model = GraphRegressor(agent=0)
    for x, y in stream.iter_array(np.array([[7.0, 1.0], [8.0, 2.0]]), np.array([1.0, 2.0])):
        model.learn_one(x, y)
    assert model.model.agents == (7.0, 8.0)
    assert model.model.encoder.names == ("1",)
