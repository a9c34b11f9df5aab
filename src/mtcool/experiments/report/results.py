"""The numbers of a finished experiment, and the statistics that tables, figures and words share."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from mtcool.algorithms import Algorithm
from mtcool.config import schema
from mtcool.config.algorithms import is_noisy, record_of
from mtcool.experiments.files import spec
from mtcool.experiments.files.in_the_field import Field, field_of
from mtcool.experiments.running.cells import Cell, Job, Run
from mtcool.reports.numbers import short
from mtcool.types import Floats, Label


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard error, which one value alone does not have."""

    mean: float
    error: float | None
    count: int

    @classmethod
    def of(cls, values: Floats) -> "Estimate":
        """The mean of independent values.

        Examples
        --------
        >>> Estimate.of(np.array([1.0, 3.0]))
        Estimate(mean=2.0, error=1.0, count=2)
        """
        count = len(values)
        error = float(np.std(values, ddof=1) / np.sqrt(count)) if count > 1 else None
        return cls(float(np.mean(values)), error, count)

    @property
    def certainty(self) -> float:
        """The mean over half of its 95 % interval (Student's): clear from 1 on."""
        if self.error is None:
            return 0.0
        half = float(stdtrit(self.count - 1, 0.975)) * self.error
        return math.copysign(math.inf, self.mean) if half == 0.0 else self.mean / half

    def clear(self) -> bool:
        """Whether the 95 % interval excludes zero."""
        return abs(self.certainty) > 1.0

    def __str__(self) -> str:
        mean = short(self.mean)
        return mean if self.error is None else f"{mean} ± {short(self.error, 2)}"


@dataclass(frozen=True)
class PointResults:
    """One point of an experiment: all replicates of all algorithms."""

    values: dict[str, str]
    """The label of every swept parameter."""
    names: list[str]
    """The algorithms."""
    times: NDArray[np.int64]
    sigma: Floats
    """Mean local deviation of the tasks, (replicates,)."""
    curves: Floats
    """Regret, (replicates, algorithms, times)."""
    cells: list[Cell]
    """The replicates, with all algorithms."""

    @classmethod
    def of(cls, values: dict[str, str], cells: Sequence[Cell]) -> "PointResults":
        """Gather the cells of a point, in the order of the replicates."""
        return cls(
            values=values,
            names=[run.algorithm for run in cells[0].runs],
            times=np.array(cells[0].times),
            sigma=np.array([cell.sigma for cell in cells]),
            curves=np.array([[run.regret for run in cell.runs] for cell in cells]),
            cells=list(cells),
        )

    @property
    def final(self) -> Floats:
        """Regret at the end, (replicates, algorithms)."""
        return self.curves[:, :, -1]

    def regret(self, name: str) -> Estimate:
        """Mean regret of an algorithm at the end."""
        return Estimate.of(self.final[:, self.names.index(name)])

    def difference(self, name: str, other: str) -> Estimate:
        """Regret of one algorithm minus that of another on the same replicates."""
        a, b = self.names.index(name), self.names.index(other)
        return Estimate.of(self.final[:, a] - self.final[:, b])

    @property
    def agent_times(self) -> NDArray[np.int64]:
        """Times at which the agents are recorded; none for very many agents."""
        return np.array(self.cells[0].agent_times, np.int64)

    def agent_curves(self, name: str) -> Floats:
        """Regret of every agent under an algorithm, (replicates, times, agents)."""
        return _side_by_side([run.agents for run in self.runs(name)])

    def agent_traffic(self, name: str) -> tuple[Floats, Floats]:
        """Messages and bytes that every agent has caused, as `agent_curves`; nan if unknown."""
        runs = self.runs(name)
        return (
            _side_by_side([run.agent_messages for run in runs]),
            _side_by_side([run.agent_bytes for run in runs]),
        )

    @property
    def agent_activations(self) -> Floats:
        """Activations of every agent, as `agent_curves`."""
        return _side_by_side([cell.activations for cell in self.cells])

    def runs(self, name: str) -> list[Run]:
        """The runs of an algorithm, replicate by replicate."""
        return [next(r for r in cell.runs if r.algorithm == name) for cell in self.cells]

    def traffic(self, name: str, what: str) -> Estimate | None:
        """Mean "bytes" or "messages" of a round; None if they are unknown."""
        runs, rounds = self.runs(name), float(self.times[-1])
        counts = [run.message_bytes if what == "bytes" else run.messages for run in runs]
        known = [count / rounds for count in counts if count is not None]
        return Estimate.of(np.array(known)) if len(known) == len(runs) else None

    def ranking(self) -> list[str]:
        """The algorithms, the least mean regret first."""
        means = self.final.mean(axis=0)
        return [self.names[k] for k in np.argsort(means, kind="stable")]

    def only(self, among: Sequence[str]) -> "PointResults":
        """The same point with these algorithms alone; all of them if none is named."""
        if not among:
            return self
        chosen = [self.names.index(name) for name in among]
        return replace(self, names=list(among), curves=self.curves[:, chosen])

    def fits(self, at: dict[str, Any]) -> bool:
        """Whether the swept parameters have these values."""
        return all(self.values.get(name) == spec.label(value) for name, value in at.items())


