"""Checks of an experiment file: its names must exist, and its options must have an effect."""

from collections.abc import Sequence
from typing import Any

from mtcool.algorithms import OWN, algorithm
from mtcool.config.algorithms import aggregator_of, is_noisy, learner_of, record_of
from mtcool.config.complaints import one_sentence
from mtcool.config.outside import is_outside
from mtcool.config.schema import AlgorithmSpec
from mtcool.experiments.files.field_checks import check_field
from mtcool.experiments.files.spec import (
    MEASURED,
    TRAFFIC,
    Claim,
    Experiment,
    Figure,
    Head,
    Point,
    PrivacySpec,
    StreamSpec,
    algorithm_parameter,
    label,
)
from mtcool.peers.settings import check_adaptive, publishing
from mtcool.privacy import AGGREGATORS


def check_keys(table: dict[str, Any]) -> None:
    """Refuse keys that neither `Head` nor `Point` has."""
    known = {name: None for kind in (Head, Point) for name in kind.__struct_fields__}
    for key in table:
        if key not in known:
            raise ValueError(
                one_sentence(f"Object contains unknown field `{key}`", table, Point, known)
            )


def check_swept_algorithms(swept: Sequence[str]) -> None:
    """Refuse sweeps over the names of algorithms, and two sweeps that set the same value."""
    for parameter in swept:
        found = algorithm_parameter(parameter)
        if found is None:
            continue
        name, key = found
        if key in ("", "name"):
            raise ValueError("sweep: parameter must leave the names of the algorithms alone")
        if name and f"algorithm.{key}" in swept:
            raise ValueError(
                f"sweep: parameter must be for all algorithms or for one, got algorithm.{key} "
                f"and {parameter}"
            )


def check_names(experiment: Experiment) -> None:
    """Refuse sweeps, figures and claims that name an unknown parameter, value or algorithm."""
    head, swept = experiment.head, {sweep.parameter for sweep in experiment.head.sweep}
    names = [algorithm.name for algorithm in experiment.points[0].algorithm]
    if len(set(names)) < len(names):
        raise ValueError(f"algorithm must have distinct names, got {names!r}")
    for figure in head.figure:
        for place, parameter in (("x", figure.x), ("panels", figure.panels)):
            free = MEASURED if place == "x" else (None,)
            if parameter not in {*swept, *free}:
                known = ", ".join([*sorted(swept), *filter(None, free)])
                raise ValueError(
                    f"figure: {place} must be one of {known or 'no sweeps'}, got {parameter!r}"
                )
        if figure.x == figure.panels:
            raise ValueError(f"figure: panels must not be x as well, got {figure.panels!r}")
        left = swept - {figure.x, figure.panels} - set(figure.at)
        if figure.x not in TRAFFIC and len(left) > (figure.x == "sigma"):
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


def check_options(points: Sequence[Point]) -> None:
    """Refuse options that would have no effect."""
    for point in points:
        _check_stream(point.stream)
        for one in point.algorithm:
            _check_algorithm(one)
            _check_noise(one)
        _check_privacy(point)
        check_field(point)
    levels = [point.privacy for point in points if point.privacy is not None]
    if levels and levels[0].strict_epsilon and not any(one.strict_agents for one in levels):
        raise ValueError(
            "privacy.strict_epsilon has no meaning without strict_agents, "
            f"got {levels[0].strict_epsilon}"
        )


def _check_stream(stream: StreamSpec) -> None:
    if stream.data is not None and not is_outside(stream.loss):
        raise ValueError(f"stream.data applies only to a loss of your own, got {stream.data!r}")
    if stream.loss == "linear" and stream.comparator == "tasks":
        raise ValueError("stream.comparator must be hindsight for linear losses, got 'tasks'")
    if stream.loss == "linear" and stream.noise != StreamSpec().noise:
        raise ValueError(f"stream.noise has no meaning for linear losses, got {stream.noise}")
    if stream.loss != "linear" and stream.drift != 0.0:
        raise ValueError(f"stream.drift applies only to linear losses, got {stream.drift}")


def _check_algorithm(one: AlgorithmSpec) -> None:
    record = record_of(one)
    if record.own_weights and one.weights != "uniform":
        raise ValueError(f"{one.name}: weights have no meaning for {record}, got {one.weights!r}")
    if one.rates not in record.rates:
        only = len(record.rates) == 1
        must = "have no meaning" if only else f"must be {' or '.join(record.rates)}"
        raise ValueError(f"{one.name}: rates {must} for {record}, got {one.rates!r}")
    if record.private:
        _check_published(one)
    if one.lipschitz == "adaptive":
        try:
            check_adaptive(record, learner_of(one), one.rates)
        except ValueError as error:
            raise ValueError(f"{one.name}: {error}") from None


def _check_published(one: AlgorithmSpec) -> None:
    record = record_of(one)
    try:
        publishing(record, learner_of(one))
    except ValueError:
        raise ValueError(
            f"{one.name}: learner must be MTFTRL for {record}, got {one.learner!r}"
        ) from None


def _check_noise(one: AlgorithmSpec) -> None:
    """Aggregator, calibration and law belong to private algorithms, and must fit together."""
    private = record_of(one).private
    for key in ("aggregator", "aggregator_parameters", "calibration", "law"):
        value = getattr(one, key) or None
        if value is not None and not private:
            apply = "apply" if key.endswith("parameters") else "applies"
            raise ValueError(f"{one.name}: {key} {apply} only to {_private_ones()}, got {value!r}")
        if value is not None and not key.startswith("aggregator") and not is_noisy(one):
            raise ValueError(f"{one.name}: {key} has no meaning without noise, got {value!r}")
    if not private:
        return
    kind, law = aggregator_of(one), one.law or "laplace"
    if is_noisy(one) and law not in kind.laws:
        raise ValueError(
            f"{one.name}: law must be {' or '.join(kind.laws)} for {kind.name}, got {law!r}"
        )
    if one.calibration is not None and one.calibration not in kind.calibrations:
        fitting = [name for name, it in AGGREGATORS.items() if one.calibration in it.calibrations]
        raise ValueError(
            f"{one.name}: aggregator must be {' or '.join(fitting)} for calibration "
            f"{one.calibration}, got {kind.name!r}"
        )
    if one.calibration == "paper" and one.law == "gaussian":
        raise ValueError(f"{one.name}: law must be laplace for calibration paper, got {one.law!r}")


def _private_ones() -> str:
    return " or ".join(name for name in OWN if algorithm(name).private)


def _check_privacy(point: Point) -> None:
    levels = point.privacy
    if levels is None:
        return
    if not any(record_of(one).private for one in point.algorithm):
        raise ValueError(
            f"privacy has no meaning without an algorithm {_private_ones()}, got a table"
        )
    gaussian = any(one.law == "gaussian" for one in point.algorithm)
    if levels.delta != PrivacySpec().delta and not gaussian:
        raise ValueError(f"privacy.delta has no meaning without a gaussian law, got {levels.delta}")
    if levels.strict_agents and levels.strict_epsilon is None:
        raise ValueError(
            f"privacy.strict_epsilon is missing for strict_agents = {levels.strict_agents}"
        )
