"""The experiment file: what to run, checked before anything runs.

An experiment is TOML: a graph, tasks, a stream and algorithms make a *point*; sweeps vary any of
their parameters, by path, and multiply. Every point is repeated on independent replicates.
"""

import copy
import itertools
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta, Struct

from mtcool.experiments.complaints import one_sentence

S = TypeVar("S")

ROUNDS = 150_000  # as in the paper, unless the file says otherwise

Count: TypeAlias = Annotated[int, Meta(ge=1)]
Whole: TypeAlias = Annotated[int, Meta(ge=0)]
Positive: TypeAlias = Annotated[float, Meta(gt=0)]
NonNegative: TypeAlias = Annotated[float, Meta(ge=0)]
Probability: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Sizes: TypeAlias = Annotated[list[Count], Meta(min_length=1)]


class Part(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="kind"):
    """A table of the file; an unknown key is refused."""


class ErdosRenyi(Part, frozen=True, tag="erdos_renyi"):
    """Every edge independently with probability `p`."""

    agents: Count = 30
    p: Probability = 0.9


class Regular(Part, frozen=True, tag="regular"):
    """A random graph where every agent has `degree` neighbours."""

    agents: Count
    degree: Whole


class Ring(Part, frozen=True, tag="ring"):
    """A ring where every agent has the `reach` nearest neighbours on both sides."""

    agents: Count
    reach: Count = 1


class Cliques(Part, frozen=True, tag="cliques"):
    """A disjoint union of cliques of these sizes."""

    sizes: Sizes


class Stars(Part, frozen=True, tag="stars"):
    """A disjoint union of stars of these sizes."""

    sizes: Sizes


class Grid(Part, frozen=True, tag="grid"):
    """A rectangular grid."""

    rows: Count
    columns: Count


class GraphFile(Part, frozen=True, tag="file"):
    """A graph that networkx reads: .graphml, .gml, or else an edge list."""

    path: str


Graph: TypeAlias = ErdosRenyi | Regular | Ring | Cliques | Stars | Grid | GraphFile


class Gaussian(Part, frozen=True, tag="gaussian"):
    """Tasks U ~ N(0, (I + smoothness L)^-1), as in the paper; infinite smoothness is allowed."""

    dim: Count = 1
    smoothness: NonNegative = 6.0


class Variance(Part, frozen=True, tag="variance"):
    """Tasks in the unit ball whose mean local deviation is `sigma`."""

    sigma: NonNegative
    dim: Count = 1


Tasks: TypeAlias = Gaussian | Variance


class Stochastic(Part, frozen=True, tag="stochastic"):
    """Independent activations; q_i is proportional to (i + 1)^-skew."""

    skew: NonNegative = 0.0


class RoundRobin(Part, frozen=True, tag="round_robin"):
    """Agents take turns."""


class Bursts(Part, frozen=True, tag="bursts"):
    """One agent stays active for `length` rounds, then another."""

    length: Count


Activations: TypeAlias = Stochastic | RoundRobin | Bursts


