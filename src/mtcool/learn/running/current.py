"""A run of `mtcool learn` while it is under way."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias, final

from mtcool.learn.running.feed import Feed
from mtcool.learn.running.options import LearnOptions
from mtcool.learn.running.run import Pass
from mtcool.learn.running.settings import PassSettings

Tell: TypeAlias = Callable[[str], None]
"""Takes sentences that people read while they wait."""


@final
@dataclass
class RunningPass:
    """A pass, what was asked of it, and what there is to read."""

    play: Pass
    settings: PassSettings
    feed: Feed
    asked: LearnOptions
    tell: Tell
    goes_on: bool = False
    complaints: list[str] = field(default_factory=list)
    line: int = 0
    rows: int = 0
    saved: float = field(default_factory=time.monotonic)
    busy: bool = False
    """Whether some learners may have played what others have not."""
