"""What callers of scikit-learn's estimators pass, checked: agents, columns, targets, classes."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from mtcool.learn.frames import columns_of, listed
from mtcool.learn.names import labels_of
from mtcool.learn.reading.values import is_missing
from mtcool.types import AnyArray, Floats, Given, Label

NAN_ALLOWED = "allow-nan"


def read_rows(estimator: Given, X: Given, *, reset: bool) -> tuple[list[Label], dict[str, Given]]:
    """The agent of each row, and the other columns by name.

    `reset` notes number and names of the columns in the estimator; else they must be as before.
    """
    # A sparse array may be a mapping; scikit-learn refuses it in its own words.
    given = None if isinstance(X, Mapping) else columns_of(X)
    if given is not None:
        if X.shape[0] == 0:
            raise ValueError(f"X must have at least one row, got shape {X.shape}")
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        agents = given.pop(_place(estimator.agent, list(given))) if _has_agent(estimator) else None
        return _names(agents, X.shape[0]), given
    if not _has_agent(estimator):
        with _texts_named(X):
            X = validate_data(
                estimator, X, reset=reset, dtype=np.float64, ensure_all_finite=NAN_ALLOWED
            )
        return _names(None, len(X)), dict(zip(_column_names(estimator), X.T, strict=True))
    # As objects, or numpy would turn all numbers into texts next to names.
    X = validate_data(estimator, X, reset=reset, dtype=np.object_, ensure_all_finite=NAN_ALLOWED)
    columns = _column_names(estimator)
    place = columns.index(_place(estimator.agent, columns))
    with _texts_named(X, but=place):
        features = check_array(
            np.delete(X, place, axis=1),
            dtype=np.float64,
            ensure_all_finite=NAN_ALLOWED,
            ensure_min_features=0,
            input_name="X",
            estimator=estimator,
        )
    names = [*columns[:place], *columns[place + 1 :]]
    return _names(X[:, place], len(X)), dict(zip(names, features.T, strict=True))


def read_targets(estimator: Given, y: Given, count: int) -> Floats:
    """Finite numbers, one for each row."""
    targets = check_array(
        column_or_1d(y, warn=True),
        dtype=np.float64,
        ensure_2d=False,
        ensure_min_samples=0,
        input_name="y",
        estimator=estimator,
    )
    _check_length(targets, count)
    return np.asarray(targets)


def read_labels(y: Given, count: int) -> AnyArray:
    """Labels of classes, one for each row."""
    labels = np.asarray(column_or_1d(y, warn=True))
    assert_all_finite(labels, input_name="y")
    try:
        check_classification_targets(labels)
        np.unique(labels)
    except TypeError as error:
        raise ValueError(f"y must have labels of one kind, which can be sorted: {error}") from None
    _check_length(labels, count)
    return labels


def two_classes(name: str, labels: Given) -> AnyArray:
    """The classes among labels, sorted; more than two are refused."""
    classes = np.unique(np.asarray(labels))
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. {name} must have two classes, "
            f"got {classes[2]!r} besides {classes[0]!r} and {classes[1]!r}"
        )
    return classes


@contextmanager
def _texts_named(X: Given, but: int | None = None) -> Iterator[None]:
    """Say which column of an array has a text, besides that of the agents, if one is refused."""
    try:
        yield
    except ValueError:
        array = np.asarray(X, dtype=np.object_)
        for column in range(array.shape[1]) if array.ndim == 2 else ():
            text = next(
                (x for x in array[:, column] if isinstance(x, str) and _is_no_number(x)), ""
            )
            if text and column != but:
                raise ValueError(
                    f"X must have numbers in column {column}, got {text!r}; texts are categories "
                    'in a frame, which transformers make after set_output(transform="pandas")'
                ) from None
        raise


def _is_no_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return True
    return False


def _has_agent(estimator: Given) -> bool:
    return estimator.agent is not None


def _column_names(estimator: Given) -> list[str]:
    """Names from the frame that was fitted, or numbers."""
    names = getattr(estimator, "feature_names_in_", range(estimator.n_features_in_))
    return [str(name) for name in names]


def _place(agent: Given, columns: Sequence[str]) -> str:
    """The name of the agents' column, which is named or numbered."""
    if isinstance(agent, str) and agent in columns:
        return agent
    whole = isinstance(agent, numbers.Integral) and not isinstance(agent, bool)
    if whole and 0 <= agent < len(columns):
        return columns[int(agent)]
    raise ValueError(f"agent must be a column of X, named or numbered, got {agent!r}")


def _names(agents: Given, count: int) -> list[Label]:
    """The agents' names, one for each row; None where all rows are one agent's."""
    if agents is None:
        return [None] * count
    names = labels_of(listed(agents))
    missing = next((row for row, name in enumerate(names) if is_missing(name)), None)
    if missing is not None:
        raise ValueError(f"the column of agents must name one in each row, got none in {missing}")
    return names


def _check_length(y: AnyArray, count: int) -> None:
    if len(y) != count:
        raise ValueError(f"y must have {count} entries, one for each row of X, got {len(y)}")
