"""What the names in the table of an algorithm stand for: records, learners, aggregators.

Each is a word for one of the package's own, or "module:name" for one from outside.
"""

import dataclasses
import difflib
import typing
from collections.abc import Callable
from typing import Any

import msgspec

from mtcool import algorithms, learners, privacy
from mtcool.config import outside, schema
from mtcool.config.complaints import make_whole, one_sentence
from mtcool.config.outside import is_outside
from mtcool.privacy import aggregators
from mtcool.types import Given, Plain


def record_of(one: schema.AlgorithmSpec, place: str = "algorithm") -> algorithms.Algorithm:
    """The record of an algorithm of the file, which `place` names if it is wrong.

    Examples
    --------
    >>> record_of(schema.AlgorithmSpec(name="mine", algorithm="i_ftrl"))
    i_ftrl
    """
    key, name = f"{place}.algorithm", one.algorithm
    if not is_outside(name):
        # Others may be registered here, and workers on other machines would not know them.
        if name not in algorithms.OWN:
            raise ValueError(
                f"{key} must be one of {', '.join(sorted(algorithms.OWN))}, got {name!r}; "
                'an algorithm of your own is "module:name"'
            )
        found: Any = algorithms.algorithm(name)
    else:
        found = outside.find(key, name, "an algorithm")
    if isinstance(found, algorithms.Algorithm):
        if one.parameters:
            raise ValueError(
                f"{place}.parameters have no meaning for {name}, which is a record and has none, "
                f"got {one.parameters!r}"
            )
        return found
    _check_parameters(f"{key} = {name!r}", found, one.parameters)
    try:
        made = _made(found, one.parameters)
    except (Exception, SystemExit) as error:  # whatever goes wrong in a function of the user's
        raise ValueError(
            f"{key} = {name!r} with parameters {one.parameters!r}: {type(error).__name__}: {error}"
        ) from None
    if not isinstance(made, algorithms.Algorithm):
        raise ValueError(
            f"{key} must name an Algorithm, or a function that makes one, got {name!r}, "
            f"which gives {made!r}"
        )
    return made


def _check_parameters(place: str, function: Given, parameters: dict[str, Plain]) -> None:
    """Refuse parameters that are not of the type that a function of the user's says."""
    try:
        kinds = typing.get_type_hints(function)
    except (TypeError, NameError, AttributeError):  # no function, or types that are not there
        return
    for name in kinds.keys() & parameters.keys():
        table = {name: parameters[name]}
        try:
            wanted = msgspec.defstruct("Parameters", [(name, kinds[name])])
            msgspec.convert(table, wanted)
        except msgspec.ValidationError as error:
            if not make_whole(str(error), table):
                told = one_sentence(str(error), table, wanted)
                raise ValueError(f"{place}: {told}") from None
        except TypeError:  # a type that no value of a file could have is not checked
            continue


def _made(function: Callable[..., object], parameters: dict[str, Plain]) -> object:
    """Once for the same parameters: what is compiled for a record serves all its networks."""
    key = function, repr(sorted(parameters.items()))
    if key not in _RECORDS:
        _RECORDS[key] = function(**parameters)
    return _RECORDS[key]


_RECORDS: dict[tuple[Callable[..., object], str], object] = {}


def learner_of(one: schema.AlgorithmSpec, place: str = "algorithm") -> learners.Learner:
    """The learner of an algorithm of the file, which `place` names if it is wrong.

    Examples
    --------
    >>> learner_of(schema.AlgorithmSpec(name="mine", algorithm="mt_co2ol", experts="geometric"))
    MTFTRL(experts='geometric', free_last=False)
    """
    default, table = record_of(one, place).learner, dict(one.learner_parameters)
    if one.experts != "paper":
        if "experts" in table:
            raise ValueError(
                f"{place}.experts must be given once, got learner_parameters with "
                f"experts = {table['experts']!r} as well"
            )
        table["experts"] = one.experts
    if one.learner is None and not table:
        return default
    key, name = f"{place}.learner", one.learner or type(default).__name__
    cls: Any = type(default)
    if one.learner is None:
        table = _own_parameters(default) | table
    elif is_outside(one.learner):
        cls = outside.find(key, name, "a class")
    elif name in learners.LEARNERS:
        cls = learners.LEARNERS[name]
    else:
        raise ValueError(
            f"{key} must be one of {', '.join(sorted(learners.LEARNERS))}, "
            f'got {name!r}; a learner of your own is "module:Class"'
        )
    _require_class(key, name, cls, ("make_state",))
    if one.experts != "paper" and cls is not learners.MTFTRL:
        raise ValueError(f"{one.name}: experts apply only to MTFTRL, got {one.experts!r}")
    return _from_table(key, name, cls, table)  # type: ignore[no-any-return]


