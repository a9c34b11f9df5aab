"""From a network in one block to its agents, and back: the same numbers at other places.

`cut` and `join` choose their implementation by type (`kinds.py`), one file for each kind of peers.
"""

from mtcool.agents.cutting import (  # noqa: F401 (implementations)
    cliques,
    field,
    field_joining,
    private,
    single_task,
)
from mtcool.agents.cutting.kinds import Joined, cut, join

__all__ = ["Joined", "cut", "join"]
