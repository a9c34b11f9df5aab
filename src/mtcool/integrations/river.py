"""Estimators for River: dictionaries of features in, one of which names the agent."""

from __future__ import annotations

from collections.abc import Hashable
from typing import final

import numpy as np

from mtcool.learn.model import Model, Share
from mtcool.learn.neighbourhoods import Network
from mtcool.learn.reading.values import is_missing
from mtcool.types import Given, Label

try:
    from river import base
except ImportError:
    raise ImportError(
        'mtcool.integrations.river needs River, which is not installed: pip install "mtcool[river]"'
    ) from None

__all__ = ["GraphClassifier", "GraphRegressor"]


@final
class GraphRegressor(base.Regressor):
    """A regression model for each agent of a network; neighbours help each other.

    Features need no scaling. Texts are categories; what is missing may be left out. See
    `mtcool.learn.Model` for what is learned, and `docs/integrations.md` for pipelines.

    Parameters
    ----------
    graph
        A networkx graph whose labels are the agents' names; "complete", where all agents are
        neighbours of each other; "none" or None, where every agent learns alone.
    agent
        The key of the agent's name in the features. Rows without it belong to one agent, whose
        name is None.
    share
        What agents tell their neighbours: "gradients" and models, or "rows" as well.

    Examples
    --------
    >>> model = GraphRegressor("complete", agent="town")
    >>> for day in range(40):
    ...     for town, warmer in (("rome", 6.0), ("milan", 0.0)):
    ...         model.learn_one({"town": town, "sun": day % 7}, 10 + warmer + 2 * (day % 7))
    >>> round(model.predict_one({"town": "rome", "sun": 5}))
    26
    """

    def __init__(
        self, graph: Network = "complete", agent: Hashable = "agent", share: Share = "gradients"
    ) -> None:
        self.graph = graph
        self.agent = agent
        self.share = share
        self._model = Model(graph, task="regression", share=share)

    @property
    def model(self) -> Model:
        """The model of all agents.

        Examples
        --------
        >>> GraphRegressor().model.agents
        ()
        """
        return self._model

    def learn_one(self, x: dict[Hashable, Given], y: base.typing.RegTarget) -> None:
        """Learn from one row: the agent that it names, and its neighbours.

        Parameters
        ----------
        x
            Features by name, with the agent.
        y
            The target.

        Examples
        --------
        >>> model = GraphRegressor()
        >>> model.learn_one({"agent": "rome", "sun": 3}, 20.0)
        >>> model.model.rows("rome")
        1
        """
        name, features = _parts(x, self.agent)
        self._model.learn_one(name, features, y)

    def predict_one(self, x: dict[Hashable, Given]) -> float:
        """Predict the target of one row; the model does not change.

        Parameters
        ----------
        x
            Features by name, with the agent.

        Examples
        --------
        >>> GraphRegressor().predict_one({"agent": "rome", "sun": 3})
        0.0
        """
        return self._model.predict_one(*_parts(x, self.agent))


