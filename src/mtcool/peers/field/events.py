"""Events: an edge appears or vanishes, an agent enters or leaves.

Every function checks first whether there is room for what it may need, and returns what is missing
with nothing changed: kernels cannot allocate. The cost of an event is linear in the number of
neighbours that its agents have or had; cliques that double are paid for by those that came before.
"""

import numpy as np
from numpy.typing import NDArray

from mtcool.changes.events import CONNECT, DISCONNECT, JOIN, Events
from mtcool.field.vectors import whole
from mtcool.kernels import inline, routine
from mtcool.learners.changing import Layout, begin_clique, grow_clique, raise_bound
from mtcool.peers.field.bounds import bound_for_others, own_bound
from mtcool.peers.field.entries import clear, find, find_ever, insert, move, remove
from mtcool.peers.field.records import (
    AGENTS,
    ENTRIES,
    EXPERTS,
    ROWS,
    VERSION,
    FieldPeers,
    FieldState,
)
from mtcool.types import Integers

DONE, NEEDS_ROOM, NEEDS_TABLE = range(3)
EVERYBODY = -1
ANY = 0

# Extra delays of single edges, ascending by `edge_number`: rounds for a row and for a gradient.
SLOW_EDGE = np.dtype([("edge", np.int64), ("row", np.float64), ("gradient", np.float64)])


@routine
def enter(peers: FieldPeers, agent: int, neighbours: int) -> int:
    """Let an agent in, alone for now; one that was never here has a clique for its neighbours."""
    state, a = peers.state, peers.state.agents[agent]
    if a["room"] == 0:
        slots, room = neighbours + 1, neighbours + 2
        found = find_table(peers.tables, slots)
        if found < 0:
            return NEEDS_TABLE
        experts = peers.tables[2, found]
        if lacks(peers, room, slots, experts):
            return NEEDS_ROOM
        first, expert = take_rows(state, slots), take_experts(state, experts)
        move(state, agent, room)
        a["count"], a["ever"] = 1, 1
        state.edges.clique[a["first"]], state.edges.row[a["first"]] = agent, first
        clear(state.edges, a["first"])
        c = state.cliques[agent]
        c["first"], c["slots"], c["used"] = first, slots, 1
        c["bound"] = c["first_bound"] = own_bound(peers.rules, neighbours)
        layout = Layout(first, slots, expert, experts, peers.tables[1, found])
        begin_clique(state.learner, agent, layout, c["bound"])
    a["present"] = 1
    a["fresh"] = 1 if a["begun"] == 0 else 0
    state.counters[AGENTS] += 1
    state.counters[VERSION] += 1
    return DONE


@routine
def connect(peers: FieldPeers, one: int, two: int, slow: NDArray[np.void]) -> int:
    """Let an edge appear; bounds are announced later."""
    entries, rows, experts = 0, 0, 0
    met = find_ever(peers.state, one, two) >= 0  # then both have a row of the other
    for agent in (one, two):
        a, c = peers.state.agents[agent], peers.state.cliques[agent]
        if a["count"] == peers.models.shape[0]:
            return NEEDS_ROOM
        if met:
            continue
        if a["ever"] == a["room"]:
            entries += 2 * a["room"] + 2
        if c["used"] == c["slots"]:
            found = find_table(peers.tables, 2 * c["slots"])
            if found < 0:
                return NEEDS_TABLE
            rows += 2 * c["slots"]
            experts += peers.tables[2, found]
    if lacks(peers, entries, rows, experts):
        return NEEDS_ROOM
    state = peers.state
    for agent, other in ((one, two), (two, one)):
        known = find_ever(state, agent, other)
        row = state.edges.row[known] if known >= 0 else give_row(peers, other)
        insert(state, agent, other, whole(row))
        state.agents[agent]["around"] += state.agents[other]["name"]
        if peers.state.edges.row_delay.shape[0] > 0:
            slow_down(state, agent, other, slow)
    state.counters[VERSION] += 1
    return DONE


@inline
def edge_number(one: int, two: int) -> int:
    """One number for both directions of an edge; those of an agent that comes later are larger."""
    return (max(one, two) << 32) + min(one, two)


@inline
def slow_down(state: FieldState, agent: int, other: int, slow: NDArray[np.void]) -> None:
    """Set the delays of an edge, if it has some of its own."""
    edge = edge_number(agent, other)
    low, high = 0, slow.shape[0]
    while low < high:
        middle = (low + high) // 2
        if slow[middle]["edge"] < edge:
            low = middle + 1
        else:
            high = middle
    if low < slow.shape[0] and slow[low]["edge"] == edge:
        entry = find(state, agent, other)
        state.edges.row_delay[entry] = slow[low]["row"]
        state.edges.gradient_delay[entry] = slow[low]["gradient"]


@routine
def disconnect(peers: FieldPeers, one: int, two: int) -> None:
    """Let an edge vanish; bounds are announced later."""
    state = peers.state
    for agent, other in ((one, two), (two, one)):
        remove(state, agent, find(state, agent, other))
        state.agents[agent]["around"] -= state.agents[other]["name"]
    state.counters[VERSION] += 1


@routine
def leave(peers: FieldPeers, agent: int) -> None:
    """Let all edges of an agent vanish, and the agent with them."""
    state, a = peers.state, peers.state.agents[agent]
    e = a["first"] + a["count"] - 1
    while e >= a["first"]:
        other = whole(state.edges.clique[e])
        if other != agent:
            disconnect(peers, agent, other)
            announce(peers, other, EVERYBODY)
        e -= 1
    a["present"] = 0
    state.counters[AGENTS] -= 1
    state.counters[VERSION] += 1


