"""GraphRegressor and GraphClassifier for scikit-learn: its checks, agents, frames, classes."""

import pickle

import joblib
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mtcool.integrations.sklearn import GraphClassifier, GraphRegressor
from mtcool.learn import Model

TOWNS = nx.path_graph(["rome", "milan", "turin"])
ESTIMATORS = [GraphRegressor(), GraphClassifier(), GraphRegressor(share="rows")]


@parametrize_with_checks(ESTIMATORS)
def test_it_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def days(count=90):
    rng = np.random.default_rng(0)
    town = np.array(["rome", "milan", "turin"])[np.arange(count) % 3]
    sun, pressure = rng.uniform(0, 9, count), 1e5 + 300 * rng.normal(size=count)
    wind = rng.choice(["north", "south"], count)
    frame = pd.DataFrame({"sun": sun, "town": town, "pressure": pressure, "wind": wind})
    target = 10 + 2 * sun + 3 * (wind == "south") + 4 * (town == "rome") + rng.normal(size=count)
    return frame, target


FRAME, TARGET = days()
NUMBERS = FRAME.drop(columns="wind")
KINDS = {
    "pandas": lambda frame: frame,
    "arrow in pandas": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "categories": lambda frame: frame.astype({"town": "category", "wind": "category"}),
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
}


@pytest.mark.parametrize("kind", KINDS)
def test_frames_go_in_as_they_are(kind):
    X = KINDS[kind](FRAME)
    model = Model(TOWNS)
    model.learn_many(FRAME["town"], FRAME.drop(columns="town"), TARGET)
    fitted = GraphRegressor(TOWNS, agent="town").fit(X, TARGET)
    expected = model.predict_many(FRAME["town"], FRAME.drop(columns="town"))
    np.testing.assert_array_equal(fitted.predict(X), expected)
    assert fitted.n_features_in_ == 4
    assert list(fitted.feature_names_in_) == ["sun", "town", "pressure", "wind"]
    assert fitted.model_.encoder.names == model.encoder.names


@pytest.mark.parametrize("X", [NUMBERS.to_numpy(), NUMBERS.to_numpy().tolist(), NUMBERS])
def test_the_agents_column_may_be_numbered(X):
    by_name = GraphRegressor(TOWNS, agent="town").fit(NUMBERS, TARGET)
    by_number = GraphRegressor(TOWNS, agent=1).fit(X, TARGET)
    np.testing.assert_array_equal(by_number.predict(X), by_name.predict(NUMBERS))
    assert by_number.model_.agents == ("rome", "milan", "turin")


def test_numbers_of_agents_find_the_labels_of_the_graph():
    X = np.column_stack([np.arange(90) % 3, FRAME["sun"]])
    fitted = GraphRegressor(nx.path_graph(3), agent=0).fit(X, TARGET)
    assert fitted.model_.agents == (0, 1, 2)
    assert fitted.model_.messages > 0


def test_all_agents_are_neighbours_unless_a_graph_is_given():
    assert GraphRegressor(agent="town").fit(FRAME, TARGET).model_.messages > 0
    assert GraphRegressor("none", agent="town").fit(FRAME, TARGET).model_.messages == 0


def test_an_agent_needs_no_features():
    fitted = GraphRegressor("none", agent=0).fit([["a"], ["b"], ["a"]], [1.0, 5.0, 1.0])
    np.testing.assert_allclose(fitted.predict([["a"], ["b"]]), [1.0, 5.0])


def test_an_array_after_a_frame_has_the_columns_of_the_frame():
    fitted = GraphRegressor(TOWNS, agent="town").fit(NUMBERS, TARGET)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        found = fitted.predict(NUMBERS.to_numpy())
    np.testing.assert_array_equal(found, fitted.predict(NUMBERS))


def test_columns_in_another_order_are_refused():
    fitted = GraphRegressor(TOWNS, agent="town").fit(FRAME, TARGET)
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        fitted.predict(FRAME[["town", "sun", "pressure", "wind"]])


@pytest.mark.parametrize("estimator", [GraphRegressor, GraphClassifier])
def test_fitting_by_parts_is_fitting_and_fitting_begins_again(estimator):
    y = TARGET if estimator is GraphRegressor else np.where(TARGET > 22, "warm", "cold")
    more = {} if estimator is GraphRegressor else {"classes": ["warm", "cold"]}
    parts = estimator(TOWNS, agent="town")
    for start in range(0, 90, 30):
        parts.partial_fit(FRAME[start : start + 30], y[start : start + 30], **more)
    whole = estimator(TOWNS, agent="town").fit(FRAME, y)
    ask = "predict" if estimator is GraphRegressor else "predict_proba"
    expected = getattr(whole, ask)(FRAME)
    np.testing.assert_array_equal(getattr(parts, ask)(FRAME), expected)
    np.testing.assert_array_equal(getattr(whole.fit(FRAME, y), ask)(FRAME), expected)
    assert not np.array_equal(getattr(whole.partial_fit(FRAME, y), ask)(FRAME), expected)


def test_fitting_other_columns_forgets_the_names_of_the_first():
    fitted = GraphRegressor(agent=1).fit(NUMBERS, TARGET)
    fitted.fit(NUMBERS.to_numpy()[:, :2], TARGET)
    assert fitted.n_features_in_ == 2
    assert not hasattr(fitted, "feature_names_in_")


@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (3, 17)])
def test_labels_and_probabilities_belong_together(labels):
    y = np.array(labels)[(TARGET > 22).astype(int)]
    fitted = GraphClassifier(TOWNS, agent="town").fit(FRAME, y)
    probability = fitted.predict_proba(FRAME)
    assert tuple(fitted.classes_) == labels
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    np.testing.assert_array_equal(fitted.predict(FRAME) == labels[1], probability[:, 1] > 0.5)
    assert fitted.score(FRAME, y) > 0.85


