"""The learner for people: rows of many agents in, predictions out, nothing to tune."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtcool import validation
from mtcool.learn.agent import PanelAgent, cut
from mtcool.learn.capacity import first_panel, seated, widened, writeable
from mtcool.learn.checks import check_targets, check_within, integers, target_of, targets_of
from mtcool.learn.frames import listed
from mtcool.learn.join import put_together
from mtcool.learn.names import check_name, labels_of
from mtcool.learn.neighbourhoods import MOST_COMPLETE, Neighbourhoods, Network
from mtcool.learn.reading.encoding import Encoder
from mtcool.learn.rows import row_of, rows_of
from mtcool.learn.single import OneRow
from mtcool.learn.split_at_joins import stretches
from mtcool.learn.stored_predictions import checked_said, nothing_said
from mtcool.learn.traffic import MessageCount
from mtcool.learners.panel.fields import ROWS
from mtcool.learners.panel.growth import padded
from mtcool.learners.panel.play import play
from mtcool.locks import Turn
from mtcool.types import Floats, Given, Integers, Label

Task: TypeAlias = Literal["regression", "classification"]
Share: TypeAlias = Literal["gradients", "rows"]
TASKS: tuple[Task, ...] = ("regression", "classification")
SHARES: tuple[Share, ...] = ("gradients", "rows")
MANY = (
    f"more than {MOST_COMPLETE} agents are all neighbours of each other, which makes every row "
    "slow: give a graph that says who talks to whom (mtcool.learn.graph_from makes one of "
    "coordinates), or graph='none', where every agent learns alone"
)


class Played(NamedTuple):
    """What became of rows that were played; NaN where a row was not predicted.

    Examples
    --------
    >>> Played(np.ones(1), np.array([0.5]), np.array([False]), np.ones((1, 11))).alone
    array([0.5])
    """

    prediction: Floats
    """Predictions; of the class 1, its probability."""
    alone: Floats
    """What filters and ridge of the same kind predict from the rows of the agent by itself."""
    cold: NDArray[np.bool_]
    """Whether no target was known in the neighbourhood of the agent."""
    said: Floats
    """All that was said of each row: for a later call that learns from it."""


@final
class Model:
    """A model for each of many agents, which learn from their own rows and from their neighbours.

    There is nothing to tune: features may have any scale, targets any offset, and both may drift.
    Sharing never costs an agent more than a stated amount against learning alone
    (`docs/learning.md`). Threads may share a model: their calls take turns, in any order.

    Parameters
    ----------
    graph
        A networkx graph or an `mtcool.Graph`, whose labels are the agents' names; "complete", where
        all agents are neighbours of each other; "none" or None, where every agent learns alone.
        Agents that the graph does not have are added when they are first seen, and stand alone.
        A row of a complete network costs time in proportion to the number of agents, and its memory
        grows with the square of it: with more than 300 agents a warning says so.
    task
        "regression" (squared error) or "classification" (log loss; targets 0 and 1).
    share
        What agents tell their neighbours: "gradients" and models, while rows stay where they are;
        or "rows", which adds sums of products of their rows.

    Examples
    --------
    >>> import networkx as nx
    >>> model = Model(nx.path_graph(["rome", "milan", "turin"]))
    >>> for day in range(40):
    ...     for town, warmer in (("rome", 6.0), ("milan", 0.0)):
    ...         x = {"sun": day % 7, "wind": "north" if day % 3 else "south"}
    ...         model.learn_one(town, x, 10 + warmer + 2 * x["sun"])
    >>> round(model.predict_one("rome", {"sun": 5, "wind": "north"}))
    26
    >>> round(model.predict_one("turin", {"sun": 5, "wind": "north"}))  # knows its neighbour
    21
    """

    def __init__(
        self, graph: Network = "complete", *, task: Task = "regression", share: Share = "gradients"
    ) -> None:
        self._turn = Turn("model")
        self.task: Task = validation.one_of("task", task, TASKS)
        self.share: Share = validation.one_of("share", share, SHARES)
        self.encoder = Encoder()
        """Turns named features into numbers."""
        self._places = Neighbourhoods(graph)
        self._panel = first_panel(
            self._places, logistic=task == "classification", rows=share == "rows"
        )
        self._features = 0  # without spare columns of the block
        self._traffic = MessageCount()
        self._one = OneRow()

    def __getstate__(self) -> dict[str, Given]:
        with self._turn.lock:  # a copy, which other threads do not change while it is written
            own = {name: value for name, value in vars(self).items() if name != "_turn"}
            return copy.deepcopy(own)

    def __setstate__(self, state: dict[str, Given]) -> None:
        self.__dict__.update(state, _one=OneRow(), _turn=Turn("model"))
        self._panel = writeable(self._panel)

    def __repr__(self) -> str:
        return f"Model({len(self._places.position)} agents, {self.task}, share={self.share!r})"

    @property
    def agents(self) -> tuple[Label, ...]:
        """The agents' names, in the order of their indices.

        Examples
        --------
        >>> Model(None).agents
        ()
        """
        return self._places.labels

    @property
    def messages(self) -> int:
        """Messages that the agents would have sent to each other from machines of their own.

        Examples
        --------
        >>> import mtcool
        >>> model = Model(mtcool.graphs.ring(3))
        >>> model.learn_one(0, [1.0], 2.0)  # two requests, two answers, two lessons
        >>> model.messages
        6
        """
        return self._traffic.messages

    @property
    def message_bytes(self) -> int:
        """Bytes of these messages, as `mtcool.agents` encodes them.

        Examples
        --------
        >>> Model(None).message_bytes
        0
        """
        return self._traffic.message_bytes

    def index(self, agents: Given) -> Integers:
        """The indices of agents; those that are not known yet are added.

        Parameters
        ----------
        agents
            Names: a sequence, an array, or a column of a frame.

        Examples
        --------
        >>> Model(None).index(["rome", "milan", "rome"])
        array([0, 1, 0])
        """
        names = labels_of(listed(agents))
        with self._turn.lock:
            new = self._places.unknown(names)
            if new:
                self._places.add(new)
                self._panel = seated(self._panel, self._places)
            position = self._places.position
            return np.array([position[name] for name in names], dtype=np.int64)

    def join(self, agent: Label, neighbours: Sequence[Label]) -> None:
        """Add an agent, or neighbours of one; it starts from what they know.

        Parameters
        ----------
        agent
            Its name.
        neighbours
            Names of agents; unknown ones are added.

        Examples
        --------
        >>> model = Model(None)
        >>> model.learn_one("rome", [1.0], 20.0)
        >>> model.join("milan", ["rome"])
        >>> model.predict_one("milan", [1.0])
        20.0
        """
        check_name("agent", agent)
        names = labels_of(neighbours, "neighbours")
        if agent in names:
            raise ValueError(f"neighbours must be other agents, got {agent!r} among them")
        with self._turn.lock:
            self._places.add([agent, *names])
            self._places.connect(agent, names)
            self._panel = seated(self._panel, self._places, anew=not self._places.complete)

    def expect_features(self, count: int) -> None:
        """Make room for so many features in plain rows of numbers, before the first row has come.

        Parameters
        ----------
        count
            How many numbers a row will have, at least as many as are known.

        Examples
        --------
        >>> model = Model(None)
        >>> model.join("rome", [])
        >>> model.expect_features(2)
        >>> model.agent("rome").predict([1.0, 2.0], {}).score
        0.0
        """
        wanted = validation.count("count", count, least=max(1, self._features))
        with self._turn.lock:
            self._panel = widened(self._panel, self._features, wanted)
            self._features = wanted

    def predict_one(self, agent: Label, x: Mapping[str, object] | ArrayLike) -> float:
        """Predict the target of one row; the model does not change.

        Parameters
        ----------
        agent
            Its name. One that is not known yet predicts as it would if it joined now.
        x
            Features by name (numbers, truth values, texts), or a sequence of numbers; NaN or None
            stands for what is unknown.

        Returns
        -------
        The prediction; in classification the probability of the class 1. Before any target was
        seen it is 0, or 0.5.

        Examples
        --------
        >>> Model(task="classification").predict_one("rome", {"age": 31})
        0.5
        """
        check_name("agent", agent)
        with self._turn.lock:
            row, stranger = row_of(self.encoder, x, grow=False), len(self._places.position)
            who = self._places.position.get(agent, stranger)
            score = self._one.predict(self._panel, who, row[: self._features])
            if who < stranger:
                self._measured().count_one(self._panel, who, learned=False)
            return float(_probability(score)) if self.task == "classification" else score

    def learn_one(self, agent: Label, x: Mapping[str, object] | ArrayLike, y: float) -> None:
        """Learn from one row: the agent and its neighbours.

        Parameters
        ----------
        agent
            Its name: a number, a string or a tuple of them; a new one is added.
        x
            Features by name (numbers, truth values, texts), or a sequence of numbers; NaN or None
            stands for what is unknown.
        y
            The target: a number, or 0 or 1 in classification.

        Examples
        --------
        >>> model = Model(None)
        >>> model.learn_one("rome", {"age": 31}, 7.5)
        >>> model.predict_one("rome", {"age": 40})
        7.5
        """
        target = target_of(y, classes=self.task == "classification")
        check_name("agent", agent)
        with self._turn.lock:
            row, who = row_of(self.encoder, x, grow=True), self._places.position.get(agent)
            if who is None or len(row) > self._features:
                self._learn([agent], row[None, :], np.array([target]))
            else:
                self._one.learn(self._panel, who, row, target)
                self._measured().count_one(self._panel, who, learned=True)

    def predict_many(self, agents: Given, features: Given) -> Floats:
        """Predict the targets of many rows; the model does not change.

        Parameters
        ----------
        agents
            A name for each row.
        features
            A matrix of numbers; a frame of pandas, polars or pyarrow; or columns by name.

        Examples
        --------
        >>> Model(None).predict_many(["rome", "milan"], [[1.0], [2.0]])
        array([0., 0.])
        """
        names = labels_of(listed(agents))
        with self._turn.lock:
            rows = rows_of(self.encoder, features, len(names), grow=False)
            position, stranger = self._places.position, len(self._places.position)
            who = np.array([position.get(name, stranger) for name in names], dtype=np.int64)
            events, known = np.arange(len(rows)), rows[:, : self._features]
            said = nothing_said(len(rows))
            played = self._run(who, known, np.zeros(len(rows)), events, said)
            self._measured().count(self._panel, who, events[who < stranger])
            return played.prediction

    def learn_many(self, agents: Given, features: Given, y: Given) -> None:
        """Learn from many rows, one after the other.

        Parameters
        ----------
        agents
            A name for each row.
        features
            A matrix of numbers; a frame of pandas, polars or pyarrow; or columns by name.
        y
            The targets.

        Examples
        --------
        >>> model = Model("complete")
        >>> model.learn_many(["rome", "milan"], [[1.0], [2.0]], [3.0, 3.0])
        >>> model.predict_one("turin", [1.5])
        3.0
        """
        names = labels_of(listed(agents))
        targets = targets_of(y, len(names), classes=self.task == "classification")
        with self._turn.lock:
            rows = rows_of(self.encoder, features, len(names), grow=True)
            self._learn(names, rows, targets)

    def play(
        self, agents: Given, features: Given, y: Given, events: Given, said: Given = None
    ) -> Played:
        """Predict and learn in a given order: progressive validation.

        Parameters
        ----------
        agents
            An index for each row (`index`).
        features
            Rows of numbers; NaN stands for what is unknown. There may be more columns than before.
        y
            The targets; those of rows that are only predicted do not matter.
        events
            e >= 0 predicts row e, e < 0 learns from row ~e (`mtcool.streams.progressive_order`).
        said
            What earlier calls said of these rows (`Played.said`), NaN for those not predicted yet;
            None if none was. What sharing has won or lost is counted with it.

        Examples
        --------
        >>> model = Model(None)
        >>> who = model.index(["rome", "rome"])
        >>> model.play(who, [[1.0], [2.0]], [5.0, 5.0], [0, ~0, 1, ~1]).prediction
        array([0., 5.])

        A target that comes late:

        >>> asked = model.play(who[:1], [[3.0]], [0.0], [0])
        >>> model.play(who[:1], [[3.0]], [6.0], [~0], said=asked.said).prediction
        array([nan])
        """
        rows = np.asarray(features, dtype=np.float64)
        if rows.ndim != 2:
            raise ValueError(f"features must be a matrix, got shape {rows.shape}")
        if np.isinf(rows).any():
            raise ValueError("features must be finite or NaN, got an infinite one")
        who = integers("agents", agents)
        order = integers("events", events)
        count = len(rows)
        check_within("agents", who, 0, len(self._places.position))
        check_within("events", order, -count, count)
        target = np.asarray(y, dtype=np.float64)
        if who.shape != (count,) or target.shape != (count,):
            raise ValueError(
                f"agents and y must have {count} entries, got {who.shape} and {target.shape}"
            )
        check_targets(target[~order[order < 0]], classes=self.task == "classification")
        scores = nothing_said(count) if said is None else checked_said(said, count)
        with self._turn.lock:
            self._widen(rows.shape[1])
            played = self._run(who, rows, target, order, scores)
            self._measured().count(self._panel, who, order)
            return played

    def play_joining(
        self,
        agents: Given,
        features: Floats,
        y: Floats,
        events: Integers,
        said: Floats | None = None,
    ) -> Played:
        """Do as `play` does, with agents by name that join when their first event comes.

        Parameters
        ----------
        agents
            A name for each row.
        features, y, events, said
            As for `play`.

        Examples
        --------
        >>> model = Model("complete")
        >>> rows, events = np.ones((2, 1)), np.array([0, ~0, 1, ~1])
        >>> model.play_joining(["rome", "milan"], rows, np.array([5.0, 5.0]), events).prediction
        array([0., 5.])
        """
        names = labels_of(listed(agents))
        with self._turn.lock:
            if not self._places.complete or not self._places.unknown(names):
                return self.play(self.index(names), features, y, events, said)
            count = len(names)
            scores = nothing_said(count) if said is None else checked_said(said, count)
            learned, alone = np.full((2, count), np.nan)
            whole = Played(learned, alone, np.zeros(count, np.bool_), scores)
            for joining, rows, order in stretches(names, events, self._places.position):
                self.index(joining)
                who = self.index([names[row] for row in rows])
                played = self.play(who, features[rows], y[rows], order, scores[rows])
                predicted = order[order >= 0]
                for all_rows, some in zip(whole, played, strict=True):
                    all_rows[rows[predicted]] = some[predicted]
            return whole

    def rows(self, agent: Label) -> int:
        """The number of rows that an agent has learned from.

        Parameters
        ----------
        agent
            Its name.

        Examples
        --------
        >>> model = Model(None)
        >>> model.learn_one("rome", [1.0], 2.0)
        >>> model.rows("rome")
        1
        """
        with self._turn.lock:
            if agent not in self._places.position:
                raise ValueError(
                    f"agent must be one of {len(self.agents)} known ones, got {agent!r}"
                )
            return int(self._panel.number[self._places.position[agent], ROWS])

    def agent(self, name: Label) -> PanelAgent:
        """Cut one agent out, with a copy of what it knows: messages in, messages out.

        Parameters
        ----------
        name
            Its name.

        Examples
        --------
        >>> import mtcool
        >>> list(Model(mtcool.graphs.star(3)).agent(2).requests())
        [0]
        """
        with self._turn.lock:
            if name not in self._places.position:
                raise ValueError(
                    f"name must be one of {len(self.agents)} known agents, got {name!r}"
                )
            place = self._places.position[name]
            return cut(self._panel, self._features, place, name, self.agents)

    @classmethod
    def from_agents(cls, agents: Iterable[PanelAgent]) -> Model:
        """Put agents back into one model, which goes on as they would, to the bit.

        Its messages count from here on, and its encoder is a new one: agents know features by
        number. Agents that join later stand alone, or have the neighbours that `join` gives them.

        Parameters
        ----------
        agents
            All agents of a network; their order is that of the model's indices.

        Examples
        --------
        >>> import mtcool
        >>> model = Model(mtcool.graphs.star(3))
        >>> model.learn_one(0, [1.0], 5.0)
        >>> twin = Model.from_agents(map(model.agent, model.agents))
        >>> twin.predict_one(1, [1.0]) == model.predict_one(1, [1.0])
        True
        """
        places, panel = put_together(agents)
        task: Task = "classification" if panel.logistic else "regression"
        model = cls(None, task=task, share="rows" if panel.rows else "gradients")
        model._places, model._panel = places, panel
        model._features = panel.vector.shape[2] - 1
        return model

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file; `mtcool.learn.load` goes on with it to the bit.

        Parameters
        ----------
        path
            The file to write; one that is there is replaced.

        Examples
        --------
        >>> import tempfile
        >>> from mtcool.learn import load
        >>> model = Model(None)
        >>> model.learn_one("rome", [1.0], 2.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(folder + "/model.npz")
        ...     load(folder + "/model.npz").predict_one("rome", [1.0])
        2.0
        """
        from mtcool.learn.saved_models import write

        with self._turn.lock:
            write(self, path)

    def _run(
        self, who: Integers, rows: Floats, target: Floats, order: Integers, said: Floats
    ) -> Played:
        """Play events that were checked."""
        out = np.full((len(rows), 3), np.nan)
        width = self._panel.vector.shape[2] - 1
        # A copy: columns of tables and read-only arrays would be compiled for once more.
        play(self._panel, who, padded(rows, width), target.copy(), order, said, out)
        score, alone = out[:, 0], out[:, 1]
        if self.task == "classification":
            score, alone = _probability(score), _probability(alone)
        return Played(score.copy(), alone.copy(), out[:, 2] > 0.0, said)

    def _widen(self, features: int) -> None:
        if features > self._features:
            self._panel = widened(self._panel, self._features, features)
            self._features = features

    def _measured(self) -> MessageCount:
        """The count of messages, which knows what they hold now."""
        self._traffic.measure(self._panel, self._features, self._places)
        return self._traffic

    def _learn(self, names: Sequence[Label], rows: Floats, targets: Floats) -> None:
        before = len(self._places.position)
        self.play_joining(names, rows, targets, ~np.arange(len(rows)))
        if self._places.complete and before <= MOST_COMPLETE < len(self._places.position):
            warnings.warn(MANY, stacklevel=3)


def _probability(score: Given) -> Given:
    """Of the class 1, from its log-odds."""
    return 1.0 / (1.0 + np.exp(-score))