@final
class GraphClassifier(base.Classifier):
    """A model of two classes for each agent of a network; neighbours help each other.

    The labels may be truth values, texts or numbers. The first label seen is class 0 of the model
    and the second is class 1; a third is refused. Truth values are known to be two: once one is
    seen, False is class 0 and True is class 1. Other labels are predicted once they are seen: after
    rows of one label only, that label has probability 1.

    Parameters
    ----------
    graph
        A networkx graph whose labels are the agents' names; "complete", where all agents are
        neighbours of each other; "none" or None, where every agent learns alone.
    agent
        The key of the agent's name in the features. Rows without it belong to one agent, whose
        name is None.
    share
        What agents tell their neighbours: "gradients" and models, or "rows" as well.

    Examples
    --------
    >>> model = GraphClassifier("complete", agent="town")
    >>> for day in range(40):
    ...     for town in ("rome", "milan"):
    ...         model.learn_one({"town": town, "sun": day % 7}, "dry" if day % 7 > 3 else "wet")
    >>> model.predict_one({"town": "rome", "sun": 6})
    'dry'
    """

    def __init__(
        self, graph: Network = "complete", agent: Hashable = "agent", share: Share = "gradients"
    ) -> None:
        self.graph = graph
        self.agent = agent
        self.share = share
        self._model = Model(graph, task="classification", share=share)
        self._labels: tuple[base.typing.ClfTarget, ...] = ()

    @property
    def model(self) -> Model:
        """The model of all agents; its targets are the classes 0 and 1.

        Examples
        --------
        >>> GraphClassifier().model.task
        'classification'
        """
        return self._model

    def learn_one(self, x: dict[Hashable, Given], y: base.typing.ClfTarget) -> None:
        """Learn from one row: the agent that it names, and its neighbours.

        Parameters
        ----------
        x
            Features by name, with the agent.
        y
            The label.

        Examples
        --------
        >>> model = GraphClassifier()
        >>> model.learn_one({"agent": "rome", "sun": 3}, "dry")
        >>> model.predict_one({"agent": "rome", "sun": 4})
        'dry'
        """
        labels = _labels_with(self._labels, y)
        name, features = _parts(x, self.agent)
        self._model.learn_one(name, features, labels.index(y))
        self._labels = labels

    def predict_proba_one(
        self, x: dict[Hashable, Given], **kwargs: Given
    ) -> dict[base.typing.ClfTarget, float]:
        """Predict the probability of each label; the model does not change.

        Parameters
        ----------
        x
            Features by name, with the agent.
        kwargs
            There are none: River's signature.

        Returns
        -------
        Probabilities by label. Before any label is seen, False and True with 0.5 each.

        Examples
        --------
        >>> GraphClassifier().predict_proba_one({"agent": "rome", "sun": 3})
        {False: 0.5, True: 0.5}
        """
        if kwargs:
            raise ValueError(f"kwargs must be empty, got {kwargs!r}")
        name, features = _parts(x, self.agent)
        second = self._model.predict_one(name, features)
        if len(self._labels) == 1:
            return {self._labels[0]: 1.0}
        no, yes = self._labels or (False, True)
        return {no: 1.0 - second, yes: second}

    def predict_one(
        self, x: dict[Hashable, Given], **kwargs: Given
    ) -> base.typing.ClfTarget | None:
        """Predict the label of one row; the model does not change.

        Parameters
        ----------
        x
            Features by name, with the agent.
        kwargs
            There are none: River's signature.

        Returns
        -------
        The more probable label; None before any is seen.

        Examples
        --------
        >>> GraphClassifier().predict_one({"agent": "rome", "sun": 3}) is None
        True
        """
        probability = self.predict_proba_one(x, **kwargs)
        return max(probability, key=probability.__getitem__) if self._labels else None


def _parts(x: dict[Hashable, Given], agent: Hashable) -> tuple[Label, dict[str, Given]]:
    """The agent's name and the features without it."""
    name = x.get(agent)
    if name is not None and is_missing(name):
        raise ValueError(f"{agent!r} must name an agent, got {name!r}")
    features = {str(key): value for key, value in x.items() if key != agent}
    if len(features) + (agent in x) < len(x):
        raise ValueError(f"x must have features with different names, got {list(x)!r}")
    return name, features


def _labels_with(known: tuple[Given, ...], y: Given) -> tuple[Given, ...]:
    """The labels with a new one among them."""
    label = y.item() if isinstance(y, np.generic) else y
    if not isinstance(label, bool | int | str | float) or is_missing(label):
        raise ValueError(f"y must be a truth value, a text or a number, got {y!r}")
    if label in known:
        return known
    if len(known) == 2:
        raise ValueError(
            f"y must be one of the two classes {known[0]!r} and {known[1]!r}, got {y!r}"
        )
    if not known and isinstance(label, bool):
        return (False, True)
    return (*known, label)
