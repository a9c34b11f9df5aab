"""Aggregators: running sums of private vectors, published with noise.

Each stands in a file of its own, and in the table below, from which experiment files, commands,
saved networks and comparisons know it (`docs/add-an-aggregator.md`).
"""

from typing import TypeVar

from mtcool.privacy.aggregators.aggregator import Aggregator
from mtcool.privacy.aggregators.binary_tree import BinaryTree
from mtcool.privacy.aggregators.blt import BLT
from mtcool.privacy.aggregators.doubling import Doubling
from mtcool.privacy.aggregators.no_noise import NoNoise
from mtcool.privacy.aggregators.per_gradient import PerGradient
from mtcool.privacy.aggregators.smooth_tree import SmoothTree

AGGREGATORS: dict[str, type[Aggregator]] = {
    kind.name: kind for kind in (BinaryTree, SmoothTree, BLT, PerGradient, Doubling, NoNoise)
}
"""The aggregators of the package, by name."""

OWN = tuple(AGGREGATORS)
"""The names of the package's own aggregators; others may be registered later."""

DEFAULT = BinaryTree()
"""The paper's: the one that is used unless another is given."""

A = TypeVar("A", bound=type[Aggregator])


def register(kind: A) -> A:
    """Make an aggregator of your own known by its name; a decorator of its class.

    Parameters
    ----------
    kind
        The class of the aggregator, with a `name` of its own.

    Examples
    --------
    >>> register(BinaryTree) is BinaryTree
    True
    """
    if AGGREGATORS.setdefault(kind.name, kind) is not kind:
        raise ValueError(f"name must be new, got {kind.name!r}")
    return kind


__all__ = [
    "AGGREGATORS",
    "BLT",
    "DEFAULT",
    "OWN",
    "Aggregator",
    "BinaryTree",
    "Doubling",
    "NoNoise",
    "PerGradient",
    "SmoothTree",
    "register",
]