def aggregator_of(one: schema.AlgorithmSpec, place: str = "algorithm") -> privacy.Aggregator:
    """The aggregator of a private algorithm of the file, which `place` names if it is wrong.

    Examples
    --------
    >>> aggregator_of(schema.AlgorithmSpec(name="mine", algorithm="dpmt_co2ol"))
    BinaryTree(completed=True)
    """
    key, default = f"{place}.aggregator", privacy.Privacy.aggregator
    name = one.aggregator or default.name
    if is_outside(name):
        cls = outside.find(key, name, "a class")
        _require_class(key, name, cls, ("make_state", "laws", "name"))
        try:
            privacy.register(cls)  # in every process that meets the name
        except ValueError as error:
            raise ValueError(f"{key} = {name!r}: {error}") from None
    elif name in aggregators.OWN:
        # Others may be registered here, and workers on other machines would not know them.
        cls = privacy.AGGREGATORS[name]
    else:
        raise ValueError(
            f"{key} must be one of {', '.join(sorted(aggregators.OWN))}, "
            f'got {name!r}; an aggregator of your own is "module:Class"'
        )
    return _from_table(key, name, cls, one.aggregator_parameters)  # type: ignore[no-any-return]


def settings_of(one: schema.AlgorithmSpec) -> dict[str, Any]:
    """What a network of the algorithm is made with, apart from privacy and probabilities."""
    return {
        "learner": learner_of(one),
        "weights": one.weights,
        "rates": one.rates,
        "lipschitz": one.lipschitz,
        "radius": one.radius,
        "on_excess": "raise" if one.lipschitz == "adaptive" else "clip",
    }


def is_noisy(one: schema.AlgorithmSpec) -> bool:
    """Whether what a private algorithm sends has noise in it."""
    return aggregator_of(one).laws != ("none",)


def _own_parameters(made: learners.Learner) -> dict[str, Any]:
    """The fields that an object was made with."""
    if not dataclasses.is_dataclass(made):
        return {}
    return {one.name: getattr(made, one.name) for one in dataclasses.fields(made) if one.init}


def _require_class(key: str, name: str, cls: Given, attributes: tuple[str, ...]) -> None:
    """Refuse what is not a dataclass with these attributes, of which the first is a method."""
    if isinstance(cls, type) and dataclasses.is_dataclass(cls):
        missing = [attribute for attribute in attributes if not hasattr(cls, attribute)]
        if not missing:
            return
    first, *rest = attributes
    with_rest = f" and attributes {', '.join(rest)}" if rest else ""
    raise ValueError(
        f"{key} must name a dataclass with a method {first}{with_rest}, got {name!r}, "
        f"which is {cls!r}"
    )


def _from_table(key: str, name: str, cls: Given, table: dict[str, Any]) -> Given:
    """An object of a dataclass, made with the parameters of the file."""
    known = [field.name for field in dataclasses.fields(cls) if field.init]
    for parameter in table:
        if parameter not in known:
            close = difflib.get_close_matches(parameter, known, n=1) or known
            told = f"; it has {', '.join(close)}" if close else ""
            raise ValueError(f"{key} = {name!r}: {cls.__name__} has no parameter {parameter}{told}")
    try:
        return msgspec.convert(table, cls)
    except msgspec.ValidationError as error:
        told = str(error)  # of its own checks, or of msgspec's
        if told.startswith(("Expected", "Object")):
            told = f"{cls.__name__}.{one_sentence(told, table, cls)}"
        raise ValueError(f"{key} = {name!r}: {told}") from None
    except TypeError as error:  # an annotation that no value of a file could have
        raise ValueError(f"{key} = {name!r}: {error}") from None
