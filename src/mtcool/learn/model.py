"""The learner for people: rows of many agents in, predictions out, nothing to tune."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtcool import validation
from mtcool.learn.agent import PanelAgent, cut
from mtcool.learn.frames import columns_of, listed
from mtcool.learn.joining import stretches
from mtcool.learn.neighbourhoods import Neighbourhoods, Network, labels_of
from mtcool.learn.reading.encoding import Encoder
from mtcool.learn.said import checked_said, nothing_said
from mtcool.learn.traffic import Traffic
from mtcool.learners.panel.constants import OVERFLOW
from mtcool.learners.panel.fields import ROWS
from mtcool.learners.panel.growth import enlarged, padded
from mtcool.learners.panel.play import play
from mtcool.learners.panel.state import make_panel, make_scratch
from mtcool.types import Floats, Given, Integers, Label

Task: TypeAlias = Literal["regression", "classification"]
Share: TypeAlias = Literal["gradients", "rows"]
TASKS: tuple[Task, ...] = ("regression", "classification")
SHARES: tuple[Share, ...] = ("gradients", "rows")
FIRST_ROOM = 8


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
    (`docs/learning.md`).

    Parameters
    ----------
    graph
        A networkx graph or an `mtcool.Graph`, whose labels are the agents' names; "complete", where
        all agents are neighbours of each other; or None, where every agent learns alone. Agents
        that the graph does not have are added when they are first seen, and stand alone.
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
        self, graph: Network = None, *, task: Task = "regression", share: Share = "gradients"
    ) -> None:
        self.task: Task = validation.one_of("task", task, TASKS)
        self.share: Share = validation.one_of("share", share, SHARES)
        self.encoder = Encoder()
        """Turns named features into numbers."""
        self._places = Neighbourhoods(graph)
        self._room = max(FIRST_ROOM, len(self._places.position))
        ptr, idx = self._places.entries(self._room)
        self._panel = make_panel(
            ptr, idx, 0, logistic=task == "classification", rows=share == "rows"
        )
        self._traffic = Traffic()

    def __setstate__(self, state: dict[str, Given]) -> None:
        # joblib can load arrays as views of a file that must not be written to.
        self.__dict__.update(state)
        panel = self._panel
        fixed = [name for name in panel._fields if _is_read_only(getattr(panel, name))]
        own: dict[str, Given] = {name: np.array(getattr(panel, name)) for name in fixed}
        self._panel = panel._replace(**own, work=make_scratch(panel.ptr, panel.vector.shape[2]))

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
        """Messages that the agents have sent to each other.

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
        new = self._places.unknown(names)
        if new:
            self._places.add(new)
            self._grow(self._panel.vector.shape[2] - 1, rebuild=self._places.complete)
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
        names = labels_of(neighbours)
        if agent in names:
            raise ValueError(f"neighbours must be other agents, got {agent!r} among them")
        self._places.add([agent, *names])
        self._places.connect(agent, names)
        self._grow(self._panel.vector.shape[2] - 1, rebuild=True)

    def predict_one(self, agent: Label, x: Mapping[str, object] | ArrayLike) -> float:
        """Predict the target of one row; the model does not change.

        Parameters
        ----------
        agent
            Its name. One that is not known yet predicts as it would if it joined now.
        x
            Features by name (numbers, truth values, texts), or a sequence of numbers.

        Returns
        -------
        The prediction; in classification the probability of the class 1. Before any target was
        seen it is 0, or 0.5.

        Examples
        --------
        >>> Model(task="classification").predict_one("rome", {"age": 31})
        0.5
        """
        return float(self.predict_many([agent], self._row_of(x, grow=False))[0])

    def learn_one(self, agent: Label, x: Mapping[str, object] | ArrayLike, y: float) -> None:
        """Learn from one row: the agent and its neighbours.

        Parameters
        ----------
        agent
            Its name; a new one is added.
        x
            Features by name (numbers, truth values, texts), or a sequence of numbers.
        y
            The target: a number, or 0 or 1 in classification.

        Examples
        --------
        >>> model = Model(None)
        >>> model.learn_one("rome", {"age": 31}, 7.5)
        >>> model.predict_one("rome", {"age": 40})
        7.5
        """
        target = self._targets_of([y], 1)
        labels_of([agent])
        self._learn([agent], self._row_of(x, grow=True), target)

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
        rows = self._rows_of(features, len(names), grow=False)
        if self._places.unknown(names):
            return copy.deepcopy(self)._joined(names).predict_many(names, rows)
        index = self.index(names)
        return self.play(index, rows, np.zeros(len(rows)), np.arange(len(rows))).prediction

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
        targets = self._targets_of(y, len(names))
        rows = self._rows_of(features, len(names), grow=True)
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
        who = _integers("agents", agents)
        order = _integers("events", events)
        count = len(rows)
        _check_within("agents", who, 0, len(self._places.position))
        _check_within("events", order, -count, count)
        target = np.asarray(y, dtype=np.float64)
        if who.shape != (count,) or target.shape != (count,):
            raise ValueError(
                f"agents and y must have {count} entries, got {who.shape} and {target.shape}"
            )
        self._check_targets(target[~order[order < 0]])
        scores = nothing_said(count) if said is None else checked_said(said, count)
        self._grow(rows.shape[1])
        out = np.full((count, 3), np.nan)
        width = self._panel.vector.shape[2] - 1
        play(self._panel, who, padded(rows, width), target, order, scores, out)
        self._traffic.count(self._panel, self._places, who, order)
        score, alone = out[:, 0], out[:, 1]
        if self.task == "classification":
            score, alone = 1.0 / (1.0 + np.exp(-score)), 1.0 / (1.0 + np.exp(-alone))
        return Played(score.copy(), alone.copy(), out[:, 2] > 0.0, scores)

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
        if agent not in self._places.position:
            raise ValueError(f"agent must be one of {len(self.agents)} known ones, got {agent!r}")
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
        if name not in self._places.position:
            raise ValueError(f"name must be one of {len(self.agents)} known agents, got {name!r}")
        return cut(self._panel, self._places.position[name], name, self.agents)

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

        write(self, path)

    def _joined(self, names: Sequence[Label]) -> Model:
        self.index(names)
        return self

    def _learn(self, names: Sequence[Label], rows: Floats, targets: Floats) -> None:
        self.play_joining(names, rows, targets, ~np.arange(len(rows)))

    def _row_of(self, x: Mapping[str, object] | ArrayLike, *, grow: bool) -> Floats:
        if isinstance(x, Mapping):
            return self.encoder.encode_one(x, grow=grow)[None, :]
        row = validation.numbers("x", x)
        if row.ndim != 1:
            raise ValueError(f"x must be a mapping or a sequence of numbers, got {x!r}")
        return row[None, :]

    def _rows_of(self, features: Given, names: int, *, grow: bool) -> Floats:
        """Rows of numbers; all is checked before the encoder grows."""
        columns = columns_of(features)
        if columns is not None:
            for column in columns.values():
                _check_names(names, len(column))
            if not columns:  # such a frame of polars or pyarrow does not know its number of rows
                return np.full((names, self.encoder.width), np.nan)
            return self.encoder.encode(columns, grow=grow)
        try:
            rows = np.asarray(features, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"features must be numbers or a frame: {error}") from None
        if rows.ndim != 2:
            raise ValueError(f"features must be a matrix or a frame, got shape {rows.shape}")
        if np.isinf(rows).any():
            raise ValueError("features must be finite or NaN, got an infinite one")
        _check_names(names, len(rows))
        return rows

    def _targets_of(self, y: Given, count: int) -> Floats:
        targets = validation.vector("y", np.asarray(y), count)
        self._check_targets(targets)
        return targets

    def _check_targets(self, targets: Floats) -> None:
        if not np.isfinite(targets).all():
            raise ValueError(f"y must be finite, got {targets[~np.isfinite(targets)][0]}")
        large = np.abs(targets) > OVERFLOW
        if large.any():
            raise ValueError(f"y must be at most {OVERFLOW:g} in size, got {targets[large][0]}")
        wrong = (targets != 0.0) & (targets != 1.0)
        if self.task == "classification" and wrong.any():
            raise ValueError(f"y must be 0 or 1 in classification, got {targets[wrong][0]}")

    def _grow(self, features: int, *, rebuild: bool = False) -> None:
        """Make room for more agents, entries or features."""
        panel, count = self._panel, len(self._places.position)
        if count > self._room:
            self._room, rebuild = max(count, 2 * self._room), True
        width = max(features, panel.vector.shape[2] - 1)
        if rebuild:
            ptr, idx = self._places.entries(self._room)
            self._panel = enlarged(panel, ptr, idx, width)
        elif width > panel.vector.shape[2] - 1:
            self._panel = enlarged(panel, panel.ptr, panel.idx, width)


def _is_read_only(field: Given) -> bool:
    return isinstance(field, np.ndarray) and not field.flags.writeable


def _check_names(names: int, rows: int) -> None:
    if names != rows:
        raise ValueError(f"agents must have {rows} names, got {names}")


def _integers(name: str, given: Given) -> Integers:
    array = np.asarray(given)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and len(array)):
        raise ValueError(f"{name} must be a list of whole numbers, got {array.dtype} {array.shape}")
    return np.ascontiguousarray(array, dtype=np.int64)


def _check_within(name: str, array: Integers, least: int, limit: int) -> None:
    if len(array) and (array.min() < least or array.max() >= limit):
        wrong = array[(array < least) | (array >= limit)][0]
        raise ValueError(f"{name} must be from {least} to {limit - 1}, got {wrong}")
