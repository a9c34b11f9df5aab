"""What a simulation reports."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Trace:
    """Losses, regret and communication at chosen times, and for each agent at the end.

    Entry k of the arrays in time speaks of the first `times[k]` rounds. Arrays of agents are in
    node order. Without a comparator there is no regret, and both regrets are None.
    """

    times: Integers
    loss: Floats
    """Total loss paid by all agents up to each time."""
    regret: Floats | None
    """Multitask regret R_t(U) up to each time (`eq:mt-regret`)."""
    messages: Integers
    """Models fetched from and gradients (or losses) sent to other agents up to each time."""
    message_bytes: Integers
    """The same in bytes of payload, eight for every number."""
    agent_activations: Integers
    """Number of activations of each agent, (agents,), or (times, agents) if asked for."""
    agent_loss: Floats
    """Total loss paid by each agent, (agents,) or (times, agents)."""
    agent_regret: Floats | None
    """Regret of each agent, (agents,) or (times, agents)."""
