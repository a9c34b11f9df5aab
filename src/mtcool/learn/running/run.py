"""One pass over a stream: sharing, alone, one model for all, and the graph shuffled, side by side.

All see the same rows in the same order, chunk by chunk, and nothing is kept of a chunk but rows
that wait for their targets.
"""

import copy
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from mtcool.graphs import Graph
from mtcool.learn.metrics.evaluation import Evaluation, PredictedRows
from mtcool.learn.model import Model, Played, Share, Task
from mtcool.learn.reading.progressive import Chunk, Progressive
from mtcool.learn.reading.tables import Batch
from mtcool.learn.running.outcome import Network
from mtcool.learn.stored_predictions import nothing_said
from mtcool.learners.panel.fields import SAID
from mtcool.types import Floats, Integers, Label

EVERYBODY = "all"
"""What the one agent of the pooled model is called."""
NEWCOMER = ("newcomer",)
"""What an agent that the model has not met is called; names in tables are texts."""
SHUFFLE = 0
"""Seed of the one order in which agents take each other's places."""

Bools: TypeAlias = NDArray[np.bool_]


class Answers(NamedTuple):
    """What was predicted for the rows of a batch, in the order of the file."""

    line: Integers
    agents: NDArray[np.object_]
    time: Floats
    prediction: Floats
    alone: Floats
    pooled: Floats
    target: Floats
    cold: Bools


