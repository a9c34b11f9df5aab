"""Whom the active agent listens to in a round, and with what weights.

Nothing changes here but scratch: what a round leaves behind is written in `rounds.py`, once its
gradient is there. So a prediction can be asked for as often as one likes.
"""

from mtcool.field.choosing import choose, speaks
from mtcool.field.codes import keep_largest, round_to_bits
from mtcool.field.draws import DELAY_ROW, LOST_ROW, ROUND_ROW, draw
from mtcool.field.vectors import copy_vector, whole
from mtcool.kernels import inline
from mtcool.learners.learner import predict_row
from mtcool.peers.field.entries import find
from mtcool.peers.field.queue import delay
from mtcool.peers.field.records import (
    AGENT_OF,
    NAMES,
    PARTNERS,
    TARGETS,
    VERSION,
    VERSION_OF,
    FieldPeers,
)
from mtcool.types import Floats

NEVER = -1


@inline
def prepare(peers: FieldPeers, agent: int) -> int:
    """Put rows and weights of the agent's next round into the scratch; returns how many.

    Scratch that is about this round already is left as it is.
    """
    key, version = peers.work.key, peers.state.counters[VERSION]
    if key[AGENT_OF] != agent or key[VERSION_OF] != version:
        if peers.rules.plain and peers.state.agents[agent]["fresh"] == 0:
            key[TARGETS] = fetch_all(peers, agent)
        else:
            key[TARGETS] = fetch_some(peers, agent)
        key[AGENT_OF], key[VERSION_OF] = agent, version
    return whole(key[TARGETS])


@inline
def fetch_all(peers: FieldPeers, agent: int) -> int:
    """Fetch the rows of all neighbours, as they are."""
    a, edges, weights = peers.state.agents[agent], peers.state.edges, peers.work.weights
    first, count = a["first"], a["count"]
    weight = 1.0 / count
    for k in range(count):
        e = first + k
        predict_row(
            peers.state.learner, whole(edges.clique[e]), whole(edges.row[e]), peers.models[k]
        )
        weights[k] = weight
    if edges.weight.shape[0] > 0:
        for k in range(count):
            weights[k] = edges.weight[first + k]
    return whole(count)


@inline
def fetch_some(peers: FieldPeers, agent: int) -> int:
    """Fetch the rows that the rules allow, and weigh them."""
    state, work = peers.state, peers.work
    a, own = state.agents[agent], find(state, agent, agent)
    predict_row(state.learner, agent, whole(state.edges.row[own]), work.own)
    partners = choose_partners(peers, agent, own)
    work.key[PARTNERS] = partners
    count, place = 0, NEVER
    for k in range(partners + 1):
        # The agent itself is in its turn among the partners, who ascend.
        if place == NEVER and (k == partners or work.chosen[k] > own):
            place = count
            take(peers, agent, own, count, state.cliques[agent]["received"], work.own)
            count += 1
        if k < partners:
            count += listen(peers, agent, whole(work.chosen[k]), count)
    if a["fresh"] and count > 1:
        for k in range(place, count - 1):
            work.targets[k] = work.targets[k + 1]
            copy_vector(peers.models[k + 1], peers.models[k])
        count -= 1
    weigh(peers, agent, count)
    return whole(count)


@inline
def choose_partners(peers: FieldPeers, agent: int, own: int) -> int:
    """Write the entries of the partners of this round, ascending; returns how many there are."""
    state, rules, work = peers.state, peers.rules, peers.work
    a, n = state.agents[agent], state.agents[agent]["begun"]
    work.key[NAMES] = 0
    if not speaks(rules.every, rules.probability, rules.seed, agent, n):
        return 0
    others = 0
    for e in range(a["first"], a["first"] + a["count"]):
        if e != own:
            work.others[others] = state.edges.clique[e]
            if rules.best:
                work.scores[others] = state.edges.score[e]
            others += 1
    count = choose(
        work.others[:others],
        work.scores[:others],
        rules.partners,
        rules.best,
        rules.seed,
        agent,
        n,
        work.keys,
        work.order,
        work.chosen,
    )
    for k in range(count):
        work.key[NAMES] += state.agents[work.others[work.chosen[k]]]["name"]
        e = a["first"] + work.chosen[k]
        work.chosen[k] = e if e < own else e + 1
    cost = cost_of_asking(peers, agent, count, work.key[NAMES])
    cost += cost_of_telling(peers, agent, count)
    if a["messages"] + 3 * count > rules.budget or a["bytes"] + cost > rules.budget_bytes:
        work.key[NAMES] = 0
        return 0
    return whole(count)