@dataclass(frozen=True)
class Results:
    """A finished experiment."""

    experiment: spec.Experiment
    replicates: int
    points: list[PointResults]
    firsts: list[Job]
    """The job of the first replicate of every point."""

    def panels(self, figure: spec.Figure) -> Iterator[tuple[str | None, list[PointResults]]]:
        """The points of a figure, for each of its panels."""
        chosen = [point.only(figure.among) for point in self.points if point.fits(figure.at)]
        if figure.panels is None:
            yield None, chosen
            return
        labels = dict.fromkeys(point.values[figure.panels] for point in chosen)
        for label in labels:
            yield label, [point for point in chosen if point.values[figure.panels] == label]

    def record_of(self, name: str) -> Algorithm:
        """Which algorithm goes by this name in the file."""
        return record_of(self.algorithm(name))

    def algorithm(self, name: str) -> schema.AlgorithmSpec:
        """What the file says of the algorithm of this name, at the first point."""
        return next(a for a in self.experiment.points[0].algorithm if a.name == name)

    def depends(self, name: str, parameter: str) -> bool:
        """Whether this parameter can change an algorithm's numbers."""
        owner, _ = spec.algorithm_parameter(parameter) or ("", "")
        if owner:
            return owner == name
        one, table = self.algorithm(name), parameter.partition(".")[0]
        if table in spec.FIELD:
            return self._lives_differently(name, parameter)
        return table != "privacy" or (record_of(one).private and is_noisy(one))

    def _lives_differently(self, name: str, parameter: str) -> bool:
        """Whether messages or delays of an algorithm change with a parameter, all else the same."""
        found: dict[tuple[str, ...], Field | None] = {}
        for values, point in zip(self.experiment.values, self.experiment.points, strict=True):
            rest = tuple(value for key, value in values.items() if key != parameter)
            field = field_of(point, next(a for a in point.algorithm if a.name == name))
            if found.setdefault(rest, field) != field:
                return True
        return False

    def agent_names(self, point: int) -> list[str]:
        """Names of the agents at a point: those in its files, else numbers from 0 on."""
        first, found = self.firsts[point], self.points[point]
        names: Sequence[Label] = range(found.agent_activations.shape[-1])
        if first.graph is not None:
            names = first.graph.labels
        if first.changes is not None:
            names = first.changes.agents(first.graph or found.cells[0].instance.graph)
        return [str(name) for name in names]

    def title_of(self, parameter: str) -> str:
        """How to call a swept parameter."""
        for sweep in self.experiment.head.sweep:
            if sweep.parameter == parameter:
                return sweep.title or parameter
        return {
            "sigma": "mean local deviation of the tasks, σ̄",
            "time": "rounds",
            "bytes": "bytes per round",
            "messages": "messages per round",
        }[parameter]


def _side_by_side(tables: Sequence[Sequence[Sequence[float]]]) -> Floats:
    """Tables of times by agents, one for each replicate; nan for agents that one did not have."""
    agents = max((len(row) for table in tables for row in table), default=0)
    times = max(len(table) for table in tables)
    found = np.full((len(tables), times, agents), np.nan)
    for k, table in enumerate(tables):
        if table:
            found[k, :, : len(table[0])] = table
    return found


def numbers_of(points: Sequence[PointResults], x: str) -> Floats | None:
    """The values of an axis as numbers, or None if they are names."""
    if x == "sigma":
        return np.array([point.sigma.mean() for point in points])
    try:
        numbers = np.array([float(point.values[x]) for point in points])
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def default_figures(experiment: spec.Experiment) -> list[spec.Figure]:
    """What to draw if the file does not say: curves, or the regret along the first sweep."""
    head = experiment.head
    if head.figure:
        return head.figure
    if not head.sweep:
        return [spec.Figure(x="time")]
    panels = head.sweep[1].parameter if len(head.sweep) > 1 else None
    at = {
        sweep.parameter: sweep.labels[0] if sweep.labels else sweep.values[0]
        for sweep in head.sweep[2:]
    }
    return [spec.Figure(x=head.sweep[0].parameter, panels=panels, at=at)]
