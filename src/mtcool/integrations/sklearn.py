"""Estimators for scikit-learn: tables in, one column of which may name the agent of each row."""

from __future__ import annotations

import copy
from typing import Self, TypeVar, final

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError:
    raise ImportError(
        "mtcool.integrations.sklearn needs scikit-learn, which is not installed: "
        'pip install "mtcool[sklearn]"'
    ) from None

from mtcool.integrations.sklearn_input import read_labels, read_rows, read_targets, two_classes
from mtcool.learn.model import Model, Share, Task
from mtcool.learn.neighbourhoods import Network
from mtcool.types import AnyArray, Floats, Given

__all__ = ["GraphClassifier", "GraphRegressor"]

Estimator = TypeVar("Estimator", "GraphRegressor", "GraphClassifier")


@final
class GraphRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regression model for each agent of a network; neighbours help each other.

    It learns from the rows one after the other, in the order in which they stand. Features need no
    scaling; NaN stands for what is unknown; columns of text in a frame are categories. See
    `mtcool.learn.Model` for what is learned.

    Parameters
    ----------
    graph
        A networkx graph whose labels are the agents' names; "complete", where all agents are
        neighbours of each other; "none" or None, where every agent learns alone.
    agent
        The column of X that names the agent of each row: its name, or its number from 0. With None
        all rows belong to one agent.
    share
        What agents tell their neighbours: "gradients" and models, or "rows" as well.

    Attributes
    ----------
    model_ : Model
        The model of all agents.
    n_features_in_ : int
        The number of columns of X, with that of the agents.
    feature_names_in_ : ndarray
        Their names, if X was a frame with names.

    Examples
    --------
    >>> import pandas as pd
    >>> sun = [day % 7 for day in range(100) for _ in range(2)]
    >>> days = pd.DataFrame({"town": ["rome", "milan"] * 100, "sun": sun})
    >>> degrees = 10 + 2 * days["sun"] + 6 * (days["town"] == "rome")
    >>> model = GraphRegressor("complete", agent="town").fit(days, degrees)
    >>> model.predict(pd.DataFrame({"town": ["rome", "milan"], "sun": [5, 5]})).round()
    array([26., 20.])
    """

    def __init__(
        self,
        graph: Network = "complete",
        *,
        agent: str | int | None = None,
        share: Share = "gradients",
    ) -> None:
        self.graph = graph
        self.agent = agent
        self.share = share

    def fit(self, X: Given, y: Given) -> Self:
        """Learn from rows, and from nothing before them.

        Parameters
        ----------
        X
            An array, or a frame of pandas, polars or pyarrow.
        y
            The targets.

        Examples
        --------
        >>> GraphRegressor().fit([[1.0], [2.0]], [3.0, 3.0]).predict([[1.5]])
        array([3.])
        """
        self.__dict__ = _unlearned(self).partial_fit(X, y).__dict__
        return self

    def partial_fit(self, X: Given, y: Given) -> Self:
        """Learn from further rows.

        Parameters
        ----------
        X
            An array, or a frame, with the columns that it had before.
        y
            The targets.

        Examples
        --------
        >>> model = GraphRegressor().partial_fit([[1.0]], [3.0]).partial_fit([[2.0]], [3.0])
        >>> model.predict([[1.5]])
        array([3.])
        """
        model = _model_of(self, "regression")
        agents, columns = read_rows(self, X, reset=not _is_fitted(self))
        model.learn_many(agents, columns, read_targets(self, y, len(agents)))
        self.model_ = model
        return self

    def predict(self, X: Given) -> Floats:
        """Predict the targets of rows; the model does not change.

        Parameters
        ----------
        X
            An array, or a frame, with the columns that it had before.

        Examples
        --------
        >>> GraphRegressor().fit([[1.0]], [3.0]).predict([[1.0], [2.0]])
        array([3., 3.])
        """
        check_is_fitted(self, "model_")
        return self.model_.predict_many(*read_rows(self, X, reset=False))

    def __sklearn_tags__(self) -> Given:
        return _tags(super().__sklearn_tags__())


@final
class GraphClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A model of two classes for each agent of a network; neighbours help each other.

    It learns from the rows one after the other, in the order in which they stand. Features need no
    scaling; NaN stands for what is unknown; columns of text in a frame are categories. See
    `mtcool.learn.Model` for what is learned.

    Parameters
    ----------
    graph
        A networkx graph whose labels are the agents' names; "complete", where all agents are
        neighbours of each other; "none" or None, where every agent learns alone.
    agent
        The column of X that names the agent of each row: its name, or its number from 0. With None
        all rows belong to one agent.
    share
        What agents tell their neighbours: "gradients" and models, or "rows" as well.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted: two, or one if there is no other in the data.
    model_ : Model
        The model of all agents; its targets are the places of labels in `classes_`.
    n_features_in_ : int
        The number of columns of X, with that of the agents.
    feature_names_in_ : ndarray
        Their names, if X was a frame with names.

    Examples
    --------
    >>> import pandas as pd
    >>> sun = [day % 7 for day in range(100) for _ in range(2)]
    >>> days = pd.DataFrame({"town": ["rome", "milan"] * 100, "sun": sun})
    >>> weather = ["dry" if sun > 3 else "wet" for sun in days["sun"]]
    >>> model = GraphClassifier("complete", agent="town").fit(days, weather)
    >>> model.predict(pd.DataFrame({"town": ["rome", "milan"], "sun": [6, 0]}))
    array(['dry', 'wet'], dtype='<U3')
    """

    def __init__(
        self,
        graph: Network = "complete",
        *,
        agent: str | int | None = None,
        share: Share = "gradients",
    ) -> None:
        self.graph = graph
        self.agent = agent
        self.share = share

    def fit(self, X: Given, y: Given) -> Self:
        """Learn from rows, and from nothing before them.

        Parameters
        ----------
        X
            An array, or a frame of pandas, polars or pyarrow.
        y
            The labels, of at most two classes.

        Examples
        --------
        >>> GraphClassifier().fit([[1.0], [2.0]], ["no", "yes"]).classes_
        array(['no', 'yes'], dtype='<U3')
        """
        self.__dict__ = _unlearned(self)._learn(X, y, None).__dict__
        return self

    def partial_fit(self, X: Given, y: Given, classes: Given = None) -> Self:
        """Learn from further rows.

        Parameters
        ----------
        X
            An array, or a frame, with the columns that it had before.
        y
            The labels.
        classes
            All labels that there will be; needed in the first call, unless `fit` came before.

        Examples
        --------
        >>> model = GraphClassifier().partial_fit([[1.0]], ["no"], classes=["no", "yes"])
        >>> model.partial_fit([[2.0]], ["yes"]).classes_
        array(['no', 'yes'], dtype='<U3')
        """
        fitted = _is_fitted(self)
        if classes is None and not fitted:
            raise ValueError("classes must be given in the first call of partial_fit, got None")
        known = self.classes_ if classes is None else two_classes("classes", classes)
        if fitted and not np.array_equal(known, self.classes_):
            raise ValueError(f"classes must be {list(self.classes_)} as before, got {list(known)}")
        return self._learn(X, y, known)

    def predict_proba(self, X: Given) -> Floats:
        """Predict the probabilities of the classes; the model does not change.

        Parameters
        ----------
        X
            An array, or a frame, with the columns that it had before.

        Returns
        -------
        A row for each row of X, with a column for each of `classes_`.

        Examples
        --------
        >>> GraphClassifier().fit([[1.0], [1.0]], [0, 1]).predict_proba([[1.0]]).shape
        (1, 2)
        """
        check_is_fitted(self, "model_")
        second = self.model_.predict_many(*read_rows(self, X, reset=False))
        if len(self.classes_) == 1:
            return np.ones((len(second), 1))
        return np.stack([1.0 - second, second], axis=1)

    def predict(self, X: Given) -> AnyArray:
        """Predict the labels of rows; the model does not change.

        Parameters
        ----------
        X
            An array, or a frame, with the columns that it had before.

        Examples
        --------
        >>> GraphClassifier().fit([[1.0], [2.0]], ["yes", "yes"]).predict([[3.0]])
        array(['yes'], dtype='<U3')
        """
        probability = self.predict_proba(X)
        labels: AnyArray = self.classes_[probability.argmax(axis=1)]
        return labels

    def __sklearn_tags__(self) -> Given:
        tags = _tags(super().__sklearn_tags__())
        tags.classifier_tags.multi_class = False
        return tags

    def _learn(self, X: Given, y: Given, known: AnyArray | None) -> Self:
        model = _model_of(self, "classification")
        agents, columns = read_rows(self, X, reset=not _is_fitted(self))
        labels = read_labels(y, len(agents))
        classes = two_classes("y", labels) if known is None else known
        strange = np.setdiff1d(labels, classes)
        if len(strange):
            raise ValueError(f"y must hold labels of {list(classes)}, got {strange[0]!r}")
        model.learn_many(agents, columns, np.searchsorted(classes, labels).astype(np.float64))
        self.model_, self.classes_ = model, classes
        return self


def _is_fitted(estimator: Given) -> bool:
    return hasattr(estimator, "model_")


def _model_of(estimator: Given, task: Task) -> Model:
    """The model so far, or a new one."""
    if _is_fitted(estimator):
        model: Model = estimator.model_
        return model
    return Model(estimator.graph, task=task, share=estimator.share)


def _unlearned(estimator: Estimator) -> Estimator:
    """A copy with the same parameters that knows nothing; refused input cannot spoil the first."""
    fresh = copy.copy(estimator)
    for name in [name for name in vars(fresh) if name.endswith("_")]:
        delattr(fresh, name)
    return fresh


def _tags(tags: Given) -> Given:
    tags.input_tags.allow_nan = True
    return tags
