"""What a simulation reports."""

from __future__ import annotations

from dataclasses import dataclass

from mtcool.types import Floats, Integers


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """Losses, regret and communication at chosen times, and for each agent at the end.

    Entry k of the arrays in time speaks of the first `times[k]` rounds. Arrays of agents are in
    the order of the network's `graph.labels`; they speak of the whole stream, or, with
    `per_agent=True`, have a row for each time. Without a comparator there is no regret, and both
    regrets are None.

    >>> import mtcool
    >>> graph = mtcool.graphs.ring(4)
    >>> stream = mtcool.streams.quadratic_stream(graph, [[0.1]] * 4, rounds=100, seed=0)
    >>> mtcool.simulate(mtcool.i_ftrl(graph, 1), stream, times=[10, 100])
    Trace(100 rounds, 4 agents, loss 0.0376, regret 0.0328)
    """

    times: Integers
    """Numbers of rounds."""
    loss: Floats
    """Total loss paid by all agents up to each time."""
    regret: Floats | None
    """Multitask regret R_t(U) up to each time (`eq:mt-regret`)."""
    messages: Integers
    """Messages between different agents up to each time, requests included (`mtcool.agents`)."""
    message_bytes: Integers
    """Their bytes."""
    agent_activations: Integers
    """Number of activations of each agent, (agents,), or (times, agents) if asked for."""
    agent_loss: Floats
    """Total loss paid by each agent, (agents,) or (times, agents)."""
    agent_regret: Floats | None
    """Regret of each agent, (agents,) or (times, agents)."""

    def __repr__(self) -> str:
        regret = "" if self.regret is None else f", regret {self.regret[-1]:.3g}"
        return (
            f"Trace({self.times[-1]:,} rounds, {self.agent_loss.shape[-1]:,} agents, "
            f"loss {self.loss[-1]:.3g}{regret})"
        )
