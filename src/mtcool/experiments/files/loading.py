"""From an experiment file to its points: read, checked before anything runs, multiplied out."""

import copy
import itertools
import math
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from mtcool.config.algorithms import record_of
from mtcool.config.complaints import convert
from mtcool.config.schema import ErdosRenyi
from mtcool.experiments.files.checks import (
    check_keys,
    check_names,
    check_options,
    check_swept_algorithms,
)
from mtcool.experiments.files.named import check_names_of, look_for
from mtcool.experiments.files.spec import (
    ROUNDS,
    Experiment,
    Gaussian,
    Head,
    Point,
    PrivacySpec,
    Stochastic,
    StreamSpec,
    Sweep,
    algorithm_parameter,
    label,
)
from mtcool.types import Plain

MOST_POINTS = 100_000  # of all sweeps together; each takes some kilobytes before anything runs


def read_source(path: Path) -> str:
    """The text of an experiment file."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} must be TOML, got {error}") from None


def load_experiment(
    source: str, folder: Path, place: str, most_rounds: int | None = None
) -> Experiment:
    """Check the text of an experiment file; paths in it are relative to its folder.

    Errors begin with `place`. With `most_rounds`, all numbers of rounds are scaled down so
    that none is above it.
    """
    try:
        table = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{place} must be TOML, got {error}") from None
    try:
        experiment = make_experiment(table, folder=folder)
        if most_rounds is None:
            return experiment
        return make_experiment(_shortened(table, experiment, most_rounds), folder=folder)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def make_experiment(table: dict[str, Any], folder: Path = Path()) -> Experiment:
    """Check the content of an experiment file and multiply its sweeps out.

    Examples
    --------
    >>> experiment = make_experiment(
    ...     {
    ...         "name": "demo",
    ...         "algorithm": [{"name": "alone", "algorithm": "i_ftrl"}],
    ...         "sweep": [{"parameter": "graph.p", "values": [0.5, 1.0]}],
    ...     }
    ... )
    >>> [point.graph.p for point in experiment.points]
    [0.5, 1.0]
    >>> make_experiment({"name": "demo", "replicats": 3})
    Traceback (most recent call last):
    ...
    ValueError: unknown key replicats; did you mean replicates?
    """
    check_keys(table)
    own = set(Head.__struct_fields__)
    head = convert({key: value for key, value in table.items() if key in own}, Head)
    swept = [sweep.parameter for sweep in head.sweep]
    if len(set(swept)) < len(swept):
        raise ValueError(f"sweep must name every parameter once, got {', '.join(swept)}")
    check_swept_algorithms(swept)
    rest = {key: copy.deepcopy(value) for key, value in table.items() if key not in own}
    _fill(rest)
    choices = [list(zip(_labels(sweep), sweep.values, strict=True)) for sweep in head.sweep]
    points, labels = [], []
    number = math.prod(len(values) for values in choices)
    if number > MOST_POINTS:
        raise ValueError(f"sweeps must have at most {MOST_POINTS:,} points, got {number:,}")
    for chosen in itertools.product(*choices):
        point = copy.deepcopy(rest)
        for sweep, (_, value) in zip(head.sweep, chosen, strict=True):
            _assign(point, sweep.parameter, copy.deepcopy(value))
        _resolve_paths(point, folder)
        points.append(convert(point, Point))
        labels.append(
            {s.parameter: label for s, (label, _) in zip(head.sweep, chosen, strict=True)}
        )
    look_for(points, folder)
    for one in points:
        check_names_of(one)
    points = [_with_levels(one) for one in points]
    experiment = Experiment(head=head, points=points, values=labels)
    check_options(points)
    check_names(experiment)
    return experiment


def _fill(point: dict[str, Any]) -> None:
    """Write out the tables that the file leaves to their defaults: a sweep may reach into them."""
    defaults = {"graph": ErdosRenyi(), "tasks": Gaussian(), "stream": StreamSpec()}
    for key, table in msgspec.to_builtins(defaults).items():
        point.setdefault(key, table)
    if isinstance(point["stream"], dict):
        point["stream"].setdefault("activations", msgspec.to_builtins(Stochastic()))


def _with_levels(point: Point) -> Point:
    """Write out the privacy that a file with private algorithms leaves to its defaults."""
    private = any(record_of(one).private for one in point.algorithm)
    needed = private and point.privacy is None
    return msgspec.structs.replace(point, privacy=PrivacySpec()) if needed else point


def _shortened(table: dict[str, Any], experiment: Experiment, most: int) -> dict[str, Any]:
    scale = min(1.0, most / max(point.rounds for point in experiment.points))
    table = copy.deepcopy(table)
    table["rounds"] = max(1, int(scale * table.get("rounds", ROUNDS)))
    for sweep in table.get("sweep", []):
        if sweep["parameter"] == "rounds":
            sweep["values"] = [max(1, int(scale * value)) for value in sweep["values"]]
    for part in [*table.get("figure", []), *table.get("claim", [])]:
        if "rounds" in part.get("at", {}):
            part["at"]["rounds"] = max(1, int(scale * part["at"]["rounds"]))
    return table


def _labels(sweep: Sweep) -> list[str]:
    labels = sweep.labels or [label(value) for value in sweep.values]
    if len(labels) != len(sweep.values) or len(set(labels)) != len(labels):
        raise ValueError(
            f"sweep of {sweep.parameter}: labels must be {len(sweep.values)} distinct names, "
            f"got {labels!r}"
        )
    return labels


def _assign(table: dict[str, Any], path: str, value: Plain) -> None:
    """Set the parameter at a dotted path."""
    parameter = algorithm_parameter(path)
    if parameter is not None:
        _assign_algorithm(table, *parameter, value)
        return
    *parents, last = path.split(".")
    place: Any = table
    for name in parents:
        place = place.setdefault(name, {})
        if not isinstance(place, dict):
            raise ValueError(f"sweep: parameter must be a path through tables, got {path!r}")
    place[last] = value


def _assign_algorithm(table: dict[str, Any], name: str, key: str, value: Plain) -> None:
    """Set a parameter of the algorithm of this name, or of all if it is empty."""
    algorithms = table.get("algorithm")
    if not isinstance(algorithms, list) or not all(isinstance(a, dict) for a in algorithms):
        return  # what is wrong with that is said when the point is converted
    chosen = [a for a in algorithms if name in ("", a.get("name"))]
    if not chosen:
        names = ", ".join(str(a.get("name")) for a in algorithms)
        raise ValueError(
            f"sweep: parameter must name an algorithm ({names}), got {f'algorithm.{name}.{key}'!r}"
        )
    for algorithm in chosen:
        *parents, last = key.split(".")
        place: Any = algorithm
        for parent in parents:
            place = place.setdefault(parent, {})
            if not isinstance(place, dict):
                raise ValueError(
                    f"algorithm {algorithm.get('name')}.{parent} must be a table, got {place!r}"
                )
        place[last] = value


def _resolve_paths(point: dict[str, Any], folder: Path) -> None:
    for key in ("graph", "network"):
        table = point.get(key)
        if isinstance(table, dict) and isinstance(table.get("path"), str):
            table["path"] = str(folder / table["path"])
