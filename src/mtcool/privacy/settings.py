"""The privacy settings of a network: a `Privacy` spread over its agents, as a file keeps it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Literal

from mtcool.privacy.aggregators.aggregator import Aggregator
from mtcool.privacy.calibration import Budget
from mtcool.privacy.literals import Adjacency, Law, Method, Source


@dataclass(frozen=True, kw_only=True)
class PrivacySettings:
    """Levels and horizons of all agents, in node order, and their mechanism.

    `Privacy.of_agents` makes them, and refuses wrong ones.
    """

    budget: Budget
    horizon: tuple[int, ...]
    law: Law
    aggregator: Aggregator
    calibration: Method
    adjacency: Adjacency
    split: float | Literal["optimal"]
    noise: Source

    def of_agent(self, agent: int) -> PrivacySettings:
        """The level and the horizon of one agent."""
        given = {field.name: getattr(self.budget, field.name) for field in fields(self.budget)}
        levels = {
            name: None if values is None else (values[agent],) for name, values in given.items()
        }
        return replace(self, budget=Budget(**levels), horizon=(self.horizon[agent],))
