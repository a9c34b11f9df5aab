"""Losses over the orders of a stream: their mean, and how sure it is."""

import math
import sys
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Score:
    """One loss for each order."""

    losses: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean over the orders; infinite if one of them diverged."""
        return float(np.mean(self.losses))

    @property
    def error(self) -> float | None:
        """The standard error of the mean; None for one order or after a divergence."""
        if len(self.losses) == 1 or not math.isfinite(self.mean):
            return None
        return float(np.std(self.losses, ddof=1) / math.sqrt(len(self.losses)))

    def over(self, other: "Score") -> "Score":
        """The ratios to another's losses on the same orders; zero where that one diverged."""
        pairs = zip(self.losses, other.losses, strict=True)
        return Score(tuple(mine / its for mine, its in pairs))

    def __str__(self) -> str:
        if not math.isfinite(self.mean):
            return "diverged"
        error = "" if self.error is None else f" ± {self.error:.4f}"
        return f"{self.mean:.4f}{error}"


def say(line: str) -> None:
    """Tell on standard error what runs: some rivals take long."""
    print(line, file=sys.stderr, flush=True)
