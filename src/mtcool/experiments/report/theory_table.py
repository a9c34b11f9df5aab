"""Rows of the tables that put the theory next to the measured regret."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from mtcool.experiments.report.promises import GraphFacts, PointPromises
from mtcool.reports.numbers import short

EMPTY = "; it says nothing here, where no learner in the ball can have more than {}"
"""What is added to the name of a bound above the trivial one."""
ALL = "all"
"""The place of what is the same at all points, or of the only one."""


def graph_rows(points: Sequence[PointPromises]) -> list[list[str]]:
    """Graphs by the points that use them: sizes, neighbourhoods, alpha, alpha_2, gamma."""
    used: dict[GraphFacts, list[str]] = {}
    for point in points:
        used.setdefault(point.facts, []).append(place_of(point))
    return [
        [places[0] if len(places) == 1 else f"{places[0]} and {len(places) - 1} more"]
        + [str(value) for value in dataclasses.astuple(facts)]
        for facts, places in used.items()
    ]


def promise_rows(points: Sequence[PointPromises]) -> list[list[str]]:
    """Floor, measured, ceiling, ratio and statement of every algorithm at every point."""
    return [
        [
            place_of(point),
            row.algorithm,
            "" if row.floor is None else short(row.floor),
            short(row.measured),
            "" if row.ceiling is None else short(row.ceiling),
            "" if row.ratio is None else short(row.ratio, 2),
            row.statement + (EMPTY.format(short(row.trivial)) if row.says_nothing else ""),
        ]
        for point in points
        for row in point.rows
    ]


def promise_records(points: Sequence[PointPromises]) -> Iterator[dict[str, Any]]:
    """The same with full precision, for the file."""
    for point in points:
        for row in point.rows:
            record = dataclasses.asdict(row) | {"ratio": row.ratio}
            yield {**point.values, **record, **dataclasses.asdict(point.facts)}


def place_of(point: PointPromises) -> str:
    """The point by its swept parameters."""
    return ", ".join(f"{key} = {value}" for key, value in point.values.items()) or ALL
