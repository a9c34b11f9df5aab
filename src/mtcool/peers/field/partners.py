"""Whom the active agent listens to in a round, and with what weights.

Nothing changes here but scratch: what a round leaves behind is written in `rounds.py`, once its
gradient is there. So a prediction can be asked for as often as one likes.
"""

import numpy as np

from mtcool.field.choosing import choose, speaks
from mtcool.field.codes import round_to_bits
from mtcool.field.draws import DELAY_ROW, LOST_ROW, ROUND_ROW
from mtcool.field.vectors import copy_vector, whole
from mtcool.kernels import inline
from mtcool.learners.learner import predict_row
from mtcool.peers.field.entries import find
from mtcool.peers.field.latency import find_waits
from mtcool.peers.field.queue import NEVER
from mtcool.peers.field.records import (
    AGENT_OF,
    ASKED,
    HEARD,
    NAMES,
    TOLD,
    VERSION,
    VERSION_OF,
    FieldPeers,
)
from mtcool.types import Floats


@inline
def prepare(peers: FieldPeers, agent: int) -> int:
    """Put rows and weights of the agent's next round into the scratch; returns how many.

    Scratch that is about this round already is left as it is.
    """
    key, version = peers.work.key, peers.state.counters[VERSION]
    if key[AGENT_OF] != agent or key[VERSION_OF] != version:
        if peers.rules.plain and peers.state.agents[agent]["fresh"] == 0:
            key[HEARD] = fetch_all(peers, agent)
        else:
            key[HEARD] = fetch_some(peers, agent)
        key[AGENT_OF], key[VERSION_OF] = agent, version
    return whole(key[HEARD])


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
    """Fetch the rows that the rules allow, and weigh them; returns how many there are."""
    state, rules, work, edges = peers.state, peers.rules, peers.work, peers.state.edges
    asked = choose_partners(peers, agent)
    if rules.may_miss:
        find_row_waits(peers, agent, asked)
    heard, own = 0, 0
    for k in range(asked):
        e, row = whole(work.asked[k]), peers.models[heard]
        clique, stamp = whole(edges.clique[e]), 0.0
        if rules.may_miss and work.waits[k] != 0:
            if edges.number[e] == NEVER:
                continue
            copy_vector(edges.kept[e], row)
            stamp = edges.stamp[e]
        else:
            predict_row(state.learner, clique, whole(edges.row[e]), row)
            if rules.bits > 0 and clique != agent:
                code(peers, agent, e, row)
            if rules.late:
                stamp = state.cliques[clique]["received"]
        if clique == agent:
            own = heard
        work.heard[heard], work.stamps[heard] = e, stamp
        heard += 1
    work.key[ASKED], work.key[TOLD] = asked, heard - 1
    if rules.best:
        copy_vector(peers.models[own], work.own)
    if heard > 1 and state.agents[agent]["fresh"]:
        heard -= 1
        for k in range(own, heard):
            work.heard[k], work.stamps[k] = work.heard[k + 1], work.stamps[k + 1]
            copy_vector(peers.models[k + 1], peers.models[k])
    weigh(peers, agent, heard)
    return whole(heard)


@inline
def choose_partners(peers: FieldPeers, agent: int) -> int:
    """Write the entries of the agent and of its partners, ascending; returns how many there are."""
    state, rules, work = peers.state, peers.rules, peers.work
    a, partners = state.agents[agent], 0
    others = whole(a["count"]) - 1
    if speaks(rules.every, rules.probability, rules.seed, agent, a["begun"]):
        if rules.partners >= others:
            partners, work.key[NAMES] = others, a["around"]
            for k in range(others + 1):
                work.asked[k] = a["first"] + k
        else:
            partners = pick_partners(peers, agent)
        cost = cost_of_asking(peers, agent, partners, work.key[NAMES])
        cost += cost_of_telling(peers, agent, partners)
        if a["messages"] + 3 * partners > rules.budget or a["bytes"] + cost > rules.budget_bytes:
            partners = 0
    if partners == 0:
        work.asked[0], work.key[NAMES] = find(state, agent, agent), 0
    return partners + 1


@inline
def pick_partners(peers: FieldPeers, agent: int) -> int:
    """Choose some of the neighbours; returns how many."""
    state, rules, work = peers.state, peers.rules, peers.work
    a = state.agents[agent]
    first, others, own = whole(a["first"]), 0, 0
    for e in range(first, first + a["count"]):
        if state.edges.clique[e] == agent:
            own = e
            continue
        work.others[others] = state.edges.clique[e]
        if rules.best:
            work.scores[others] = state.edges.score[e]
        others += 1
    partners = choose(
        work.others[:others],
        work.scores[:others],
        rules.partners,
        rules.best,
        rules.seed,
        agent,
        a["begun"],
        work.keys,
        work.order,
        work.chosen,
    )
    # The agent itself is in its turn among the partners.
    names, place = 0, 0
    for k in range(partners):
        position = work.chosen[k]
        names += state.agents[work.others[position]]["name"]
        after = first + position >= own
        work.asked[k + after] = first + position + after
        place += not after
    work.asked[place], work.key[NAMES] = own, names
    return whole(partners)


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
def find_row_waits(peers: FieldPeers, agent: int, asked: int) -> None:
    """Write down in how many rounds the answers arrive; the agent's own row is there at once."""
    state, rules, work, edges = peers.state, peers.rules, peers.work, peers.state.edges
    lost, n, slow = rules.lost, whole(state.agents[agent]["begun"]), edges.row_delay
    for k in range(asked):
        e, constant = whole(work.asked[k]), rules.row_constant
        other = whole(edges.clique[e])
        if slow.shape[0] > 0:
            constant += slow[e]
        if rules.row_bandwidth < np.inf:
            size = rules.answer_bytes + state.agents[other]["name"]
            constant += size / rules.row_bandwidth
        work.others[k], work.keys[k] = other, constant
    find_waits(work, asked, rules.row_mean, lost, rules.seed, (DELAY_ROW, LOST_ROW), agent, n)
    for k in range(asked):
        if work.others[k] == agent:
            work.waits[k] = 0


@inline
def code(peers: FieldPeers, agent: int, entry: int, row: Floats) -> None:
    """Round the row that a partner answers with in this round."""
    rules, state = peers.rules, peers.state
    other, n = whole(state.edges.clique[entry]), whole(state.agents[agent]["begun"])
    round_to_bits(row, rules.bits, rules.seed, ROUND_ROW, agent, other, n, row)


@inline
def weigh(peers: FieldPeers, agent: int, heard: int) -> None:
    """Weigh the rows that are there: all alike, or in proportion to the weights that were given."""
    given, work = peers.state.edges.weight, peers.work
    weight = 1.0 / heard
    for k in range(heard):
        work.weights[k] = weight
    if given.shape[0] > 0:
        total = 1.0
        if heard < peers.state.agents[agent]["count"]:
            total = 0.0
            for k in range(heard):
                total += given[whole(work.heard[k])]
        for k in range(heard):
            work.weights[k] = given[whole(work.heard[k])] / total
