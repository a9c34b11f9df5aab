"""The privacy settings of a network: a `Privacy` spread over its agents, as a file keeps it."""

from dataclasses import dataclass
from typing import Literal

from mtcool.privacy.aggregators.aggregator import Aggregator
from mtcool.privacy.calibration import Budget
from mtcool.privacy.words import Adjacency, Law, Method, Source


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
