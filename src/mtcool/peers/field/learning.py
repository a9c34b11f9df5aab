"""How cliques learn in the field: at once, or when a gradient arrives."""

from mtcool.field.codes import keep_largest, round_to_bits
from mtcool.field.draws import DELAY_GRADIENT, LOST_GRADIENT, ROUND_GRADIENT, draw
from mtcool.field.vectors import copy_vector, whole
from mtcool.kernels import inline
from mtcool.learners.changing import credit
from mtcool.learners.learner import update_row
from mtcool.peers.field.entries import find, find_ever
from mtcool.peers.field.queue import (
    END,
    delay,
    free_label,
    free_message,
    put_message,
    take_due,
)
from mtcool.peers.field.records import CLOCK, VERSION, FieldPeers
from mtcool.types import AnyArray, Floats, Record

ANSWER = -1
"""The row of a message that is an answer."""


@inline
def teach(
    peers: FieldPeers,
    agent: int,
    number: int,
    targets: AnyArray,
    count: int,
    gradient: Floats,
    late: bool,
) -> None:
    """Let all that the agent listened to in a round learn from its gradient, or send it.

    `late` says that the label came after the round.
    """
    state, rules = peers.state, peers.rules
    if rules.bits > 0:
        coded = peers.work.coded
        round_to_bits(gradient, rules.bits, rules.seed, ROUND_GRADIENT, agent, 0, number, coded)
    for k in range(count):
        target = targets[k]
        clique, row, weight = whole(target["clique"]), whole(target["row"]), target["weight"]
        if clique == agent:
            receive(peers, clique, row, weight, target["stamp"], gradient, 0.0, late)
            continue
        entry = whole(target["entry"])
        if late and (rules.best or rules.coordinates > 0):
            entry = find(state, agent, clique)  # the graph may have changed
        if rules.best and entry >= 0:
            state.edges.score[entry] += target["help"]
        if rules.bits > 0:
            tell(peers, agent, number, target, peers.work.coded, late)
        elif rules.coordinates > 0:
            leave_out(peers, entry, gradient)
            tell(peers, agent, number, target, peers.work.coded, late)
        else:
            tell(peers, agent, number, target, gradient, late)


@inline
def leave_out(peers: FieldPeers, entry: int, gradient: Floats) -> None:
    """Code the largest coordinates of gradient and memory; the memory keeps the rest."""
    work, edges = peers.work, peers.state.edges
    for k in range(gradient.shape[0]):
        work.rest[k] = gradient[k] + (edges.memory[entry, k] if entry >= 0 else 0.0)
    keep_largest(work.rest, peers.rules.coordinates, work.picked, work.coded)
    if entry >= 0:
        for k in range(gradient.shape[0]):
            edges.memory[entry, k] = work.rest[k] - work.coded[k]


@inline
def tell(
    peers: FieldPeers, agent: int, number: int, target: Record, content: Floats, late: bool
) -> None:
    """Send a coded gradient to a neighbour: it learns at once, later, or never."""
    state, rules = peers.state, peers.rules
    clique, row, weight = whole(target["clique"]), whole(target["row"]), target["weight"]
    seed, lost = rules.seed, rules.lost
    if lost > 0.0 and draw(seed, LOST_GRADIENT, agent, clique, number, 0) < lost:
        forget(peers, clique, weight)
        return
    size = rules.gradient_bytes + state.agents[agent]["name"]
    constant = rules.gradient_constant
    if state.edges.gradient_delay.shape[0] > 0:
        constant += state.edges.gradient_delay[find_ever(state, agent, clique)]
    constant += size / rules.gradient_bandwidth
    mean = rules.gradient_mean
    rounds = delay(constant, mean, seed, DELAY_GRADIENT, agent, clique, number)
    if rounds == 0 and not state.agents[clique]["present"]:
        forget(peers, clique, weight)
        return
    if rounds == 0:
        # A row that was kept may be an old one.
        old = late or rules.may_miss
        receive(peers, clique, row, weight, target["stamp"], content, rules.power - 1.0, old)
        return
    place = put_message(state, whole(state.counters[CLOCK]) + rounds)
    message = state.queue.messages[place]
    message["sender"], message["receiver"], message["row"] = agent, clique, row
    message["number"], message["weight"], message["stamp"] = number, weight, target["stamp"]
    copy_vector(content, state.queue.content[place])


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
    c, learner = peers.state.cliques[clique], peers.state.learner
    extra = coding * weight * weight
    if peers.rules.late:
        lag = c["received"] - stamp
        extra += 2.0 * weight * lag
        c["lags"] += 2.0 * weight * lag
        c["lag"] = max(c["lag"], lag)
        if late or lag > 0.0:
            c["late"] += weight
        c["received"] += weight
        c["under_way"] -= weight
    if extra > 0.0:
        credit(learner, clique, extra)
    update_row(learner, clique, whole(c["first"]) + row, weight, gradient)


@inline
def forget(peers: FieldPeers, clique: int, weight: float) -> None:
    """Note that a gradient for this clique will not come."""
    c = peers.state.cliques[clique]
    c["lost"] += weight
    c["under_way"] -= weight


@inline
def deliver(peers: FieldPeers) -> None:
    """End a round: first the labels that are due, then the messages, in the order they were sent.

    The clock moves on.
    """
    state, queue = peers.state, peers.state.queue
    now = whole(state.counters[CLOCK])
    if peers.rules.late:
        cursor = peers.work.cursor
        cursor[0] = END
        while True:
            place = take_due(queue.label_first, queue.label_last, queue.labels, now, cursor)
            if place == END:
                break
            learn_late(peers, place)
            free_label(state, place)
        cursor[0] = END
        while True:
            place = take_due(queue.first, queue.last, queue.messages, now, cursor)
            if place == END:
                break
            hand_over(peers, place)
            free_message(state, place)
    state.counters[CLOCK] += 1
    state.counters[VERSION] += 1


@inline
def learn_late(peers: FieldPeers, place: int) -> None:
    """Learn from a round whose label came late; an agent that has left does not."""
    queue, label = peers.state.queue, peers.state.queue.labels[place]
    agent, number, count = whole(label["agent"]), whole(label["number"]), whole(label["count"])
    if peers.state.agents[agent]["present"]:
        teach(peers, agent, number, queue.targets[place], count, queue.gradients[place], True)
    else:
        for k in range(count):
            target = queue.targets[place, k]
            forget(peers, whole(target["clique"]), target["weight"])


@inline
def hand_over(peers: FieldPeers, place: int) -> None:
    """Give a message to its receiver; a row is kept if the edge is there and it is the newest."""
    state, message = peers.state, peers.state.queue.messages[place]
    receiver, content = whole(message["receiver"]), state.queue.content[place]
    if message["row"] == ANSWER:
        entry = find(state, receiver, whole(message["sender"]))
        if entry >= 0 and message["number"] > state.edges.number[entry]:
            state.edges.number[entry] = message["number"]
            state.edges.stamp[entry] = message["stamp"]
            copy_vector(content, state.edges.kept[entry])
    elif state.agents[receiver]["present"]:
        row, weight, coding = whole(message["row"]), message["weight"], peers.rules.power - 1.0
        receive(peers, receiver, row, weight, message["stamp"], content, coding, True)
    else:
        forget(peers, receiver, message["weight"])
