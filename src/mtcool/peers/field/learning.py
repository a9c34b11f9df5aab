"""How cliques learn in the field: at once, or when a gradient arrives."""

import math

from mtcool.field.codes import round_to_bits
from mtcool.field.draws import DELAY_GRADIENT, LOST_GRADIENT, ROUND_GRADIENT
from mtcool.field.vectors import copy_vector, whole
from mtcool.kernels import inline
from mtcool.learners.changing import credit
from mtcool.learners.learner import update_row
from mtcool.peers.field.entries import find_again, is_there
from mtcool.peers.field.labels import recall
from mtcool.peers.field.latency import find_waits
from mtcool.peers.field.queue import (
    END,
    FOREVER,
    NEVER,
    free_label,
    next_due,
    put_message,
    take_list,
)
from mtcool.peers.field.records import CLOCK, VERSION, WAITING, FieldPeers
from mtcool.types import Floats

ANSWER = -1
"""The row of a message that is an answer."""


@inline
def end_round(peers: FieldPeers, agent: int, number: int, heard: int, gradient: Floats) -> None:
    """Let those whom the agent heard learn; then come labels that are due, and then messages.

    Both come in the order in which they were sent. The clock moves on.
    """
    state, queue = peers.state, peers.state.queue
    now, place, late = whole(state.counters[CLOCK]), END, False
    if peers.rules.late:
        place = take_list(queue.label_first, now)
    while True:  # one place for all that teaches: it is much code
        teach(peers, agent, number, heard, gradient, late)
        place = next_due(queue.label_first, queue.label_last, queue.labels, place, now)
        if place == END:
            break
        label, gradient, late = queue.labels[place], queue.gradients[place], True
        agent, number, heard = whole(label["agent"]), whole(label["number"]), recall(peers, place)
        following = whole(label["next"])
        free_label(state, place)
        place = following
    if peers.rules.late:
        hand_over_due(peers, now)
    state.counters[CLOCK] += 1
    state.counters[VERSION] += 1


@inline
def teach(
    peers: FieldPeers, agent: int, number: int, heard: int, gradient: Floats, late: bool
) -> None:
    """Let all whom the agent heard learn from its gradient, or send it to them.

    `late` says that the label came after the round.
    """
    state, rules, work, edges = peers.state, peers.rules, peers.work, peers.state.edges
    if rules.bits > 0:
        seed = rules.seed
        round_to_bits(gradient, rules.bits, seed, ROUND_GRADIENT, agent, 0, number, work.coded)
    usual = find_gradient_waits(peers, agent, number, heard)
    now, waiting = whole(state.counters[CLOCK]), whole(state.counters[WAITING])
    for k in range(heard):
        e, weight, stamp = whole(work.heard[k]), work.weights[k], work.stamps[k]
        clique, row = whole(edges.clique[e]), whole(edges.row[e])
        content, coding, old, wait = gradient, 0.0, late, 0
        if clique != agent:
            wait = whole(work.waits[k]) if usual == NEVER else usual
            old = late or rules.may_miss  # a row that was kept may be an old one
            if rules.best and is_there(state, agent, e):
                edges.score[e] += work.helps[k]
            if rules.bits > 0:
                content, coding = work.coded, rules.power - 1.0
        if wait > 0:
            place = put_message(state.queue, waiting, now + wait)
            waiting += 1
            c, message = state.cliques[clique], state.queue.messages[place]
            message["sender"], message["receiver"], message["number"] = agent, clique, number
            message["row"], message["weight"], message["stamp"] = row - c["first"], weight, stamp
            copy_vector(content, state.queue.content[place])
            c["under_way"] += weight
        elif wait == 0 and (not late or state.agents[clique]["present"]):
            receive(peers, clique, row, weight, stamp, content, coding, old)
        else:
            state.cliques[clique]["lost"] += weight
    state.counters[WAITING] = waiting


@inline
def find_gradient_waits(peers: FieldPeers, agent: int, number: int, heard: int) -> int:
    """In how many rounds all gradients arrive; or -1, and it is written down for each."""
    state, rules, work, edges = peers.state, peers.rules, peers.work, peers.state.edges
    mean, lost, slow = rules.gradient_mean, rules.lost, edges.gradient_delay
    travel = (rules.gradient_bytes + state.agents[agent]["name"]) / rules.gradient_bandwidth
    if mean == 0.0 and lost == 0.0 and slow.shape[0] == 0:
        return whole(math.floor(min(rules.gradient_constant + travel, FOREVER)))
    for k in range(heard):
        e, constant = whole(work.heard[k]), rules.gradient_constant
        if slow.shape[0] > 0:
            constant += slow[e]
        work.others[k], work.keys[k] = edges.clique[e], constant + travel
    kinds = DELAY_GRADIENT, LOST_GRADIENT
    find_waits(work, heard, mean, lost, rules.seed, kinds, agent, number)
    return NEVER


@inline
def receive(
    peers: FieldPeers,
    clique: int,
    row: int,
    weight: float,
    stamp: float,
    gradient: Floats,
    coding: float,
    late: bool,
) -> None:
    """Let a clique learn; its rate counts how late the gradient is, and how it was coded.

    `late` says that it comes after the round in which it was made.
    """
    learner, extra = peers.state.learner, coding * weight * weight
    if peers.rules.late:
        c = peers.state.cliques[clique]
        lag = c["received"] - stamp
        extra += 2.0 * weight * lag
        c["lags"] += 2.0 * weight * lag
        c["lag"] = max(c["lag"], lag)
        if late or lag > 0.0:
            c["late"] += weight
        c["received"] += weight
    if extra > 0.0:
        credit(learner, clique, extra)
    update_row(learner, clique, row, weight, gradient)


@inline
def hand_over_due(peers: FieldPeers, now: int) -> None:
    """Give all messages that are due to their receivers, in the order in which they were sent."""
    queue, waiting = peers.state.queue, whole(peers.state.counters[WAITING])
    place = take_list(queue.first, now)
    while True:
        place = next_due(queue.first, queue.last, queue.messages, place, now)
        if place == END:
            break
        hand_over(peers, place)
        waiting -= 1
        queue.places[waiting] = place
        place = whole(queue.messages[place]["next"])
    peers.state.counters[WAITING] = waiting


@inline
def hand_over(peers: FieldPeers, place: int) -> None:
    """Give a message to its receiver; a row is kept if the edge is there and it is the newest."""
    state, edges, message = peers.state, peers.state.edges, peers.state.queue.messages[place]
    receiver, content = whole(message["receiver"]), state.queue.content[place]
    if message["row"] == ANSWER:
        entry = find_again(state, receiver, whole(message["sender"]), whole(message["entry"]))
        if is_there(state, receiver, entry) and message["number"] > edges.number[entry]:
            edges.number[entry], edges.stamp[entry] = message["number"], message["stamp"]
            copy_vector(content, edges.kept[entry])
        return
    c, weight = state.cliques[receiver], message["weight"]
    c["under_way"] -= weight
    if state.agents[receiver]["present"]:
        row, coding = whole(c["first"]) + message["row"], peers.rules.power - 1.0
        receive(peers, receiver, row, weight, message["stamp"], content, coding, True)
    else:
        c["lost"] += weight