class Stream(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Losses and activations. `drift` is for linear losses, `noise` for all others."""

    loss: Literal["quadratic", "linear", "squared", "absolute", "logistic", "hinge"] = "quadratic"
    noise: NonNegative = 0.01
    drift: NonNegative = 0.0
    activations: Activations = Stochastic()


class Algorithm(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One of the named algorithms with its parameters."""

    name: Annotated[str, Meta(min_length=1)]
    algorithm: Literal["mt_co2ol", "i_ftrl", "st_ftrl", "pairwise"]
    learner: Literal["MTFTRL", "MTFTRLKT", "FTRL", "KT"] | None = None
    experts: Literal["paper", "geometric"] | Annotated[list[NonNegative], Meta(min_length=1)] = (
        "paper"
    )
    weights: Literal["uniform", "delegation", "proportional"] = "uniform"
    rates: Literal["adversarial", "stochastic", "estimated"] = "adversarial"
    lipschitz: Positive = 1.0
    radius: Positive = 1.0


class Point(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All that a replicate needs besides its seed."""

    rounds: Count = ROUNDS
    graph: Graph = ErdosRenyi()
    tasks: Tasks = Gaussian()
    stream: Stream = Stream()
    algorithm: Annotated[list[Algorithm], Meta(min_length=1)]


class Sweep(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Values of one parameter, named by its path: "tasks.smoothness", "graph.p", "rounds".

    "algorithm.lipschitz" sets all algorithms; "graph" takes whole tables. `labels` name the values
    in tables and figures, `title` the parameter.
    """

    parameter: Annotated[str, Meta(min_length=1)]
    values: Annotated[list[Any], Meta(min_length=1)]
    labels: list[str] | None = None
    title: str | None = None


class Figure(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A picture of the regret: against "time", "sigma" (measured), or a swept parameter.

    `panels` is a swept parameter with a panel for each of its values; `at` fixes others; `among`
    names the algorithms to show, all of them if not given.
    """

    x: Annotated[str, Meta(min_length=1)]
    panels: str | None = None
    at: dict[str, Any] = {}
    among: list[str] = []
    title: str | None = None


class Claim(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What somebody says: where `at` holds, `best` has the least regret `among` these."""

    text: Annotated[str, Meta(min_length=1)]
    best: Annotated[str, Meta(min_length=1)]
    at: dict[str, Any] = {}
    among: list[str] = []


class Head(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The keys of the file that say what to do with the points."""

    name: Annotated[str, Meta(pattern=r"^(?!cells$)[a-z0-9][a-z0-9-]*$")]
    title: str = ""
    question: str = ""
    paper: str = ""
    replicates: Count = 48
    seed: Whole = 0
    sweep: list[Sweep] = []
    figure: list[Figure] = []
    claim: list[Claim] = []


class Experiment(Struct, frozen=True, kw_only=True):
    """A checked experiment: its head, and its points in the order of the sweeps."""

    head: Head
    points: list[Point]
    values: list[dict[str, str]]
    """For every point, the label of each swept parameter."""


def load_experiment(path: Path, most_rounds: int | None = None) -> Experiment:
    """Read and check an experiment file; paths of graphs in it are relative to it.

    With `most_rounds`, all numbers of rounds are scaled down so that none is above it.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} must be TOML, got {error}") from None
    try:
        experiment = make_experiment(table, folder=path.parent)
        if most_rounds is None:
            return experiment
        return make_experiment(_shortened(table, experiment, most_rounds), folder=path.parent)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def make_experiment(table: dict[str, Any], folder: Path = Path()) -> Experiment:
    """Check the content of an experiment file and multiply its sweeps out.

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
    _check_keys(table)
    own = set(Head.__struct_fields__)
    head = _convert({key: value for key, value in table.items() if key in own}, Head)
    swept = [sweep.parameter for sweep in head.sweep]
    if len(set(swept)) < len(swept):
        raise ValueError(f"sweep must name every parameter once, got {', '.join(swept)}")
    if {"algorithm", "algorithm.name"} & set(swept):
        raise ValueError("sweep: parameter must leave the names of the algorithms alone")
    rest = {key: copy.deepcopy(value) for key, value in table.items() if key not in own}
    _fill(rest)
    choices = [list(zip(_labels(sweep), sweep.values, strict=True)) for sweep in head.sweep]
    points, labels = [], []
    for chosen in itertools.product(*choices):
        point = copy.deepcopy(rest)
        for sweep, (_, value) in zip(head.sweep, chosen, strict=True):
            _assign(point, sweep.parameter, copy.deepcopy(value))
        _resolve_path(point, folder)
        points.append(_convert(point, Point))
        _check_options(points[-1])
        labels.append(
            {s.parameter: label for s, (label, _) in zip(head.sweep, chosen, strict=True)}
        )
    experiment = Experiment(head=head, points=points, values=labels)
    _check_names(experiment)
    return experiment


def _fill(point: dict[str, Any]) -> None:
    """Write out the tables that the file leaves to their defaults: a sweep may reach into them."""
    defaults = {"graph": ErdosRenyi(), "tasks": Gaussian(), "stream": Stream()}
    for key, table in msgspec.to_builtins(defaults).items():
        point.setdefault(key, table)
    if isinstance(point["stream"], dict):
        point["stream"].setdefault("activations", msgspec.to_builtins(Stochastic()))


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


def label(value: Any) -> str:
    """How tables and figures show a value.

    >>> label(1e10), label(4), label("delegation")
    ('1e+10', '4', 'delegation')
    """
    short = f"{value:g}" if isinstance(value, float) else str(value)
    return repr(value) if isinstance(value, float) and float(short) != value else short


def _labels(sweep: Sweep) -> list[str]:
    labels = sweep.labels or [label(value) for value in sweep.values]
    if len(labels) != len(sweep.values) or len(set(labels)) != len(labels):
        raise ValueError(
            f"sweep of {sweep.parameter}: labels must be {len(sweep.values)} distinct names, "
            f"got {labels!r}"
        )
    return labels


def _check_keys(table: dict[str, Any]) -> None:
    """The file's keys are those of `Head` and of `Point` together."""
    known = {name: None for kind in (Head, Point) for name in kind.__struct_fields__}
    for key in table:
        if key not in known:
            raise ValueError(
                one_sentence(f"Object contains unknown field `{key}`", table, Point, known)
            )


def _check_names(experiment: Experiment) -> None:
    """Sweeps, figures and claims speak of what is there."""
    head, swept = experiment.head, {sweep.parameter for sweep in experiment.head.sweep}
    names = [algorithm.name for algorithm in experiment.points[0].algorithm]
    if len(set(names)) < len(names):
        raise ValueError(f"algorithm must have distinct names, got {names!r}")
    for figure in head.figure:
        for place, parameter in (("x", figure.x), ("panels", figure.panels)):
            free = {"time", "sigma"} if place == "x" else {None}
            if parameter not in swept | free:
                raise ValueError(f"figure: {place} must be a swept parameter, got {parameter!r}")
        if figure.x == figure.panels:
            raise ValueError(f"figure: panels must not be x as well, got {figure.panels!r}")
        left = swept - {figure.x, figure.panels} - set(figure.at)
        if len(left) > (figure.x == "sigma"):
            raise ValueError(
                f"figure: at must fix every sweep that is neither x nor panels, got {figure.at!r} "
                f"without {', '.join(sorted(left))}"
            )
    for claim in head.claim:
        if claim.best not in (claim.among or names):
            raise ValueError(f"claim: best must be the name of an algorithm, got {claim.best!r}")
    parts: list[tuple[str, Figure | Claim]] = [("figure", figure) for figure in head.figure]
    for place, part in parts + [("claim", claim) for claim in head.claim]:
        for name in part.among:
            if name not in names or part.among.count(name) > 1:
                raise ValueError(f"{place}: among must name algorithms, each once, got {name!r}")
        for parameter, value in part.at.items():
            labels = {values.get(parameter) for values in experiment.values}
            if label(value) not in labels:
                raise ValueError(
                    f"{place}: at must choose a value of a sweep, got {parameter} = {value!r}"
                )


def _check_options(point: Point) -> None:
    """An option that would have no effect is a misunderstanding."""
    stream = point.stream
    if stream.loss == "linear" and stream.noise != Stream().noise:
        raise ValueError(f"stream.noise has no meaning for linear losses, got {stream.noise}")
    if stream.loss != "linear" and stream.drift != 0.0:
        raise ValueError(f"stream.drift has no meaning but for linear losses, got {stream.drift}")
    for one in point.algorithm:
        kind = one.algorithm
        alone = kind in ("i_ftrl", "st_ftrl")
        if alone and one.weights != "uniform":
            raise ValueError(f"{one.name}: weights have no meaning for {kind}, got {one.weights!r}")
        if alone and one.rates != "adversarial":
            raise ValueError(f"{one.name}: rates have no meaning for {kind}, got {one.rates!r}")
        if one.experts != "paper" and (one.learner or ("" if alone else "MTFTRL")) != "MTFTRL":
            raise ValueError(
                f"{one.name}: experts have no meaning but for MTFTRL, got {one.experts!r}"
            )


def _convert(table: dict[str, Any], kind: type[S]) -> S:
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise ValueError(one_sentence(str(error), table, kind)) from None


def _assign(table: dict[str, Any], path: str, value: Any) -> None:
    """Set the parameter at a dotted path; `algorithm.x` sets it for every algorithm."""
    *parents, last = path.split(".")
    places: list[Any] = [table]
    for name in parents:
        children = [place.setdefault(name, {}) for place in places]
        places = [
            one for child in children for one in (child if isinstance(child, list) else [child])
        ]
        if not all(isinstance(place, dict) for place in places):
            raise ValueError(f"sweep: parameter must be a path through tables, got {path!r}")
    for place in places:
        place[last] = value


def _resolve_path(point: dict[str, Any], folder: Path) -> None:
    graph = point.get("graph")
    if isinstance(graph, dict) and isinstance(graph.get("path"), str):
        graph["path"] = str(folder / graph["path"])
