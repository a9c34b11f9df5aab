"""What the agents say to each other along a stream: messages and bytes."""

from __future__ import annotations

import numpy as np

from mtcool.agents.traffic import Traffic, said, traffic
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
    return None if each is None else along(each, stream, times)


def along(each: Traffic, stream: Stream, times: Integers) -> tuple[Integers, Integers]:
    """The totals in the first `times` rounds, if an activation of an agent always costs as much."""
    messages, size = (np.concatenate(([0], np.cumsum(part[stream.agents])))[times] for part in each)
    return messages, size


class Counting:
    """Messages and bytes of a stream while it is played, in all and by agent.

    If an activation of an agent always costs as much, nothing need be counted. Else agents count
    for themselves, and those who were active are asked.
    """

    def __init__(self, network: Network, stream: Stream, times: Integers, per_agent: bool) -> None:
        self._network, self._each, self._totals = network, None, None
        self._per_agent = per_agent
        everybody = np.arange(network.names.size)
        self._before = said(network.peers, everybody)
        if self._before is not None:
            self._active, self._times, self._asked = stream.agents, times, 0
            self._said = Traffic(np.zeros_like(everybody), np.zeros_like(everybody))
            self._totals = np.zeros(len(times), np.int64), np.zeros(len(times), np.int64)
            shape = (len(times) if per_agent else 0, network.names.size)
            self._agents = Traffic(np.zeros(shape, np.int64), np.zeros(shape, np.int64))
            return
        self._each = traffic(network.peers, network.settings, network.graph, stream.losses)
        if self._each is not None:
            self._totals = along(self._each, stream, times)

    def _ask(self, before: Traffic, until: int) -> list[int]:
        """Messages and bytes since the last time, in all; the sums of the agents go on."""
        who = np.unique(self._active[self._asked : until])
        self._asked = until
        now, more = said(self._network.peers, who), []
        if now is None:
            raise ValueError(f"agents must count what they say, got {self._network!r}")
        for counts, first, sums in zip(now, before, self._said, strict=True):
            own = counts - first[who]
            more.append(int((own - sums[who]).sum()))
            sums[who] = own
        return more

    def mark(self, k: int) -> None:
        """Note what was said until the time number k."""
        if self._before is None or self._totals is None:
            return
        more = self._ask(self._before, int(self._times[k]))
        for totals, agents, sums, new in zip(
            self._totals, self._agents, self._said, more, strict=True
        ):
            totals[k] = new + (totals[k - 1] if k > 0 else 0)
            if self._per_agent:
                agents[k] = sums

    def finish(self) -> None:
        """Note what was said in all."""
        if self._before is not None:
            self._ask(self._before, len(self._active))
            self._agents = self._said

    @property
    def totals(self) -> tuple[Integers | None, Integers | None]:
        """Messages and bytes of all agents up to each time."""
        return (None, None) if self._totals is None else self._totals

    def of_agents(self, activations: Integers) -> tuple[Integers | None, Integers | None]:
        """Messages and bytes that the activations of each agent have caused."""
        if self._before is not None:
            return self._agents
        if self._each is None:
            return None, None
        return self._each.messages * activations, self._each.size * activations
