"""What the agents say to each other along a stream: messages and bytes."""

import numpy as np

from mtcool.agents.traffic import traffic
from mtcool.network import Network
from mtcool.streams import Stream
from mtcool.types import Integers


def communication(
    network: Network, stream: Stream, times: Integers
) -> tuple[Integers, Integers] | None:
    """Messages between different agents in the first `times` rounds, and their bytes.

    They are those of `mtcool.agents`, which play the same rounds. None if `mtcool.agents.traffic`
    is not registered for this kind of peers.
    """
    each = traffic(network.peers, network.settings, network.graph, stream.losses)
    if each is None:
        return None
    messages, size = (np.concatenate(([0], np.cumsum(part[stream.agents])))[times] for part in each)
    return messages, size
