"""Names for the arrays and labels that appear everywhere."""

from collections.abc import Hashable
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Indices: TypeAlias = NDArray[np.uint32]
"""Positions that a compiled loop need not check for being negative."""
Label: TypeAlias = Hashable
"""The name of an agent."""
Rates: TypeAlias = Literal["adversarial", "stochastic", "estimated"]
"""What the learning rates are made for: any activations, known probabilities, or unknown ones."""
OnExcess: TypeAlias = Literal["raise", "clip"]
"""Whether a gradient longer than the Lipschitz constant is refused or shortened."""
