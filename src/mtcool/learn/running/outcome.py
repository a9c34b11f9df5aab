"""What a pass over a stream found: the sums, whom they are about, and what they cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, final

import numpy as np

from mtcool.graphs import Graph
from mtcool.learn.metrics.evaluation import COLD, FIRST, ROWS, Evaluation
from mtcool.types import Label

Network: TypeAlias = Graph | Literal["complete"] | None
"""Who talks to whom; None if nobody talks to anybody."""
Summary: TypeAlias = dict[str, Any]
"""What `--json` prints: numbers, and tables of numbers by name."""
LISTED = 20
"""Skipped rows, and agents without neighbours, that are named; the rest are counted."""


@final
@dataclass(frozen=True)
class LearnOutcome:
    """The result of `mtcool learn`.

    Attributes
    ----------
    name
        What the data are called.
    target
        What the predicted column is called.
    share
        What agents send: "gradients" or "rows".
    agents
        Names, in the order of the evaluation.
    network
        Who talks to whom.
    evaluation
        Metrics, gains and curves of all rows since the model was new.
    messages, message_bytes
        Sent so far.
    skipped
        Number of bad rows.
    complaints
        The first of them, in words.
    earlier
        Rows of other tables, which were learned from before this one.
    dated
        Whether times are seconds since 1970.
    positions
        Where agents are on the map, if that is known: easting and northing.
    strangers
        Agents of the data that the given graph does not have.
    near
        Columns of the places that the graph was made from, if it was.
    waiting
        Rows whose targets have not arrived yet.
    numbers
        Features that are numbers or truth values.
    categories
        Features that are texts, with the number of columns that each has become.
    """

    name: str
    target: str
    share: str
    agents: tuple[Label, ...]
    network: Network
    evaluation: Evaluation
    messages: int
    message_bytes: int
    skipped: int = 0
    complaints: tuple[str, ...] = ()
    earlier: int = 0
    dated: bool = False
    positions: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    strangers: tuple[Label, ...] = ()
    near: tuple[str, ...] = ()
    waiting: int = 0
    numbers: tuple[str, ...] = ()
    categories: Mapping[str, int] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Rows that were predicted, cold ones included."""
        return int(self.evaluation.counts[:, ROWS].sum())

    @property
    def cold(self) -> int:
        """Rows that were predicted before any target was seen in the neighbourhood."""
        return int(self.evaluation.counts[:, COLD].sum())

    @property
    def first(self) -> int:
        """Other rows that were predicted before a target of their own agent was seen."""
        return int(self.evaluation.counts[:, FIRST].sum())

    @property
    def with_rows(self) -> int:
        """Agents that have rows; a graph may have others."""
        return int((self.evaluation.counts[:, ROWS] > 0).sum())

    @property
    def apart(self) -> str:
        """Why some agents of the data are not in the graph."""
        if not self.near:
            return "not in the graph, so without neighbours"
        names = " and ".join(map(repr, self.near))
        return f"without a place in {names} when the graph was made, so without neighbours"

    @property
    def shares(self) -> bool:
        """Whether two agents that have rows are neighbours."""
        if not isinstance(self.network, Graph):
            return self.network == "complete" and self.with_rows > 1
        graph, counts = self.network, self.evaluation.counts[:, ROWS]
        active = np.zeros(graph.size, bool)
        known = min(graph.size, len(counts))
        active[:known] = counts[:known] > 0
        owner = np.repeat(np.arange(graph.size), graph.neighbourhood_sizes)
        return bool((active[owner] & active[graph.idx] & (owner != graph.idx)).any())

    def neighbours(self, agent: int) -> int:
        """The number of neighbours of an agent, itself not included."""
        if isinstance(self.network, Graph):
            known = agent < self.network.size
            return int(self.network.neighbourhood_sizes[agent]) - 1 if known else 0
        return len(self.agents) - 1 if self.network == "complete" else 0

    def summary(self) -> Summary:
        """The numbers that `--json` prints."""
        metrics = self.evaluation.metrics()
        gains = {name: self._gain(name) for name in self.evaluation.names[1:]}
        return {
            "rows": self.rows,
            "skipped": self.skipped,
            "cold": self.cold,
            "first": self.first,
            "earlier": self.earlier,
            "agents": self.with_rows,
            "waiting": self.waiting,
            **{name: _finite(numbers) for name, numbers in metrics.items()},
            "gain": gains,
            "messages": self.messages,
            "bytes": self.message_bytes,
        }

    def _gain(self, other: str) -> dict[str, float | None]:
        """What sharing gains on another predictor, as a share of the loss of that one."""
        found, loss = self.evaluation.gain(other), self.evaluation.loss(other)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = {"mean": found.mean[0] / loss, "error": found.error[0] / loss}
        return _finite({name: float(value) for name, value in values.items()})


def _finite(numbers: Mapping[str, float]) -> dict[str, float | None]:
    """Numbers, or None in place of what JSON has no name for."""
    return {name: number if np.isfinite(number) else None for name, number in numbers.items()}
