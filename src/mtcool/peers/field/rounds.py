"""The five steps of the protocol, in the field."""

import numpy as np

from mtcool.field.draws import DELAY_LABEL
from mtcool.field.vectors import copy_vector, whole
from mtcool.kernels import inline
from mtcool.learners.learner import update_row
from mtcool.peers.field.learning import ANSWER, deliver, teach
from mtcool.peers.field.partners import (
    answer,
    cost_of_asking,
    cost_of_telling,
    prepare,
    row_delay,
)
from mtcool.peers.field.queue import delay, put_label, put_message
from mtcool.peers.field.records import CLOCK, NAMES, PARTNERS, VERSION, FieldPeers
from mtcool.peers.protocol import fetch, observe, send, to_units
from mtcool.streams.losses import Kind, subgradient
from mtcool.types import Floats


@fetch.register
def _(peers: FieldPeers, agent: int) -> tuple[Floats, Floats]:
    count = prepare(peers, agent)
    return peers.models[:count], peers.work.weights[:count]


@observe.register
def _(peers: FieldPeers, agent: int, kind: Kind, row: Floats, x: Floats) -> int:
    subgradient(kind, row, x, peers.gradients[0])
    return 1


@send.register
def _(peers: FieldPeers, agent: int, gradients: Floats) -> bool:
    return tell_gradient(peers, agent, gradients[0], True)


@inline
def tell_gradient(peers: FieldPeers, agent: int, gradient: Floats, late: bool) -> bool:
    """Play a round to its end; `late`: its label may come late. False if the gradient is refused.

    With ask and tell the caller decides when the label comes.
    """
    if not to_units(gradient, peers.units):
        return False
    count = prepare(peers, agent)
    if peers.rules.plain and peers.state.agents[agent]["fresh"] == 0:
        learn_all(peers, agent, gradient)
    else:
        finish(peers, agent, count, gradient, late)
    return True


@inline
def learn_all(peers: FieldPeers, agent: int, gradient: Floats) -> None:
    """Let all neighbours learn at once, from the gradient as it is."""
    state, a, edges = peers.state, peers.state.agents[agent], peers.state.edges
    first, count = a["first"], a["count"]
    for k in range(count):
        e, weight = first + k, peers.work.weights[k]
        update_row(state.learner, whole(edges.clique[e]), whole(edges.row[e]), weight, gradient)
    a["begun"] += 1
    a["messages"] += 3 * (count - 1)
    a["bytes"] += cost_of_asking(peers, agent, count - 1, a["around"])
    a["bytes"] += cost_of_telling(peers, agent, count - 1)
    state.counters[CLOCK] += 1
    state.counters[VERSION] += 1


@inline
def finish(peers: FieldPeers, agent: int, count: int, gradient: Floats, late: bool) -> None:
    """Keep the rows that were fetched, then learn, or wait for the label; then end the round."""
    state, rules, work = peers.state, peers.rules, peers.work
    a, targets = state.agents[agent], work.targets
    keep_rows(peers, agent)
    partners, told, number = work.key[PARTNERS], 0, whole(a["begun"])
    for k in range(count):
        target = targets[k]
        if rules.late:
            state.cliques[target["clique"]]["under_way"] += target["weight"]
        if target["clique"] != agent:
            told += 1
            if rules.best:
                target["help"] = help_of(gradient, work.own, peers.models[k])
                if state.edges.score[target["entry"]] == np.inf:
                    state.edges.score[target["entry"]] = 0.0  # it was used
    a["messages"] += 2 * partners + told
    a["bytes"] += cost_of_asking(peers, agent, partners, work.key[NAMES])
    a["bytes"] += cost_of_telling(peers, agent, told)
    a["begun"] += 1
    a["fresh"] = 0
    wait = 0
    if late:
        wait = delay(
            rules.label_constant, rules.label_mean, rules.seed, DELAY_LABEL, agent, 0, number
        )
    if wait == 0:
        teach(peers, agent, number, targets, count, gradient, False)
    else:
        place = put_label(state, whole(state.counters[CLOCK]) + wait)
        label = state.queue.labels[place]
        label["agent"], label["number"], label["count"] = agent, number, count
        copy_vector(gradient, state.queue.gradients[place])
        for k in range(count):
            state.queue.targets[place, k] = targets[k]
    deliver(peers)


@inline
def keep_rows(peers: FieldPeers, agent: int) -> None:
    """Keep the partners' answers that are there, and put those that are late into the queue."""
    state, rules, work = peers.state, peers.rules, peers.work
    if not (rules.may_miss or rules.coordinates > 0):
        return
    number = state.agents[agent]["begun"]
    for k in range(work.key[PARTNERS]):
        entry = whole(work.chosen[k])
        rounds = row_delay(peers, agent, entry) if rules.may_miss else 0
        if rounds < 0:
            continue
        other = whole(state.edges.clique[entry])
        answer(peers, agent, entry, work.answer)
        if rounds == 0:
            copy_vector(work.answer, state.edges.kept[entry])
            state.edges.number[entry] = number
            state.edges.stamp[entry] = state.cliques[other]["received"]
            continue
        place = put_message(state, whole(state.counters[CLOCK]) + rounds)
        message = state.queue.messages[place]
        message["sender"], message["receiver"], message["row"] = other, agent, ANSWER
        message["number"], message["stamp"] = number, state.cliques[other]["received"]
        message["weight"] = 0.0
        copy_vector(work.answer, state.queue.content[place])


@inline
def help_of(gradient: Floats, own: Floats, row: Floats) -> float:
    """How much better a row was than the agent's own, on the linear loss."""
    better = 0.0
    for k in range(gradient.shape[0]):
        better += gradient[k] * (own[k] - row[k])
    return better
