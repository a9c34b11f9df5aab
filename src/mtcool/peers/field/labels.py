"""Rounds whose labels are still to come, with all whom they listened to."""

from mtcool.field.vectors import copy_vector, whole
from mtcool.kernels import inline
from mtcool.peers.field.entries import find_again
from mtcool.peers.field.queue import put_label
from mtcool.peers.field.records import CLOCK, TARGETS, FieldPeers
from mtcool.types import Floats


@inline
def postpone(
    peers: FieldPeers, agent: int, number: int, heard: int, gradient: Floats, wait: int
) -> None:
    """Put the round in the scratch aside until its label comes, in so many rounds."""
    state, work, counters = peers.state, peers.work, peers.state.counters
    place = put_label(state, whole(counters[CLOCK]) + wait)
    label = state.queue.labels[place]
    label["agent"], label["number"], label["count"] = agent, number, heard
    if label["room"] < heard:
        label["first"], label["room"] = counters[TARGETS], heard
        counters[TARGETS] += heard
    first = whole(label["first"])
    copy_vector(gradient, state.queue.gradients[place])
    for k in range(heard):
        e, weight, target = whole(work.heard[k]), work.weights[k], state.queue.targets[first + k]
        clique = whole(state.edges.clique[e])
        target["clique"], target["entry"], target["weight"] = clique, e, weight
        target["stamp"], target["help"] = work.stamps[k], work.helps[k]
        state.cliques[clique]["under_way"] += weight


@inline
def recall(peers: FieldPeers, place: int) -> int:
    """Put a round whose label came into the scratch; returns to how many it listened.

    Nobody learns from it if the agent has left.
    """
    state, work, label = peers.state, peers.work, peers.state.queue.labels[place]
    agent, count, first = whole(label["agent"]), whole(label["count"]), whole(label["first"])
    here = state.agents[agent]["present"] != 0
    for k in range(count):
        target = state.queue.targets[first + k]
        clique, weight = whole(target["clique"]), target["weight"]
        c = state.cliques[clique]
        c["under_way"] -= weight
        if here:
            work.heard[k] = find_again(state, agent, clique, whole(target["entry"]))
            work.weights[k], work.stamps[k] = weight, target["stamp"]
            work.helps[k] = target["help"]
        else:
            c["lost"] += weight
    return count if here else 0
