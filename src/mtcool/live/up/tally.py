"""How much the network has paid so far, against learning alone and against one model for all."""

from __future__ import annotations

from dataclasses import dataclass, field

from mtcool.live.counts import PaidCounts
from mtcool.types import Label


@dataclass
class Tally:
    """What was fed, and what it cost."""

    before: int = 0
    """Rows of the stream that earlier runs have fed."""
    activations: int = 0
    unseen: int = 0
    """Activations whose prediction was lost with its process; they are learned from."""
    refused: int = 0
    """Rows that a node refused."""
    old: int = 0
    missing: int = 0
    learned: float = 0.0
    alone: float | None = None
    pooled: float | None = None
    counted: int = 0
    """Activations whose losses are in these sums."""
    agents: dict[Label, PaidCounts] = field(default_factory=dict)

    def add(
        self, agent: Label, loss: float | None, alone: float | None, pooled: float | None
    ) -> None:
        """Count an activation."""
        self.activations += 1
        if loss is None:
            return
        self.counted += 1
        self.learned += loss
        if alone is not None:
            self.alone = alone + (self.alone or 0.0)
        if pooled is not None:
            self.pooled = pooled + (self.pooled or 0.0)
        self.agents.setdefault(agent, PaidCounts()).add(loss, alone)

    def mean(self, total: float | None) -> float | None:
        """A sum as a mean over the activations that were counted."""
        return None if total is None or not self.counted else total / self.counted
