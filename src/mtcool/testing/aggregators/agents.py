"""A claim about agents: they share a state, and nothing else."""

import numpy as np

from mtcool.privacy.aggregators.aggregator import Blocks
from mtcool.testing.aggregators.trial import AggregatorTrial, decode_one, encode_one
from mtcool.testing.checks import require_close


def agents_do_not_meet(trial: AggregatorTrial) -> None:
    """Agents with other widths and horizons stand in one state; each publishes its own sums."""
    widths, horizons = np.array([2, 1, 3]), np.array([5, 100, 17])
    for law in trial.aggregator.laws:
        rng = np.random.default_rng(1)
        state = trial.aggregator.make_state(Blocks(widths, horizons), law)
        sums = [np.zeros(width) for width in widths]
        for agent in [0, 2, 1, 1, 0, 2, 2, 1, 0]:
            leaf = rng.standard_normal(widths[agent])
            value = np.empty_like(leaf)
            encode_one(state, agent, leaf, value)
            decode_one(state, agent, value, value)
            sums[agent] += leaf
            for other, wanted in enumerate(sums):
                start = state.start[other]
                found = state.published[start : start + widths[other]]
                require_close(found, wanted, 1e-12, f"agent {other} publishes another sum")


CLAIMS = (agents_do_not_meet,)
