"""From the description of a network to the agents of one host."""

from __future__ import annotations

from collections.abc import Callable

from mtcool.live.agents import Driver
from mtcool.live.config.reading import Description
from mtcool.types import Label


def drivers_of(description: Description) -> Callable[[Label], Driver]:
    """How to make a fresh agent by its name; it goes on when it is given what it has kept.

    An agent of the first description is cut out of its network; where an agent depends on its
    neighbours alone, out of the part of the network that its host needs, so that a host of a large
    network begins as fast as one of a small one. An agent that comes later is new, and has no
    neighbours until it meets them. So have all agents of later descriptions: one that is read in a
    replay may know neighbours that an agent had not met yet when it joined.
    """
    # A host of one kind does not import what the other learns with.
    if description.file.algorithm is None:
        from mtcool.live.config.models import table_drivers

        return table_drivers(description)
    from mtcool.live.config.networks import gradient_drivers

    return gradient_drivers(description)
