"""The words that privacy settings are written in."""

from typing import Literal, TypeAlias

Law: TypeAlias = Literal["laplace", "gaussian", "none"]
"""Law of the noise: Laplace for pure privacy, Gaussian for all other, none without privacy."""
Method: TypeAlias = Literal["tight", "paper"]
"""How noise is calibrated: to spend exactly the budget, or as published."""
Adjacency: TypeAlias = Literal["replace", "zero-out"]
"""What is hidden: that one loss was replaced by any other, or that it was removed."""
Source: TypeAlias = Literal["simulated", "exact"]
"""Where noise comes from: NumPy's generator, or OpenDP's samplers."""
