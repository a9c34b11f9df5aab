"""What a network in the field began with, and who came later."""

from typing import NamedTuple

import numpy as np

from mtcool.field.settings import FieldSettings
from mtcool.field.sizes import name_sizes
from mtcool.peers.field.directory import Directory
from mtcool.peers.field.records import FieldPeers, Rules
from mtcool.peers.settings import Settings
from mtcool.types import Floats, Integers


class Origin(NamedTuple):
    """All of a network that its arrays do not say."""

    peers: FieldPeers
    """As they were before the first round."""
    settings: Settings
    directory: Directory
    """All agents that it knows, those of the first graph and those that joined."""
    weights: Floats
    """Of the first graph."""

    @property
    def field(self) -> FieldSettings:
        """Messages, delays and seed."""
        if self.settings.field is None:
            raise ValueError("settings must have a field, got None")
        return self.settings.field

    @property
    def rules(self) -> Rules:
        """The same as plain numbers."""
        return self.peers.rules

    @property
    def start(self) -> int:
        """How many agents there were in the first graph."""
        return self.directory.start.size

    @property
    def weighted(self) -> bool:
        """Whether weights were given: then the graph does not change."""
        return len(self.peers.state.edges.weight) > 0

    @property
    def names(self) -> Integers:
        """Bytes of the names of all agents in a message."""
        first = self.peers.state.agents["name"][: self.start]
        return np.concatenate((first, name_sizes(tuple(self.directory.joined))))