def classifier(X, y, **more):
    return GraphClassifier().partial_fit(X, y, **more)


WRONG = {
    "a third class": (
        lambda: GraphClassifier().fit([[1.0]] * 3, ["a", "b", "c"]),
        "Only binary .* y must have two classes, got .*'c'.* besides",
    ),
    "three classes": (
        lambda: classifier([[1.0]], ["a"], classes=["a", "b", "c"]),
        "classes must have two classes, got .*'c'",
    ),
    "no classes": (lambda: classifier([[1.0]], ["a"]), "classes must be given in the first call"),
    "a later class": (
        lambda: classifier([[1.0]], ["a"], classes=["a", "b"]).partial_fit([[1.0]], ["c"]),
        "y must hold labels of .*, got .*'c'",
    ),
    "other classes": (
        lambda: classifier([[1.0]], [0], classes=[0, 1]).partial_fit([[1.0]], [0], classes=[0, 2]),
        "classes must be .* as before, got",
    ),
    "no such column": (
        lambda: GraphRegressor(agent="city").fit(FRAME, TARGET),
        "agent must be a column of X, named or numbered, got 'city'",
    ),
    "a name for an array": (
        lambda: GraphRegressor(agent="town").fit([[1.0]], [1.0]),
        "agent must be a column of X, named or numbered, got 'town'",
    ),
    "a number beyond": (
        lambda: GraphRegressor(agent=2).fit([["a", 1.0]], [1.0]),
        "agent must be a column of X, named or numbered, got 2",
    ),
    "text in a number": (
        lambda: GraphRegressor(agent=0).fit([["a", "b"]], [1.0]),
        "X must have numbers in column 1, got 'b'",
    ),
    "no agent": (
        lambda: GraphRegressor(agent=0).fit([["a", 1.0], [None, 1.0]], [1.0, 1.0]),
        "the column of agents must name one in each row, got none in 1",
    ),
    "few targets": (
        lambda: GraphRegressor(agent="town").fit(FRAME, TARGET[:5]),
        "y must have 90 entries, one for each row of X, got 5",
    ),
    "no rows": (
        lambda: GraphRegressor().fit(FRAME[:0], TARGET[:0]),
        r"X must have at least one row, got shape \(0, 4\)",
    ),
    "labels of two kinds": (
        lambda: GraphClassifier().fit([[1.0]] * 2, np.array(["a", 1], dtype=object)),
        "y must have labels of one kind",
    ),
    "a graph": (lambda: GraphRegressor("ring").fit([[1.0]], [1.0]), "graph must be .*'ring'"),
    "a lazy frame": (lambda: GraphRegressor().fit(pl.LazyFrame({"a": [1]}), [1.0]), "collect"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_is_refused_by_name(case):
    call, words = WRONG[case]
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize(
    ("agent", "row", "column"),
    [(0, ["rome", 1.0, "n"], 2), (2, [1.0, "n", "rome"], 1), (None, [1.0, "n"], 1)],
)
def test_a_text_in_an_array_is_refused_with_its_column_and_a_way_out(agent, row, column):
    words = f"X must have numbers in column {column}, got 'n'; .* set_output\\(transform="
    with pytest.raises(ValueError, match=words):
        GraphRegressor(agent=agent).fit(np.array([row, row], object), [1.0, 2.0])


@pytest.mark.parametrize("verb", ["fit", "partial_fit"])
def test_refused_rows_leave_no_trace(verb):
    fitted = GraphRegressor(TOWNS, agent="town").fit(FRAME, TARGET)
    before = pickle.dumps(fitted)
    for X, y, words in (
        (FRAME.assign(wind="west", sun=np.inf), TARGET, "feature 'sun' must be finite"),
        (FRAME.assign(wind="west", town="oslo"), TARGET * np.nan, "Input y contains NaN"),
        (FRAME.assign(wind="west", town=None), TARGET, "the column of agents must name one"),
        (NUMBERS[["sun", "pressure"]], TARGET, "agent must be a column|names should match"),
    ):
        with pytest.raises(ValueError, match=words):
            getattr(fitted, verb)(X, y)
        assert pickle.dumps(fitted) == before


def test_who_was_not_fitted_does_not_predict():
    with pytest.raises(NotFittedError):
        GraphClassifier(agent="town").predict_proba(FRAME)


def test_a_clone_knows_the_parameters_and_nothing_else():
    fitted = clone(GraphRegressor(TOWNS, agent="town", share="rows").fit(FRAME, TARGET))
    assert (fitted.agent, fitted.share) == ("town", "rows")
    assert nx.utils.graphs_equal(fitted.graph, TOWNS)
    assert not hasattr(fitted, "model_")


def test_a_model_in_a_file_that_is_only_read_goes_on(tmp_path):
    fitted = GraphRegressor(TOWNS, agent="town").fit(FRAME, TARGET)
    joblib.dump(fitted, tmp_path / "model")
    loaded = joblib.load(tmp_path / "model", mmap_mode="r")
    for model in (fitted, loaded):
        model.partial_fit(FRAME, TARGET)
    np.testing.assert_array_equal(loaded.predict(FRAME), fitted.predict(FRAME))


def test_a_scaler_in_a_pipeline_leaves_the_agent_alone():
    scaler = make_column_transformer(
        (StandardScaler(), ["sun", "pressure"]), remainder="passthrough"
    )
    scaler.set_output(transform="pandas")
    pipeline = make_pipeline(scaler, GraphRegressor(TOWNS, agent="remainder__town"))
    score = cross_val_score(pipeline, FRAME, TARGET, cv=TimeSeriesSplit(3))
    assert score[-1] > 0.7
