"""Traces as pandas tables. pandas is an extra: it is imported when a table is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mtcool.types import Floats, Integers, Label

if TYPE_CHECKING:
    import pandas as pd

    from mtcool.simulation.trace import Trace

Columns: TypeAlias = Mapping[str, Floats | Integers | Sequence[Label] | None]


def frame_of_times(trace: Trace) -> pd.DataFrame:
    """Totals of all agents, one row for each time."""
    return make_frame(
        {
            "round": trace.times,
            "loss": trace.loss,
            "regret": trace.regret,
            "messages": trace.messages,
            "message_bytes": trace.message_bytes,
            "clipped": trace.clipped,
        }
    )


def frame_of_agents(trace: Trace) -> pd.DataFrame:
    """Totals of each agent, one row for each agent, or for each time and agent."""
    at_all_times = trace.agent_loss.ndim == 2
    # Without a row for each time the totals speak of the whole stream, wherever the times end.
    rounds = trace.times if at_all_times else trace.agent_activations.sum(keepdims=True)
    count = len(trace.agents)
    return make_frame(
        {
            "round": np.repeat(rounds, count),
            "agent": _names(trace.agents, np.tile(np.arange(count), len(rounds))),
            "activations": trace.agent_activations.ravel(),
            "loss": trace.agent_loss.ravel(),
            "regret": None if trace.agent_regret is None else trace.agent_regret.ravel(),
            "clipped": trace.agent_clipped.ravel(),
            "messages": None if trace.agent_messages is None else trace.agent_messages.ravel(),
            "message_bytes": None if trace.agent_bytes is None else trace.agent_bytes.ravel(),
        }
    )


def frame_of_rounds(trace: Trace) -> pd.DataFrame:
    """Single rounds and the totals up to them, one row for each round."""
    if trace.predictions is None or trace.round_agents is None or trace.round_loss is None:
        raise ValueError(
            'row must be "time" or "agent", because this trace has no single rounds, got "round"; '
            "simulate(..., per_round=True) records them"
        )
    regret = trace.round_regret
    return make_frame(
        {
            "round": np.arange(1, len(trace.round_loss) + 1),
            "agent": _names(trace.agents, trace.round_agents),
            "loss": trace.round_loss,
            "total_loss": np.cumsum(trace.round_loss),
            "regret": regret,
            "total_regret": None if regret is None else np.cumsum(regret),
            **{f"prediction_{k}": x for k, x in enumerate(trace.predictions.T)},
        }
    )


def _names(agents: Sequence[Label], chosen: Integers) -> Sequence[Label]:
    if isinstance(agents, range):
        return np.asarray(agents)[chosen]  # type: ignore[return-value]
    return [agents[k] for k in chosen]


def make_frame(content: Columns | Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """A table of columns, without those that are None, or of rows."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            'to_frame needs pandas, which is not installed: pip install "mtcool[pandas]"'
        ) from None
    if isinstance(content, Mapping):
        content = {name: column for name, column in content.items() if column is not None}
    return pd.DataFrame(content)
