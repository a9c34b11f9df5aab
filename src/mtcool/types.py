"""Names for the types that appear everywhere."""

from collections.abc import Callable, Hashable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Indices: TypeAlias = NDArray[np.uint32]
"""Positions that a compiled loop need not check for being negative."""
AnyArray: TypeAlias = NDArray[Any]
"""An array of any numbers or records."""
Label: TypeAlias = Hashable
"""The name of an agent."""
Rates: TypeAlias = Literal["adversarial", "stochastic", "estimated", "adaptive"]
"""What the learning rates are made for: any activations, known probabilities, or unknown ones."""
OnExcess: TypeAlias = Literal["raise", "clip"]
"""Whether a gradient longer than the Lipschitz constant is refused or shortened."""
Lipschitz: TypeAlias = float | Literal["adaptive"]
"""A bound on the norms of gradients, or none: every clique uses the longest it has received."""
GradientLike: TypeAlias = ArrayLike | Callable[[Floats], ArrayLike]
"""A subgradient, or for ST-FTRL a function that returns the subgradient at a point."""

# What follows has no type that a checker could use: numba compiles a function for the types that
# it is called with, and users add types of their own.
State: TypeAlias = Any
"""State of a learner or an aggregator: a NamedTuple of arrays, whose type chooses the functions."""
PeersBlock: TypeAlias = Any
"""All agents of a network in a NamedTuple such as `CliquePeers`, whose type chooses the steps."""
Record: TypeAlias = Any
"""One entry of an array of records: numbers by name."""
Given: TypeAlias = Any
"""An argument as the caller gave it, before it is checked."""
Plain: TypeAlias = Any
"""A value from a file: a number, a string, or a list or table of such values."""
Name: TypeAlias = bool | int | float | str | list[Plain] | None
"""The name of an agent in a file or a message; a list stands for a tuple."""