@routine
def announce(peers: FieldPeers, agent: int, only: int) -> None:
    """Tell the cliques that an agent listens to how large its weights may be from now on.

    One neighbour is enough where an edge appeared: for others the weights fell.
    """
    state, rules, a = peers.state, peers.rules, peers.state.agents[agent]
    others = a["count"] - 1
    given = state.edges.weight.shape[0] > 0
    some = rules.partners < others or rules.may_miss
    own = own_bound(rules, others)
    self_weight = 1.0
    if given:
        self_weight = state.edges.weight[find(state, agent, agent)]
        own = 1.0 if some or rules.silent else self_weight
    tell_bound(peers, agent, own)
    for e in range(a["first"], a["first"] + a["count"]):
        other = whole(state.edges.clique[e])
        if other == agent or (only != EVERYBODY and other != only):
            continue
        if given:
            weight = state.edges.weight[e]
            if some:
                weight /= weight + self_weight
            weight *= rules.kappa
        else:
            weight = bound_for_others(rules, others, a["fresh"] > 0)
        tell_bound(peers, other, weight)


@inline
def tell_bound(peers: FieldPeers, clique: int, weight: float) -> None:
    """Raise the bound of a clique, if this weight is above it; mostly it is not."""
    if weight > peers.state.cliques[clique]["bound"]:
        raise_to(peers, clique, weight)


@routine
def raise_to(peers: FieldPeers, clique: int, weight: float) -> None:
    """Raise the bound of a clique to this weight."""
    c = peers.state.cliques[clique]
    ratio = c["bound"] / weight
    c["bound"] = weight
    raise_bound(peers.state.learner, clique, weight, ratio, weight)


@inline
def give_row(peers: FieldPeers, clique: int) -> int:
    """A row for a new neighbour; the slots of a clique that has none left double."""
    c = peers.state.cliques[clique]
    if c["used"] == c["slots"]:
        double(peers, clique)
    c["used"] += 1
    return whole(c["first"] + c["used"] - 1)


@inline
def double(peers: FieldPeers, clique: int) -> None:
    """Move a clique to a place with twice as many slots; there is room for it."""
    state, c, a = peers.state, peers.state.cliques[clique], peers.state.agents[clique]
    old, slots = c["first"], 2 * c["slots"]
    found = find_table(peers.tables, slots)
    table, experts = peers.tables[1, found], peers.tables[2, found]
    first, expert = take_rows(state, slots), take_experts(state, experts)
    layout = Layout(first, slots, expert, experts, table)
    grow_clique(state.learner, clique, old, c["used"], layout)
    for e in range(a["first"], a["first"] + a["ever"]):
        theirs = find_ever(state, whole(state.edges.clique[e]), clique)
        if theirs >= 0:  # not yet, for the one that is being connected
            state.edges.row[theirs] = first + (state.edges.row[theirs] - old)
    c["first"], c["slots"] = first, slots
    c["doublings"] += 1


@inline
def find_table(tables: Integers, slots: int) -> int:
    """Where the experts of a clique with so many slots are listed, or -1.

    A learner without experts has one entry, for any number of slots.
    """
    for k in range(tables.shape[1]):
        if tables[0, k] == slots or tables[0, k] == ANY:
            return k
    return -1


@inline
def lacks(peers: FieldPeers, entries: int, rows: int, experts: int) -> bool:
    """Whether there is no room for so much more."""
    counters, capacity = peers.state.counters, peers.capacity
    return bool(
        counters[ENTRIES] + entries > capacity.entries
        or counters[ROWS] + rows > capacity.rows
        or counters[EXPERTS] + experts > capacity.experts
    )


@inline
def take_rows(state: FieldState, rows: int) -> int:
    """The first of so many rows, which nobody else has."""
    state.counters[ROWS] += rows
    return whole(state.counters[ROWS] - rows)


@inline
def take_experts(state: FieldState, experts: int) -> int:
    """The first of so many experts, which nobody else has."""
    state.counters[EXPERTS] += experts
    return whole(state.counters[EXPERTS] - experts)


@routine
def happen(peers: FieldPeers, events: Events, cursor: Integers, slow: NDArray[np.void]) -> int:
    """Let the next event happen; returns what is missing, having done what could be done.

    The cursor holds the number of the event and of its part: a join is one part for the agent and
    one for each neighbour. An event that lacked room goes on where it stopped.
    """
    k = cursor[0]
    kind, one, two = events.kind[k], events.first[k], events.second[k]
    first, last = events.start[k], events.start[k + 1]
    if kind == JOIN:
        if cursor[1] == 0:
            missing = enter(peers, one, last - first)
            if missing != DONE:
                return missing
            cursor[1] = 1
        while cursor[1] <= last - first:
            other = whole(events.others[first + cursor[1] - 1])
            missing = connect(peers, one, other, slow)
            if missing != DONE:
                return missing
            cursor[1] += 1
        announce(peers, one, EVERYBODY)
        for e in range(first, last):
            announce(peers, whole(events.others[e]), one)
    elif kind == CONNECT:
        missing = connect(peers, one, two, slow)
        if missing != DONE:
            return missing
        announce(peers, one, two)
        announce(peers, two, one)
    elif kind == DISCONNECT:
        disconnect(peers, one, two)
        announce(peers, one, EVERYBODY)
        announce(peers, two, EVERYBODY)
    else:
        leave(peers, one)
    cursor[0] += 1
    cursor[1] = 0
    return DONE
