"""Rounds whose labels are still to come, with all whom they listened to.

A round takes as many places for these targets as there are of them, from the list of free ones: the
places that it takes are linked already, and so are those that it gives back.
"""

from mtcool.field.vectors import copy_vector, whole
from mtcool.kernels import inline
from mtcool.peers.field.entries import find_again
from mtcool.peers.field.queue import put_label
from mtcool.peers.field.records import CLOCK, TARGETS, TARGETS_FREE, FieldPeers
from mtcool.types import Floats


@inline
def postpone(
    peers: FieldPeers, agent: int, number: int, heard: int, gradient: Floats, wait: int
) -> None:
    """Put the round in the scratch aside until its label comes, in so many rounds."""
    state, work, counters = peers.state, peers.work, peers.state.counters
    place = put_label(state, whole(counters[CLOCK]) + wait)
    label, free = state.queue.labels[place], whole(counters[TARGETS_FREE])
    label["agent"], label["number"] = agent, number
    label["count"], label["target"] = heard, free
    copy_vector(gradient, state.queue.gradients[place])
    for k in range(heard):
        e, weight, target = whole(work.heard[k]), work.weights[k], state.queue.targets[free]
        clique = whole(state.edges.clique[e])
        target["clique"], target["entry"], target["weight"] = clique, e, weight
        target["stamp"], target["help"] = work.stamps[k], work.helps[k]
        state.cliques[clique]["under_way"] += weight
        free = whole(target["next"])
    counters[TARGETS_FREE] = free
    counters[TARGETS] += heard


@inline
def recall(peers: FieldPeers, place: int) -> int:
    """Put a round whose label came into the scratch; returns to how many it listened.

    Nobody learns from it if the agent has left.
    """
    state, work, label = peers.state, peers.work, peers.state.queue.labels[place]
    agent, count, next_one = whole(label["agent"]), whole(label["count"]), whole(label["target"])
    last, here = next_one, state.agents[agent]["present"] != 0
    for k in range(count):
        target = state.queue.targets[next_one]
        clique, weight = whole(target["clique"]), target["weight"]
        c = state.cliques[clique]
        c["under_way"] -= weight
        if here:
            work.heard[k] = find_again(state, agent, clique, whole(target["entry"]))
            work.weights[k], work.stamps[k] = weight, target["stamp"]
            work.helps[k] = target["help"]
        else:
            c["lost"] += weight
        last, next_one = next_one, whole(target["next"])
    state.queue.targets[last]["next"] = state.counters[TARGETS_FREE]
    state.counters[TARGETS_FREE] = label["target"]
    state.counters[TARGETS] -= count
    return count if here else 0
