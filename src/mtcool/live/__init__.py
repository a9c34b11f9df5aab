"""A live network: every agent, or a few, in a process of its own, and only neighbours talk.

`Node` is one process of it. `docs/live.md` is the guide.
"""

from mtcool.live.description import Description, read_description
from mtcool.live.driving import Prediction
from mtcool.live.host import Refusal
from mtcool.live.node import Node

__all__ = ["Description", "Node", "Prediction", "Refusal", "read_description"]
