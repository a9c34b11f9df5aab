"""What the cliques of a network in the field know, one clique after the other."""

import numpy as np

from mtcool.axes import Location, Span, copy_cliques
from mtcool.learners import Cliques
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
    slots = cliques["slots"][made]
    own = Span(made, np.ones_like(made))
    there = Location(own, Span(cliques["first"][made], slots))
    here = Location(own, Span(np.cumsum(slots) - slots, slots))
    copy_cliques(peers.state.learner, there, learner, here)
    return learner
