"""What a simulation reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from mtcool import validation
from mtcool.simulation.frames import frame_of_agents, frame_of_rounds, frame_of_times
from mtcool.types import Floats, Integers, Label

if TYPE_CHECKING:
    import pandas as pd

Row: TypeAlias = Literal["time", "agent", "round"]
FRAMES = {"time": frame_of_times, "agent": frame_of_agents, "round": frame_of_rounds}


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """Losses, regret and communication at chosen times, and for each agent at the end.

    Entry k of the arrays in time speaks of the first `times[k]` rounds. Arrays of agents are in
    the order of `agents`; they speak of the whole stream, or, with `per_agent=True`, have a row for
    each time. Single rounds are recorded with `per_round=True` only, and are None otherwise.
    Without a comparator there is no regret, and all regrets are None.

    Examples
    --------
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
    """Multitask regret R_t(U) up to each time (Section 2 of the paper)."""
    messages: Integers | None
    """Messages that agents would have sent up to each time, requests included (`mtcool.agents`).

    None for peers of a kind from outside that `mtcool.agents.traffic` is not registered for.
    """
    message_bytes: Integers | None
    """Their bytes, or None; a name that could not be sent counts as its text."""
    clipped: Integers
    """Gradients up to each time that were longer than `lipschitz` and were shortened to it."""
    agents: Sequence[Label]
    """Names of the agents, in the order of the arrays of agents."""
    agent_activations: Integers
    """Number of activations of each agent, (agents,), or (times, agents) if asked for."""
    agent_loss: Floats
    """Total loss paid by each agent, (agents,) or (times, agents)."""
    agent_regret: Floats | None
    """Regret of each agent, (agents,) or (times, agents)."""
    agent_clipped: Integers
    """Clipped gradients of each agent's own losses, (agents,) or (times, agents).

    With ST-FTRL a loss has a gradient at the point of every neighbour, and each of them counts.
    """
    agent_messages: Integers | None = None
    """Messages that each agent's own activations have caused, (agents,) or (times, agents)."""
    agent_bytes: Integers | None = None
    """Their bytes, or None."""
    round_agents: Integers | None = None
    """The active agent of each round, as a position in `agents`, (rounds,)."""
    predictions: Floats | None = None
    """The prediction of each round, (rounds, dim)."""
    round_loss: Floats | None = None
    """The loss paid in each round, (rounds,)."""
    round_regret: Floats | None = None
    """The regret of each round, (rounds,)."""

    def to_frame(self, row: Row = "time") -> pd.DataFrame:
        """The trace as a pandas table, with one row for each time, each agent or each round.

        Parameters
        ----------
        row
            "time": totals of all agents up to each time. "agent": totals of each agent, at each
            time if the trace has them, else at the end. "round": the agent, prediction, loss and
            regret of each round and the totals up to it, of traces made with `per_round=True`.

        Examples
        --------
        >>> import mtcool
        >>> stream = mtcool.Stream([0, 1], mtcool.streams.quadratic([[0.5], [0.5]]))
        >>> net = mtcool.i_ftrl(mtcool.graphs.edgeless(2), 1)
        >>> trace = mtcool.simulate(net, stream, per_round=True)
        >>> trace.to_frame("round").columns.tolist()
        ['round', 'agent', 'loss', 'total_loss', 'prediction_0']
        """
        return FRAMES[validation.one_of("row", row, tuple(FRAMES))](self)

    def __repr__(self) -> str:
        regret = "" if self.regret is None else f", regret {self.regret[-1]:.3g}"
        return (
            f"Trace({self.times[-1]:,} rounds, {self.agent_loss.shape[-1]:,} agents, "
            f"loss {self.loss[-1]:.3g}{regret})"
        )
