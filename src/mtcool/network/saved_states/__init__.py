"""From a file back into a state: only what a network of these settings could have written.

Compiled code trusts its state: it looks up what the state says without asking whether that exists.
So every number from outside is checked here, while the state is still fresh, and copied afterwards:
those of saved networks, and those of single agents in the databases of live hosts.
"""

import numpy as np

from mtcool.axes import own_arrays, state_arrays, states
from mtcool.learners.squared_weights import SquaredWeightsState
from mtcool.learners.two_phase import TwoPhaseState
from mtcool.network.saved_states import aggregators, learners
from mtcool.network.saved_states.checks import (
    Longest,
    Saved,
    check_constants,
    check_state,
    is_ours,
    within,
)
from mtcool.peers.assemble import Peers
from mtcool.peers.private import PrivatePeers
from mtcool.types import Integers, State

__all__ = [
    "aggregators",
    "check_fit",
    "check_parts",
    "check_releases",
    "check_saved",
    "check_state_arrays",
    "learners",
]


def check_saved(peers: Peers, arrays: Saved) -> None:
    """Refuse arrays that these peers, still fresh, could not have after any run."""
    check_state_arrays(peers.state, arrays)
    if isinstance(peers, PrivatePeers):
        check_releases(arrays, peers.horizon)


def check_state_arrays(state: State, arrays: Saved) -> None:
    """Refuse arrays that a state, still fresh, could not have after any run."""
    check_fit(state, arrays)
    with np.errstate(all="ignore"):  # what is too large for a number is refused
        check_parts(state, arrays, 1.0)


def check_releases(arrays: Saved, most: Integers) -> None:
    """Refuse a `PrivateState` that has published more often than it may."""
    within("activations", arrays["state.aggregator.activations"], 0, most)


def check_parts(whole: State, arrays: Saved, longest: Longest) -> None:
    """Refuse numbers that a fresh state could not have after updates of norm at most `longest`."""
    # Two kinds of state set the rates of the learner within.
    measured = isinstance(whole, TwoPhaseState | SquaredWeightsState)
    for prefix, state in states(whole):
        saved = {field: arrays[f"{prefix}.{field}"] for field, _ in own_arrays(state)}
        if is_ours(state) and not measured:
            check_constants(state, saved, ("rate",))
        check_state(state, saved, longest)


def check_fit(state: State, arrays: Saved) -> None:
    """Refuse arrays of other names, types or shapes than those of a fresh state."""
    own = {name: (array.dtype, array.shape) for name, array in state_arrays(state)}
    given = {name: (array.dtype, array.shape) for name, array in arrays.items()}
    if own != given:
        strange = min(name for name, _ in own.items() ^ given.items())
        raise ValueError(
            f"learner must have the state that was saved, got {own.get(strange)} for {strange} "
            f"in place of {given.get(strange)}"
        )
