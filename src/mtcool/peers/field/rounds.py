"""The five steps of the protocol, in the field."""

import numpy as np

from mtcool.field.draws import DELAY_LABEL
from mtcool.field.vectors import copy_vector, whole
from mtcool.kernels import inline
from mtcool.learners.learner import predict_row, update_row
from mtcool.peers.field.labels import postpone
from mtcool.peers.field.learning import ANSWER, end_round
from mtcool.peers.field.partners import code, cost_of_asking, cost_of_telling, prepare
from mtcool.peers.field.queue import NEVER, delay, put_message
from mtcool.peers.field.records import (
    ASKED,
    CLOCK,
    HEARD,
    NAMES,
    TOLD,
    VERSION,
    WAITING,
    FieldPeers,
)
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
    return tell_gradient(peers, agent, gradients[0], True)  # what `fetch` prepared


@inline
def tell_gradient(peers: FieldPeers, agent: int, gradient: Floats, late: bool) -> bool:
    """Play a round to its end; `late`: its label may come late. False if the gradient is refused.

    With ask and tell the caller decides when the label comes. The round was prepared.
    """
    if not to_units(gradient, peers.units):
        return False
    if peers.rules.plain and peers.state.agents[agent]["fresh"] == 0:
        learn_all(peers, agent, gradient)
    else:
        finish(peers, agent, whole(peers.work.key[HEARD]), gradient, late)
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
def finish(peers: FieldPeers, agent: int, heard: int, gradient: Floats, late: bool) -> None:
    """Keep the rows that were fetched, then learn, or wait for the label; then end the round."""
    state, rules, work = peers.state, peers.rules, peers.work
    a, asked, told, wait = state.agents[agent], whole(work.key[ASKED]), work.key[TOLD], 0
    number = whole(a["begun"])
    if rules.may_miss:
        keep_rows(peers, agent, asked)
    if rules.best:
        note_help(peers, agent, heard, gradient)
    a["messages"] += 2 * (asked - 1) + told
    a["bytes"] += cost_of_asking(peers, agent, asked - 1, work.key[NAMES])
    a["bytes"] += cost_of_telling(peers, agent, told)
    a["begun"] += 1
    a["fresh"] = 0
    if late:
        wait = delay(
            rules.label_constant, rules.label_mean, rules.seed, DELAY_LABEL, agent, 0, number
        )
    if wait > 0:
        postpone(peers, agent, number, heard, gradient, wait)
        heard = 0
    end_round(peers, agent, number, heard, gradient)


@inline
def keep_rows(peers: FieldPeers, agent: int, asked: int) -> None:
    """Keep the partners' answers that are there, and put those that are late into the queue."""
    state, work, edges = peers.state, peers.work, peers.state.edges
    number, heard = state.agents[agent]["begun"], 0
    now, waiting = whole(state.counters[CLOCK]), whole(state.counters[WAITING])
    for k in range(asked):
        e, wait = whole(work.asked[k]), work.waits[k]
        other, place = whole(edges.clique[e]), heard
        heard += work.heard[heard] == e
        if other == agent or wait == NEVER:
            continue
        stamp = state.cliques[other]["received"]
        if wait == 0:
            copy_vector(peers.models[place], edges.kept[e])
            edges.number[e], edges.stamp[e] = number, stamp
            continue
        place = put_message(state.queue, waiting, now + wait)
        waiting += 1
        message, answer = state.queue.messages[place], state.queue.content[place]
        message["sender"], message["receiver"], message["row"] = other, agent, ANSWER
        message["entry"], message["number"], message["stamp"] = e, number, stamp
        message["weight"] = 0.0
        predict_row(state.learner, other, whole(edges.row[e]), answer)
        if peers.rules.bits > 0:
            code(peers, agent, e, answer)
    state.counters[WAITING] = waiting


@inline
def note_help(peers: FieldPeers, agent: int, heard: int, gradient: Floats) -> None:
    """Note how much each partner's row helped; those that never did begin with zero."""
    work, edges = peers.work, peers.state.edges
    for k in range(heard):
        e = whole(work.heard[k])
        work.helps[k] = 0.0
        if edges.clique[e] != agent:
            work.helps[k] = help_of(gradient, work.own, peers.models[k])
            if edges.score[e] == np.inf:
                edges.score[e] = 0.0  # it was used


@inline
def help_of(gradient: Floats, own: Floats, row: Floats) -> float:
    """How much better a row was than the agent's own, on the linear loss."""
    better = 0.0
    for k in range(gradient.shape[0]):
        better += gradient[k] * (own[k] - row[k])
    return better
