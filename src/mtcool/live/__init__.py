"""A live network: every agent, or a few, in a process of its own, and only neighbours talk.

`Node` is one process of it. `docs/live.md` is the guide.
"""

from typing import TYPE_CHECKING

from mtcool.lazy import attach
from mtcool.live.agents import Prediction
from mtcool.live.config import Description, described, read_description
from mtcool.live.node import Node
from mtcool.live.refusals import Refusal

if TYPE_CHECKING:
    from mtcool.live.journals import replay_files
else:
    __getattr__, __dir__ = attach(__name__, {"journals": ("replay_files",)})

__all__ = [
    "Description",
    "Node",
    "Prediction",
    "Refusal",
    "described",
    "read_description",
    "replay_files",
]
