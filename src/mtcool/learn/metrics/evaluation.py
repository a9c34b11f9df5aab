"""What every prediction was worth, in constant memory: overall, by agent and over time.

*Cold* rows, predicted before any target was seen in the neighbourhood, are counted apart and are
in no metric. *First* rows of an agent, predicted before a target of its own was seen, are in the
metrics but not in the gains: an agent that learns alone has nothing to say there, and whatever it
says would be held against it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from mtcool import validation
from mtcool.learn.metrics.batch_means import BatchMeans, Estimates
from mtcool.learn.metrics.over_time import OverTime
from mtcool.learn.metrics.ranking import Ranking
from mtcool.learn.metrics.stored import stored_counts, stored_sums
from mtcool.learn.metrics.sums import add_in_order
from mtcool.learn.metrics.tallies import HEAD, Metrics, losses, metrics_of, tally_rows, variance
from mtcool.learn.model import TASKS, Task
from mtcool.types import AnyArray, Floats, Integers

COMPARED, FIRST_ROWS, WARM = 0, 1, 2
"""Groups of rows that are not cold: those in the gains, first rows, and both together."""
ROWS, COLD, FIRST = 0, 1, 2


class PredictedRows(NamedTuple):
    """Rows as they were predicted, in the order of the stream."""

    agents: Integers
    time: Floats
    target: Floats
    predictions: Floats  # a column for each predictor
    cold: NDArray[np.bool_]
    first: NDArray[np.bool_]


@final
class Evaluation:
    """Running sums from which all metrics, gains and curves follow.

    The first predictor is compared with every other one. A gain is the mean loss of the other
    minus that of the first, on the same rows: squared error, or log loss for classification.

    Parameters
    ----------
    task
        What is predicted: "regression" (a number) or "classification" (the probability of 1).
    names
        Of the predictors, in the order of the columns of their predictions.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> target = rng.normal(size=100)
    >>> no = np.zeros(100, bool)
    >>> evaluation = Evaluation("regression", ("learned", "alone"))
    >>> evaluation.add(PredictedRows(np.arange(100) % 2, np.arange(100.0), target,
    ...                          np.stack([0.9 * target, 0.5 * target], axis=1), no, no))
    >>> round(evaluation.metrics()["learned"]["nmse"], 3)
    0.01
    >>> evaluation.gain("alone").clear.tolist()
    [True]
    """

    def __init__(self, task: Task, names: Sequence[str]) -> None:
        self.task = validation.one_of("task", task, TASKS)
        self.names = tuple(names)
        width = HEAD + 2 * len(self.names)
        self.counts: Integers = np.zeros((0, 3), np.int64)
        self._shift = np.zeros(0)
        self._tallies: Floats = np.zeros((0, 2, width))
        self._over_time = OverTime(2, width)
        self._of_agents = BatchMeans(1 + 2 * len(self.names))
        self._of_all = BatchMeans(1 + 2 * len(self.names))
        self._ranking = Ranking(len(self.names) if task == "classification" else 0)

    def add(self, rows: PredictedRows) -> None:
        """Take in rows, the next of the stream."""
        if rows.agents.size == 0:
            return
        self._grow(int(rows.agents.max()) + 1)
        warm = ~rows.cold
        for kind, chosen in ((ROWS, slice(None)), (COLD, rows.cold), (FIRST, rows.first & warm)):
            self.counts[:, kind] += np.bincount(rows.agents[chosen], minlength=len(self.counts))
        if not warm.any():
            return
        agents, target, first = rows.agents[warm], rows.target[warm], rows.first[warm]
        predictions = rows.predictions[warm]
        if self._shift.size == 0:
            self._shift = target[:1].copy()  # squares of what is far from zero lose their digits
        paid = losses(self.task, target, predictions)
        tally = tally_rows(target - self._shift, paid)
        groups = np.where(first, FIRST_ROWS, COMPARED)
        add_in_order(self._tallies.reshape(-1, tally.shape[1]), 2 * agents + groups, tally)
        self._over_time.add(rows.time[warm], groups, tally)
        compared = np.column_stack([rows.time[warm], tally[:, HEAD:]])[~first]
        self._of_agents.add(agents[~first], compared)
        self._of_all.add(np.zeros(len(compared), np.int64), compared)
        if self.task == "classification":
            self._ranking.add(target, predictions)

    def metrics(self, group: int = WARM) -> dict[str, dict[str, float]]:
        """The metrics of every predictor over all rows of a group."""
        table = metrics_of(self.task, self.names, self.total(group))
        found = {
            name: {metric: float(value) for metric, value in metrics.items()}
            for name, metrics in table.items()
        }
        if self.task == "classification" and group == WARM:
            for name, area in zip(self.names, self._ranking.area().tolist(), strict=True):
                found[name]["auc"] = area
        return found

    def total(self, group: int = WARM) -> Floats:
        """The tally of all agents; targets are counted from the first one."""
        total: Floats = _group(self._tallies, group).sum(axis=0)
        return total

    def of_agents(self) -> dict[str, Metrics]:
        """The metrics of every predictor over the rows of each agent."""
        return metrics_of(self.task, self.names, _group(self._tallies, WARM))

    def over_time(self, group: int = WARM) -> tuple[Floats, Integers, dict[str, Metrics]]:
        """First and last time, number of rows and metrics of each stretch of the stream.

        NMSE divides by the variance of the targets of the whole stream.
        """
        sums = _group(self._over_time.sums(), group)
        found = metrics_of(self.task, self.names, sums, variance(self.total(group)))
        return self._over_time.times(), sums[:, 0].astype(np.int64), found

    def gain(self, other: str, of: str | None = None) -> Estimates:
        """What a predictor, the first if none is named, gains on another over all rows."""
        return self._gains(self._of_all, 1, other, of or self.names[0])

    def gains(self, other: str) -> Estimates:
        """What the first predictor gains on another, for each agent."""
        return self._gains(self._of_agents, len(self.counts), other, self.names[0])

    def agents_over_time(self) -> tuple[Integers, Integers, Floats, dict[str, Metrics]]:
        """Agent, number of rows, mean time and metrics of stretches of each agent's rows.

        An agent has at most 32 stretches. First rows are not in them, and NMSE divides by the
        variance of the targets of the whole stream.
        """
        agents, rows, sums = self._of_agents.batches()
        spread = variance(self.total(COMPARED))
        heads = np.zeros((len(rows), HEAD))
        heads[:, 0] = rows
        tallies = np.column_stack([heads, sums[:, 1:]])
        found = metrics_of(self.task, self.names, tallies, spread)
        return agents, rows, sums[:, 0] / rows, found

    def loss(self, name: str) -> float:
        """The mean loss in which gains are counted, over the rows that are compared."""
        total = self.total(COMPARED)
        return float(total[HEAD + 2 * self.names.index(name)] / total[0]) if total[0] else np.nan

    def agent_losses(self, name: str) -> Floats:
        """The same for each agent."""
        tallies = self._tallies[:, COMPARED]
        with np.errstate(invalid="ignore"):
            found: Floats = tallies[:, HEAD + 2 * self.names.index(name)] / tallies[:, 0]
        return found

    def arrays(self) -> dict[str, AnyArray]:
        """All that it knows, for a file."""
        parts = {
            "over_time": self._over_time.arrays(),
            "of_agents": self._of_agents.arrays(),
            "of_all": self._of_all.arrays(),
        }
        own = {"counts": self.counts, "tallies": self._tallies, "shift": self._shift}
        own["ranking"] = self._ranking.counts
        return own | {f"{part}.{key}": a for part, kept in parts.items() for key, a in kept.items()}

    @classmethod
    def from_arrays(
        cls, task: Task, names: Sequence[str], arrays: Mapping[str, AnyArray]
    ) -> "Evaluation":
        """The evaluation that `arrays` came from; refuses numbers that no rows add up to."""
        found = cls(task, names)
        size, shift = arrays["counts"].size // 3, arrays["shift"]
        found.counts = stored_counts("counts", arrays["counts"], (size, 3))
        _, groups, width = found._tallies.shape
        found._tallies = stored_sums("tallies", arrays["tallies"], (size, groups, width))
        found._shift = stored_sums("shift", shift, (min(shift.size, 1),))
        rows, cold, first = found.counts.T
        warm = np.stack([rows - cold - first, first], axis=1)
        if (found._tallies[:, :, 0] != warm).any() or (warm < 0).any():
            raise ValueError("counts must be those of the tallies")
        if (found._tallies[:, :, 2:] < 0).any():
            raise ValueError("tallies must have squares and losses that are not negative")
        total, compared, means = int(warm.sum()), warm[:, COMPARED], 1 + 2 * len(found.names)
        over_time = _part("over_time", arrays)
        found._over_time = OverTime.from_arrays(over_time, groups, width, total)
        of_agents, of_all = _part("of_agents", arrays), _part("of_all", arrays)
        found._of_agents = BatchMeans.from_arrays(of_agents, means, compared)
        found._of_all = BatchMeans.from_arrays(of_all, means, compared.sum(keepdims=True))
        ranked = len(found._ranking.counts)
        found._ranking = Ranking.from_counts(arrays["ranking"], ranked, total)
        return found

    def _gains(self, means: BatchMeans, size: int, other: str, of: str) -> Estimates:
        contrast = np.zeros(1 + 2 * len(self.names))
        contrast[1 + 2 * self.names.index(other)] = 1.0
        contrast[1 + 2 * self.names.index(of)] -= 1.0
        found = means.estimates(size, contrast)
        mean, error, margin = (part[:, 0] for part in found[:3])
        return Estimates(mean, error, margin, found.rows)

    def _grow(self, size: int) -> None:
        more = size - len(self.counts)
        if more > 0:
            self.counts = np.concatenate([self.counts, np.zeros((more, 3), np.int64)])
            empty = np.zeros((more, *self._tallies.shape[1:]))
            self._tallies = np.concatenate([self._tallies, empty])


def _group(tallies: Floats, group: int) -> Floats:
    chosen: Floats = tallies.sum(axis=1) if group == WARM else tallies[:, group]
    return chosen


def _part(name: str, arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    start = f"{name}."
    return {key.removeprefix(start): a for key, a in arrays.items() if key.startswith(start)}