@final
class Pass:
    """Learners that see the same stream, and what their predictions were worth.

    Parameters
    ----------
    network
        Who talks to whom: a graph, "complete", or None for nobody.
    task, share
        As for `Model`.

    Attributes
    ----------
    learned, pooled, shuffled
        The models; `shuffled` is None where there is no graph to shuffle.
    progressive
        Rows whose targets are not known yet.
    evaluation
        Metrics and gains so far.
    seen
        For each agent, whether a target of its own was learned from.
    said
        What each model said of the rows that wait for their targets.
    """

    def __init__(self, network: Network, task: Task, share: Share) -> None:
        self.network, self.share = network, share
        self.learned = Model(network, task=task, share=share)
        self.pooled = Model(None, task=task, share=share)
        self.shuffled = None
        if isinstance(network, Graph) and network.edge_count:
            self.shuffled = Model(shuffle(network), task=task, share=share)
        names = ("learned", "alone", "pooled", *(("shuffled",) if self.shuffled else ()))
        self.evaluation = Evaluation(task, names)
        self.progressive = Progressive()
        self.seen: Bools = np.zeros(0, bool)
        self.said: Floats = np.empty((len(self.models), 0, SAID))
        self._newcomer: Model | None = None

    @property
    def models(self) -> tuple[Model, ...]:
        """The models that there are: learned, pooled, shuffled."""
        return (self.learned, self.pooled, *((self.shuffled,) if self.shuffled else ()))

    def play(self, batch: Batch) -> Answers:
        """Predict the rows of a batch, learn from every target that is known by then."""
        self._newcomer = None  # which knows less from now on
        chunk = self.progressive.push(batch)
        played, pooled, shuffled = self._play(chunk)
        agents = self.learned.index(chunk.agents)
        first = self._first_rows(agents, chunk.events)
        new = chunk.new
        columns = [played.prediction, played.alone, pooled.prediction]
        columns += [shuffled.prediction] if shuffled is not None else []
        self.evaluation.add(
            PredictedRows(
                agents[new],
                chunk.time[new],
                chunk.target[new],
                np.stack([column[new] for column in columns], axis=1),
                played.cold[new],
                first[new],
            )
        )
        return Answers(
            chunk.line[new],
            chunk.agents[new],
            chunk.time[new],
            played.prediction[new],
            played.alone[new],
            pooled.prediction[new],
            chunk.target[new],
            played.cold[new],
        )

    def settle(self) -> None:
        """Learn from the rows whose targets were still waiting for their time."""
        chunk = self.progressive.close()
        self._play(chunk)

    def answer(self, batch: Batch) -> Answers:
        """Predict the rows of a batch without learning from anything.

        Agents that the model has not met are predicted as if each of them joined now, by itself:
        no answer depends on who else is asked for.
        """
        known = set(self.learned.agents)
        met = np.array([name in known for name in batch.agents], dtype=bool)
        learned, alone = np.empty((2, met.size))
        played = Played(learned, alone, np.empty(met.size, bool), nothing_said(met.size))
        for rows in (np.flatnonzero(met), np.flatnonzero(~met)):
            if rows.size:
                model = self.learned if met[rows[0]] else self._with_newcomer()
                names = batch.agents[rows] if met[rows[0]] else [NEWCOMER] * rows.size
                found = _ask(model, model.index(names), batch.features[rows])
                for whole, part in zip(played, found, strict=True):
                    whole[rows] = part
        pooled = _ask(self.pooled, self._everybody(met.size), batch.features)
        return Answers(
            batch.line,
            batch.agents,
            batch.time,
            played.prediction,
            played.alone,
            pooled.prediction,
            batch.target,
            played.cold,
        )

    def _with_newcomer(self) -> Model:
        if self._newcomer is None:
            self._newcomer = copy.deepcopy(self.learned)
        return self._newcomer

    def strangers(self) -> tuple[Label, ...]:
        """Agents of the data that the graph does not have, so that they stand alone."""
        known = self.network.size if isinstance(self.network, Graph) else len(self.learned.agents)
        return self.learned.agents[known:]

    def _play(self, chunk: Chunk) -> tuple[Played, Played, Played | None]:
        """Play all models at once: compiled code lets other threads run."""
        said = np.stack([nothing_said(chunk.line.size)] * len(self.models))
        said[:, : chunk.new.start] = self.said
        rows = (chunk.features, chunk.target, chunk.events)
        works: list[Callable[[], Played]] = [
            lambda: self.learned.play_joining(chunk.agents, *rows, said[0]),
            lambda: self.pooled.play(self._everybody(chunk.agents.size), *rows, said[1]),
        ]
        other = self.shuffled
        if other is not None:
            works.append(lambda: other.play_joining(chunk.agents, *rows, said[2]))
        with ThreadPoolExecutor(len(works)) as threads:
            done = [threads.submit(work) for work in works]
        played = [future.result() for future in done]
        waits = np.ones(chunk.line.size, bool)
        waits[~chunk.events[chunk.events < 0]] = False
        self.said = np.stack([one.said[waits] for one in played])
        return played[0], played[1], played[2] if other is not None else None

    def _everybody(self, size: int) -> Integers:
        return np.repeat(self.pooled.index([EVERYBODY]), size)

    def _first_rows(self, agents: Integers, events: Integers) -> Bools:
        """Rows that are predicted before a target of their own agent is learned from."""
        size = len(self.learned.agents)
        seen = np.concatenate([self.seen, np.zeros(size - self.seen.size, bool)])
        places = np.arange(events.size)
        learns = events < 0
        learned_at = np.where(seen, -1, events.size)
        np.minimum.at(learned_at, agents[~events[learns]], places[learns])
        predicted_at = np.full(agents.size, -1)
        predicted_at[events[~learns]] = places[~learns]
        self.seen = learned_at < events.size
        return predicted_at < learned_at[agents]


def _ask(model: Model, agents: Integers, features: Floats) -> Played:
    """Predict rows and learn from none."""
    return model.play(agents, features, np.zeros(agents.size), np.arange(agents.size))


def shuffle(graph: Graph) -> Graph:
    """The same graph with its agents in each other's places.

    Examples
    --------
    >>> from mtcool.graphs import ring
    >>> shuffled = shuffle(ring(5))
    >>> shuffled, sorted(shuffled.labels)
    (Graph(5 agents, 5 edges), [0, 1, 2, 3, 4])
    """
    order = np.random.default_rng(SHUFFLE).permutation(graph.size)
    return Graph(graph.ptr, graph.idx, [graph.labels[k] for k in order])
