"""The entries of one agent: whom it listens to, ascending, and whom it once listened to."""

import numpy as np

from mtcool.field.vectors import clear_vector, copy_vector
from mtcool.kernels import inline
from mtcool.peers.field.records import ENTRIES, Edges, FieldState


@inline
def find(state: FieldState, agent: int, neighbour: int) -> int:
    """The entry of a neighbour that is there now, or -1."""
    a = state.agents[agent]
    low, high = a["first"], a["first"] + a["count"]
    while low < high:
        middle = (low + high) // 2
        if state.edges.clique[middle] < neighbour:
            low = middle + 1
        else:
            high = middle
    there = low < a["first"] + a["count"] and state.edges.clique[low] == neighbour
    return low if there else -1


@inline
def find_ever(state: FieldState, agent: int, neighbour: int) -> int:
    """The entry of a neighbour that is there or was once, or -1."""
    a = state.agents[agent]
    found = find(state, agent, neighbour)
    if found >= 0:
        return found
    for e in range(a["first"] + a["count"], a["first"] + a["ever"]):
        if state.edges.clique[e] == neighbour:
            return e
    return -1


@inline
def find_again(state: FieldState, agent: int, neighbour: int, entry: int) -> int:
    """As `find_ever`, for an entry that was here."""
    a = state.agents[agent]
    if a["first"] <= entry < a["first"] + a["ever"] and state.edges.clique[entry] == neighbour:
        return entry
    return find_ever(state, agent, neighbour)


@inline
def is_there(state: FieldState, agent: int, entry: int) -> bool:
    """Whether an entry of the agent is that of a neighbour which is there now."""
    a = state.agents[agent]
    return bool(a["first"] <= entry < a["first"] + a["count"])


@inline
def insert(state: FieldState, agent: int, neighbour: int, row: int) -> None:
    """Add an entry; a neighbour that vanished has its entry back. There is room for it."""
    a, edges = state.agents[agent], state.edges
    old = find_ever(state, agent, neighbour)
    if old < 0:
        if a["ever"] == a["room"]:
            move(state, agent, 2 * a["room"] + 2)
        old = a["first"] + a["ever"]
        a["ever"] += 1
    e = a["first"] + a["count"]
    copy_entry(edges, e, old)  # of one that vanished; its place is needed
    while e > a["first"] and edges.clique[e - 1] > neighbour:
        copy_entry(edges, e - 1, e)
        e -= 1
    edges.clique[e], edges.row[e] = neighbour, row
    clear(edges, e)
    if edges.row_delay.shape[0] > 0:
        edges.row_delay[e], edges.gradient_delay[e] = 0.0, 0.0
    a["count"] += 1


@inline
def remove(state: FieldState, agent: int, entry: int) -> None:
    """Let an entry vanish; the row that belongs to it is remembered."""
    a, edges = state.agents[agent], state.edges
    neighbour, row, for_row, for_gradient = edges.clique[entry], edges.row[entry], 0.0, 0.0
    if edges.row_delay.shape[0] > 0:
        for_row, for_gradient = edges.row_delay[entry], edges.gradient_delay[entry]
    a["count"] -= 1
    last = a["first"] + a["count"]
    for e in range(entry, last):
        copy_entry(edges, e + 1, e)
    edges.clique[last], edges.row[last] = neighbour, row
    clear(edges, last)
    if edges.row_delay.shape[0] > 0:  # what is under way still takes its time
        edges.row_delay[last], edges.gradient_delay[last] = for_row, for_gradient


@inline
def move(state: FieldState, agent: int, room: int) -> None:
    """Give an agent a larger place for its entries, behind all others."""
    a = state.agents[agent]
    first = state.counters[ENTRIES]
    state.counters[ENTRIES] += room
    for k in range(a["ever"]):
        copy_entry(state.edges, a["first"] + k, first + k)
    a["first"], a["room"] = first, room


@inline
def copy_entry(edges: Edges, old: int, new: int) -> None:
    """Copy all that is known of an edge."""
    edges.clique[new], edges.row[new] = edges.clique[old], edges.row[old]
    if edges.score.shape[0] > 0:
        edges.score[new] = edges.score[old]
    if edges.number.shape[0] > 0:
        edges.number[new], edges.stamp[new] = edges.number[old], edges.stamp[old]
    if edges.kept.shape[0] > 0:
        copy_vector(edges.kept[old], edges.kept[new])
    if edges.row_delay.shape[0] > 0:
        edges.row_delay[new] = edges.row_delay[old]
        edges.gradient_delay[new] = edges.gradient_delay[old]


@inline
def clear(edges: Edges, entry: int) -> None:
    """Forget all that was said over an edge."""
    if edges.score.shape[0] > 0:
        edges.score[entry] = np.inf
    if edges.number.shape[0] > 0:
        edges.number[entry], edges.stamp[entry] = -1, 0.0
    if edges.kept.shape[0] > 0:
        clear_vector(edges.kept[entry])
