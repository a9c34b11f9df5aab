"""When a private agent talks: it is silent in all other rounds."""

from dataclasses import dataclass

from mtcool.agents.kernels import talks_now
from mtcool.peers.quiet import Policy


@dataclass
class Talking:
    """When an agent with neighbours talks, what that costs, and how often it has."""

    index: int
    """Its place in the network, on which its coins depend."""
    policy: Policy
    limit: int
    """How often it may talk: its noise is made for that."""
    messages: int
    """What a round costs in which it talks."""
    size: int
    """In bytes."""
    begun: int
    """Rounds that it has begun, whatever came of them."""
    talked: int
    """Those in which it talked."""

    def begin(self) -> bool:
        """Begin a round; returns whether the agent talks in it."""
        given = self.policy, self.index, self.begun, self.talked
        speaks = bool(talks_now(*given, self.limit, self.messages, self.size))
        self.begun += 1
        self.talked += speaks
        return speaks
