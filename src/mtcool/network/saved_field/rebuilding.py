"""From the form of a network back to peers in the field, with room for what comes next."""

import numpy as np
from numpy.typing import NDArray

from mtcool.learners import MTFTRL
from mtcool.network.saved_field.form import (
    OF_PRESENT,
    Form,
    copy_fields,
    owners,
    present_entries,
)
from mtcool.network.saved_field.origin import Origin
from mtcool.peers.field import records
from mtcool.peers.field.capacity import Need, enlarge
from mtcool.peers.field.edge_delays import SlowEdges
from mtcool.peers.field.queue import END
from mtcool.peers.field.records import BUCKETS, Capacity, Edges, FieldPeers, FieldState, Queue
from mtcool.types import AnyArray, Integers, State


def rebuilt(origin: Origin, form: Form, learner: State) -> FieldPeers:
    """Peers that go on from a form, and from what their cliques know."""
    settings, began = origin.settings, origin.peers
    inner: State = getattr(learner, "inner", learner)
    hedge = isinstance(settings.learner, MTFTRL)
    slots, most = form.cliques["slots"], _most(form)
    size = Capacity(len(form.clique), int(slots.sum()), len(inner.centre) if hedge else 0)
    bare = began._replace(
        state=FieldState(
            learner=learner,
            agents=_agents(form, origin),
            cliques=_cliques(form),
            edges=_edges(form, origin),
            queue=_queue(form),
            counters=_counters(form, size),
        ),
        capacity=size,
        tables=_tables(inner.plan) if hedge else began.tables,
    )
    doubled = tuple((2 * np.unique(slots[slots > 0])).tolist())
    return enlarge(bare, settings, Need(sizes=doubled, neighbours=most))


def _most(form: Form) -> int:
    """The most that an agent listens to, or did in a round whose label is still to come."""
    return int(max(form.agents["count"].max(), form.labels["count"].max(initial=0)))


def _counters(form: Form, size: Capacity) -> Integers:
    counters = np.zeros(records.COUNTERS, np.int64)
    counters[records.CLOCK] = form.agents["begun"].sum()
    counters[records.AGENTS] = form.agents["present"].sum()
    counters[[records.ENTRIES, records.ROWS, records.EXPERTS]] = size
    counters[[records.WAITING, records.LABELS]] = len(form.messages), len(form.labels)
    counters[records.TARGETS] = len(form.targets)
    return counters


def _agents(form: Form, origin: Origin) -> NDArray[np.void]:
    agents = copy_fields(form.agents, np.zeros(len(form.agents), records.AGENT))
    agents["room"] = form.agents["ever"]
    agents["first"] = np.cumsum(form.agents["ever"]) - form.agents["ever"]
    agents["name"] = names = origin.names
    present = present_entries(form)
    owner, near = owners(form)[present], form.clique[present]
    others = owner != near
    np.add.at(agents["around"], owner[others], names[near[others]])
    return agents


def _cliques(form: Form) -> NDArray[np.void]:
    cliques = copy_fields(form.cliques, np.zeros(len(form.cliques), records.CLIQUE))
    cliques["used"] = form.agents["ever"]  # a row for each neighbour that its agent ever had
    cliques["first"] = np.cumsum(cliques["slots"]) - cliques["slots"]
    return cliques


def _edges(form: Form, origin: Origin) -> Edges:
    """Entries; of neighbours that vanished nothing is known but their rows and delays."""
    edges = Edges._make(_as_long(array, len(form.clique)) for array in origin.peers.state.edges)
    first = np.cumsum(form.cliques["slots"]) - form.cliques["slots"]
    edges.clique[:], edges.row[:] = form.clique, first[form.clique] + form.row
    edges.score[:], edges.number[:] = np.inf, -1
    for name in OF_PRESENT:
        array = getattr(edges, name)
        if len(array):
            array[present_entries(form)] = getattr(form, name)
    if origin.weighted:
        edges.weight[:] = origin.weights
    if len(edges.row_delay):
        _slow_down(edges, owners(form), origin)
    return edges


def _as_long(array: AnyArray, length: int) -> AnyArray:
    """Zeros, so many; an array that is not used stays empty."""
    return np.zeros((length if len(array) else 0, *array.shape[1:]), array.dtype)


def _slow_down(edges: Edges, owner: Integers, origin: Origin) -> None:
    """Set the delays of entries that have some of their own."""
    slow = SlowEdges(origin.field, origin.directory).table
    near = edges.clique.astype(np.int64)
    asked = (np.maximum(owner, near) << 32) + np.minimum(owner, near)
    places = np.searchsorted(slow["edge"], asked)
    there = np.flatnonzero(places < len(slow))
    there = there[slow["edge"][places[there]] == asked[there]]
    edges.row_delay[there] = slow["row"][places[there]]
    edges.gradient_delay[there] = slow["gradient"][places[there]]


def _queue(form: Form) -> Queue:
    first, last, messages = _lists(form.messages, records.MESSAGE)
    label_first, label_last, labels = _lists(form.labels, records.LABEL)
    targets = copy_fields(form.targets, np.zeros(len(form.targets), records.TARGET))
    labels["first"], labels["room"] = np.cumsum(labels["count"]) - labels["count"], labels["count"]
    return Queue(
        first=first,
        last=last,
        places=np.arange(len(messages)),
        messages=messages,
        content=form.content.copy(),
        label_first=label_first,
        label_last=label_last,
        label_places=np.arange(len(labels)),
        labels=labels,
        gradients=form.gradients.copy(),
        targets=targets,
    )


def _lists(
    waiting: AnyArray, dtype: np.dtype[np.void]
) -> tuple[Integers, Integers, NDArray[np.void]]:
    """First and last of each bucket, and what is under way, linked in its order."""
    entries = copy_fields(waiting, np.zeros(len(waiting), dtype))
    bucket = entries["due"] % BUCKETS
    order = np.argsort(bucket, kind="stable")
    entries["next"] = END
    follows = np.flatnonzero(np.diff(bucket[order]) == 0)
    entries["next"][order[follows]] = order[follows + 1]
    first, last = np.full(BUCKETS, END), np.full(BUCKETS, END)
    first[bucket[order[::-1]]] = order[::-1]  # of several for one place the last one is kept
    last[bucket[order]] = order
    return first, last, entries


def _tables(plan: NDArray[np.void]) -> Integers:
    """For every number of slots it, where its experts are listed, and how many there are."""
    sizes, which = np.unique(plan["size"], return_index=True)
    which = which[sizes > 0]  # zero would stand for any number
    return np.stack([plan[name][which] for name in ("size", "table", "experts")])
