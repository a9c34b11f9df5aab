"""Where sharing pays: the stretches of an axis on which a network beats learning alone."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mtcool import theory
from mtcool.config.algorithms import learner_of, record_of
from mtcool.experiments.files.in_the_field import delays_of
from mtcool.experiments.files.spec import Point
from mtcool.experiments.report.results import Estimate, PointResults, Results, numbers_of
from mtcool.graphs import Graph, own_weights
from mtcool.learners import KT, MTFTRLKT
from mtcool.reports.numbers import short
from mtcool.types import Floats

FIELD = ("network", "messages", "delays")
"""Tables that make sharing dearer."""


@dataclass(frozen=True)
class PayingRange:
    """From `start` to `end` sharing pays; None is an end of the axis, not a cut-off."""

    start: float | None
    end: float | None

    @property
    def cutoffs(self) -> list[float]:
        """Where the curves cross."""
        return [end for end in (self.start, self.end) if end is not None]


@dataclass(frozen=True)
class Payoff:
    """One algorithm that shares, next to learning alone."""

    name: str
    alone: str
    stretches: list[PayingRange]
    x: Floats
    rival: Floats
    """Mean regret of learning alone along the axis."""
    leads: list[Estimate]
    """Regret of learning alone minus that of sharing, at the places where that is positive."""

    def marks(self) -> Iterator[tuple[float, float]]:
        """The cut-offs, as points of the line of learning alone."""
        for cutoff in (end for stretch in self.stretches for end in stretch.cutoffs):
            along = _straight(np.append(self.x, cutoff))
            height = float(np.interp(along[-1], along[:-1], _straight(self.rival)))
            yield cutoff, math.exp(height) if (self.rival > 0).all() else height


def payoffs(points: Sequence[PointResults], x: str, results: Results) -> Iterator[Payoff]:
    """Where sharing pays along the axis, if it is one that the price of sharing depends on.

    That is privacy, what happens to the network, its messages or its delays. One for each algorithm
    that shares and depends on the axis; none for figures without one that learns alone.
    """
    records = {name: results.record_of(name) for name in points[0].names}
    alone = [name for name, record in records.items() if record.alone]
    private = any(record.private for record in records.values())
    priced = private and (x == "rounds" or x.startswith("privacy."))
    numbers = numbers_of(points, x) if priced or x.partition(".")[0] in FIELD else None
    if not alone or numbers is None:
        return
    order = np.argsort(numbers, kind="stable")
    ordered, places = [points[k] for k in order], numbers[order]
    for name, record in records.items():
        if not record.own_weights and results.depends(name, x):
            one = max(alone, key=lambda other: _likeness(results, name, other))
            rival = np.array([point.regret(one).mean for point in ordered])
            regret = np.array([point.regret(name).mean for point in ordered])
            leads = [point.difference(one, name) for point in ordered]
            ahead = [lead for lead in leads if lead.mean > 0.0]
            yield Payoff(name, one, stretches(places, regret, rival), places, rival, ahead)


def _likeness(results: Results, name: str, alone: str) -> int:
    """How fair it is to compare with somebody alone: who bets as well, and waits for labels."""
    points = results.experiment.points
    pairs = [(p, [a for a in p.algorithm if a.name in (name, alone)]) for p in points]
    bet = ({isinstance(learner_of(a), KT | MTFTRLKT) for a in pair} for _, pair in pairs)
    wait = ({delays_of(point, a).labels for a in pair} for point, pair in pairs)
    return sum(all(len(both) == 1 for both in kind) for kind in (bet, wait))


def stretches(x: Floats, regret: Floats, rival: Floats) -> list[PayingRange]:
    """The parts of the axis where `regret` is below `rival`; x ascends.

    Curves are straight between their points, in logarithms wherever all numbers have one.

    Examples
    --------
    >>> stretches(np.array([1.0, 100.0]), np.array([10.0, 1.0]), np.array([1.0, 10.0]))
    [PayingRange(start=10.0, end=None)]
    """
    gap = np.subtract(*_straight(np.array([regret, rival])))
    found: list[PayingRange] = []
    start: float | None = None
    for k in range(1, len(x)):
        if (gap[k - 1] < 0) == (gap[k] < 0):
            continue
        cutoff = _between(x, k, float(gap[k - 1] / (gap[k - 1] - gap[k])))
        if gap[k] < 0:
            start = cutoff
        else:
            found.append(PayingRange(start, cutoff))
    return [*found, PayingRange(start, None)] if gap[-1] < 0 else found


def _straight(values: Floats) -> Floats:
    return np.log(values) if (values > 0).all() else values


def _between(x: Floats, k: int, share: float) -> float:
    """The place after this share of the way from x[k - 1] to x[k]."""
    left, right = _straight(x)[k - 1 : k + 1]
    place = float(left + share * (right - left))
    return round(math.exp(place), 12) if (x > 0).all() else place


def payoff_words(points: Sequence[PointResults], x: str, results: Results) -> Iterator[str]:
    """One sentence for each algorithm that shares."""
    axis = results.title_of(x)
    for payoff in payoffs(points, x, results):
        where = " and ".join(_where(stretch, axis) for stretch in payoff.stretches)
        clear, ahead = sum(lead.clear() for lead in payoff.leads), len(payoff.leads)
        doubt = f"; clear at {clear} of {ahead} values" if clear < ahead else ""
        if ahead > 0 and clear == 0:
            yield f"{payoff.name}: no lead over {payoff.alone} is clear."
            continue
        yield f"{payoff.name}: sharing pays {where or 'nowhere'} (against {payoff.alone}{doubt})."


def _where(stretch: PayingRange, axis: str) -> str:
    if stretch.start is None:
        return "everywhere" if stretch.end is None else f"up to {axis} = {short(stretch.end, 2)}"
    start = f"from {axis} = {short(stretch.start, 2)}"
    return f"{start} on" if stretch.end is None else f"{start} to {short(stretch.end, 2)}"


def published_words(points: Sequence[Point], graphs: Sequence[Graph]) -> Iterator[str]:
    """The cut-offs that the bounds give, for experiments with a private algorithm."""
    if not any(record_of(one).private for point in points for one in point.algorithm):
        return
    settings = [
        (graph, point.tasks.dim, point.rounds) for graph, point in zip(graphs, points, strict=True)
    ]
    published = _span(theory.published_cutoff(*setting) for setting in settings)
    solved = _span(_solved(*setting) for setting in settings)
    yield (
        "By the paper's bounds sharing pays from an epsilon of the order d N_max^4 sqrt(N / T) on, "
        f"{published} here, up to constants and ln^2 T. With all constants the bound for equal "
        "tasks that are known to be equal, a binary tree and agents that are equally active falls "
        f"below that of learning alone {_from(solved)}."
    )


def _span(values: Iterable[float]) -> str:
    every = sorted(values)
    return " to ".join(dict.fromkeys(short(end, 2) for end in (every[0], every[-1])))


def _from(span: str) -> str:
    return "nowhere" if span == "inf" else f"from epsilon = {span} on"


def _solved(graph: Graph, dim: int, rounds: int) -> float:
    """Where the bounds cross at best: one expert that knows that all tasks are the same."""
    counts = np.full(graph.size, -(-rounds // graph.size))
    tasks = np.zeros((graph.size, dim))
    tasks[:, 0] = 1.0

    def sharing(epsilon: float) -> theory.Bound:
        noise = theory.tree_noise(epsilon, dim, int(counts[0]))
        return theory.private_known_variances(graph, tasks, counts, noise)

    alone = theory.known_variances(graph, tasks, counts, weights=own_weights(graph))
    return theory.sharing_cutoff(sharing, alone)
