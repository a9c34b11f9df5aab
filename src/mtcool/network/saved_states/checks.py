"""Checks that all states have in common: finite numbers, counts, constants."""

import functools
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import numpy as np

from mtcool.types import AnyArray, Floats, State

Saved = Mapping[str, AnyArray]
"""Arrays of one state by field, of the types and shapes that the fresh state has."""
Longest: TypeAlias = Floats | float
"""The largest norm of a weighted gradient, one for all cliques or one for each."""

LARGEST = float(np.finfo(np.float64).max)
SMALLEST_RATE = 1e-150  # weights are at least 1e-100
SLACK = 1.0 + 4e-6  # for the rounding of many updates, and of norms and weights in messages
TINY = 1e-300  # below, numbers have fewer digits
MOST = 2**62 - 1  # of a count: another one does not overflow; and of a tree's word

# Set when a state is made, and never again.
CONSTANT = ("bound", "coin", "size")
SIGNED = ("power",)


@functools.singledispatch
def check_state(state: State, saved: Saved, longest: Longest) -> None:
    """Refuse numbers that a state, fresh in `state`, could not have after any run.

    States of learners from outside are not checked: the caller gives the learner, and trusts it.
    """
    if is_ours(state):
        check_numbers(state, saved)


def is_ours(state: State) -> bool:
    """Whether the type of a state belongs to this package."""
    return type(state).__module__.split(".")[0] == "mtcool"


def check_numbers(state: State, saved: Saved, largest: float = LARGEST) -> None:
    """Refuse numbers that are not finite, negative counts, and constants that changed."""
    check_constants(state, saved, CONSTANT)
    for field, array in saved.items():
        for name, values in _columns(field, array):
            if name == "rate":  # the two-phase strategy sets it, never to zero
                made = dict(_columns(field, getattr(state, field)))[name]
                low, high = np.minimum(made, SMALLEST_RATE), np.maximum(made, 1.0)
                within(name, values, low, SLACK * high)
            elif values.dtype.kind == "f":
                within(name, values, -largest, largest)
            elif name not in SIGNED:
                within(name, values, 0, MOST)


def check_constants(state: State, saved: Saved, constant: tuple[str, ...]) -> None:
    """Refuse fields of these names, also of records, that differ from the fresh state's."""
    for field, array in saved.items():
        made = dict(_columns(field, getattr(state, field)))
        for name, values in _columns(field, array):
            if name in constant:
                within(name, values, made[name], made[name])


def _columns(name: str, array: AnyArray) -> Iterator[tuple[str, AnyArray]]:
    """An array of numbers itself, or the fields of one of records, with their names."""
    if array.dtype.names is None:
        yield name, array
    else:
        yield from ((field, array[field]) for field in array.dtype.names)


def close(name: str, values: AnyArray, expected: AnyArray, size: AnyArray) -> None:
    """Refuse numbers further from `expected` than the rounding of many updates of this size."""
    margin = (SLACK - 1.0) * size + TINY
    within(name, values, expected - margin, expected + margin)


def within(name: str, values: AnyArray, low: AnyArray | float, high: AnyArray | float) -> None:
    """Refuse numbers that are not between these, both included; a NaN is between none."""
    wrong = ~((values >= low) & (values <= high))
    if wrong.any():
        raise ValueError(
            f"{name} must be what a network of these settings has, got {values[wrong].flat[0]}"
        )


def must(name: str, what: str, right: AnyArray, values: AnyArray) -> None:
    """Refuse the first of the values that is not right."""
    if not right.all():
        raise ValueError(f"{name} must {what}, got {values[~right].flat[0]}")