@inline
def cost_of_asking(peers: FieldPeers, agent: int, partners: int, names: int) -> int:
    """Bytes of requests and answers; `names` is what the partners' names take together."""
    each = peers.rules.request_bytes + peers.state.agents[agent]["name"] + peers.rules.answer_bytes
    return whole(partners * each + names)


@inline
def cost_of_telling(peers: FieldPeers, agent: int, partners: int) -> int:
    """Bytes of gradients."""
    return whole(partners * (peers.rules.gradient_bytes + peers.state.agents[agent]["name"]))


@inline
def listen(peers: FieldPeers, agent: int, entry: int, place: int) -> int:
    """Make a partner a target if there is a row of its; returns how many there are, 0 or 1."""
    state, rules, edges = peers.state, peers.rules, peers.state.edges
    other = whole(edges.clique[entry])
    if rules.may_miss and row_delay(peers, agent, entry) != 0:
        if edges.number[entry] == NEVER:
            return 0
        take(peers, agent, entry, place, edges.stamp[entry], edges.kept[entry])
        return 1
    answer(peers, agent, entry, peers.work.answer)
    take(peers, agent, entry, place, state.cliques[other]["received"], peers.work.answer)
    return 1


@inline
def row_delay(peers: FieldPeers, agent: int, entry: int) -> int:
    """Rounds until the answer of this round arrives; -1 if it never does."""
    rules, edges, n = peers.rules, peers.state.edges, peers.state.agents[agent]["begun"]
    other = whole(edges.clique[entry])
    if rules.lost > 0.0 and draw(rules.seed, LOST_ROW, agent, other, n, 0) < rules.lost:
        return NEVER
    size = rules.answer_bytes + peers.state.agents[other]["name"]
    constant = rules.row_constant
    if edges.row_delay.shape[0] > 0:
        constant += edges.row_delay[entry]
    constant += size / rules.row_bandwidth
    return delay(constant, rules.row_mean, rules.seed, DELAY_ROW, agent, other, n)


@inline
def answer(peers: FieldPeers, agent: int, entry: int, out: Floats) -> None:
    """Write what a partner answers in this round: its row of the agent's task, coded."""
    state, rules, work = peers.state, peers.rules, peers.work
    other, n = whole(state.edges.clique[entry]), state.agents[agent]["begun"]
    predict_row(state.learner, other, whole(state.edges.row[entry]), out)
    if rules.bits > 0:
        round_to_bits(out, rules.bits, rules.seed, ROUND_ROW, agent, other, n, out)
    if rules.coordinates > 0:
        copy = state.edges.kept[entry]
        for k in range(out.shape[0]):
            work.rest[k] = out[k] - copy[k]
        keep_largest(work.rest, rules.coordinates, work.picked, out)
        for k in range(out.shape[0]):
            out[k] += copy[k]


@inline
def take(peers: FieldPeers, agent: int, entry: int, place: int, stamp: float, row: Floats) -> None:
    """Make the clique of an entry a target of the round, with this row."""
    state, target = peers.state, peers.work.targets[place]
    clique = whole(state.edges.clique[entry])
    target["clique"], target["entry"], target["stamp"] = clique, entry, stamp
    target["row"] = whole(state.edges.row[entry]) - state.cliques[clique]["first"]
    copy_vector(row, peers.models[place])


@inline
def weigh(peers: FieldPeers, agent: int, count: int) -> None:
    """Weigh the targets: all alike, or in proportion to the weights that were given."""
    edges, work = peers.state.edges, peers.work
    given, total = edges.weight.shape[0] > 0, 1.0
    if given and count < peers.state.agents[agent]["count"]:
        total = 0.0
        for k in range(count):
            total += edges.weight[work.targets[k]["entry"]]
    for k in range(count):
        weight = 1.0 / count
        if given:
            weight = edges.weight[work.targets[k]["entry"]] / total
        work.targets[k]["weight"] = weight
        work.weights[k] = weight
