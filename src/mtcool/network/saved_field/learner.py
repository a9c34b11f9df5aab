"""What the cliques of a network in the field know, one clique after the other."""

import numpy as np

from mtcool.learners import Cliques
from mtcool.network.saved_field.form import counted
from mtcool.peers.arrays import own_arrays, states
from mtcool.peers.field.records import FieldPeers
from mtcool.peers.settings import Settings
from mtcool.types import Floats, Integers, State


def fresh_learner(settings: Settings, slots: Integers, bound: Floats) -> State:
    """The state of cliques with so many slots, told to expect such weights, before any update."""
    start = np.concatenate(([0], np.cumsum(slots)))
    return settings.clique_learner.make_state(Cliques(start, bound, bound), settings.dim)


def learner_of(peers: FieldPeers, settings: Settings, known: int) -> State:
    """What the cliques of the first `known` agents know, in a state without holes."""
    cliques = peers.state.cliques[:known]
    learner = fresh_learner(settings, cliques["slots"], cliques["bound"])
    made = np.flatnonzero(cliques["slots"])  # an agent that is known may never have been there
    rows = counted(cliques["first"], cliques["slots"])
    for (_, new), (_, old) in zip(states(learner), states(peers.state.learner), strict=True):
        for field, array in own_arrays(new):
            source = getattr(old, field)
            if field == "gradients":
                array[...] = source[rows]
            elif field in ("experts", "centre"):
                plan = old.plan[:known]
                experts = counted(plan["expert"], plan["experts"])
                array[...] = source[:, experts] if field == "experts" else source[experts]
            else:
                array[made] = source[made]
    return learner
