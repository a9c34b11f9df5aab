"""Which agents a host has, and where their neighbours are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from mtcool.types import Label


class Share(NamedTuple):
    """One host's part of a network.

    Examples
    --------
    >>> Share("left", 7, {"a": "left", "b": "right"}).others
    ('right',)
    """

    host: str
    network: int
    """A number that all hosts of a network agree on, and others do not."""
    home: Mapping[Label, str]
    """The host of each agent that lives here or is a neighbour of one that does."""
    revision: int = 0
    """Of the description: it grows when the graph changes."""
    private: bool = False
    """Whether its agents publish noisy sums, which must not be drawn twice."""

    @property
    def others(self) -> tuple[str, ...]:
        """The hosts that it talks to."""
        return tuple(sorted({host for host in self.home.values() if host != self.host}))
