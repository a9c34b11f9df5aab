"""Room for what comes next: kernels cannot allocate, so they say what is missing and wait."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mtcool.axes import CLIQUE, EXPERT, ROW, enlarged, longer
from mtcool.learners import MTFTRL
from mtcool.learners.mt_ftrl.capacity import with_experts
from mtcool.peers.field.records import (
    ENTRIES,
    EXPERTS,
    LABELS,
    ROWS,
    TARGETS,
    Capacity,
    Edges,
    FieldPeers,
    Queue,
    RoundScratch,
)
from mtcool.peers.settings import Settings
from mtcool.types import AnyArray, Floats, Integers, State

LEAST = 64  # places that are added at once
BY_NEIGHBOUR = (
    *("asked", "waits", "heard", "weights", "stamps", "helps"),
    *("others", "scores", "keys", "draws", "order", "chosen"),
)


class Need(NamedTuple):
    """What there must be room for, beyond what is used."""

    agents: int = 0
    """That are known, whether they are here or not: the number of all."""
    entries: int = 0
    rows: int = 0
    experts: int = 0
    neighbours: int = 0
    """Of one agent, itself included: the most of all."""
    sizes: tuple[int, ...] = ()
    """Numbers of slots that cliques may have."""
    messages: int = 0
    """That may be under way, in all."""
    labels: int = 0
    targets: int = 0
    """Of labels to come."""


def enlarge(peers: FieldPeers, settings: Settings, need: Need) -> FieldPeers:
    """The same peers with room for what is needed."""
    for larger in growing(peers, settings, need):
        peers = larger
    return peers


def growing(peers: FieldPeers, settings: Settings, need: Need) -> Iterator[FieldPeers]:
    """The same peers with more and more room, at last with room for what is needed.

    One array is copied at a time, and only if it is too short: who keeps the last peers only has
    no other array twice. All of them can be played on, whenever Ctrl-C comes: what says how much
    room there is follows the room itself.
    """
    tables, table = _tables(peers, settings, need.sizes)
    new = _capacity(peers, settings, need)
    agents, most = _grown(len(peers.state.agents), need.agents), _most(peers, need.neighbours)
    largest = int(tables[0].max()), int(tables[2].max())
    for cliques, experts in ((0, 0), (agents, new.experts)):
        lengths = {CLIQUE: cliques, ROW: new.rows, EXPERT: experts}
        learner = enlarged(peers.state.learner, lengths)
        peers = _with(peers, learner=with_experts(learner, table, *largest))
        yield peers
    peers = peers._replace(tables=tables)
    for name in Edges._fields:
        peers = _with(peers, edges=_with_longer(peers.state.edges, name, new.entries))
        yield peers
    peers = _with(peers, cliques=longer(peers.state.cliques, agents))
    yield peers
    peers = _with(peers, agents=longer(peers.state.agents, agents))
    yield peers
    counters = peers.state.counters.copy()  # they say where the first free places are
    queue = _queue(peers.state.queue, counters, need)
    peers = _with(peers, queue=queue, counters=counters)
    models, work = longer(peers.models, most), _round(peers.work, most)
    yield peers._replace(capacity=new, models=models, work=work)


def _with(peers: FieldPeers, **parts: State) -> FieldPeers:
    return peers._replace(state=peers.state._replace(**parts))


def _with_longer(edges: Edges, name: str, length: int) -> Edges:
    array = getattr(edges, name)
    # An array that is not used stays empty.
    return edges._replace(**{name: longer(array, length)}) if len(array) else edges


def _capacity(peers: FieldPeers, settings: Settings, need: Need) -> Capacity:
    counters, capacity = peers.state.counters, peers.capacity
    hedge = isinstance(settings.learner, MTFTRL)
    return Capacity(
        entries=_grown(capacity.entries, counters[ENTRIES] + need.entries),
        rows=_grown(capacity.rows, counters[ROWS] + need.rows),
        experts=_grown(capacity.experts, counters[EXPERTS] + need.experts) if hedge else 0,
    )


def _grown(capacity: int, need: int) -> int:
    """A capacity for as much: the same, or larger by a good piece.

    By half, so whatever comes one by one is copied three times on average, however much there is.
    """
    if need <= capacity:
        return capacity
    return int(need + max(capacity // 2, LEAST))


def _most(peers: FieldPeers, neighbours: int) -> int:
    there = peers.models.shape[0]
    return there if neighbours < there else neighbours + neighbours // 2 + 8


def _round(work: RoundScratch, most: int) -> RoundScratch:
    arrays = {name: longer(getattr(work, name), most) for name in BY_NEIGHBOUR}
    return work._replace(**arrays, key=np.full_like(work.key, -1))


def _queue(queue: Queue, counters: Integers, need: Need) -> Queue:
    """A queue with so many places; `counters` tell how many are taken."""
    messages = longer(queue.messages, max(need.messages, len(queue.messages)))
    labels, targets = longer(queue.labels, max(need.labels, len(queue.labels))), queue.targets
    if need.targets > 0:
        labels, targets = _without_used(queue, labels, need.targets, counters)
    return queue._replace(
        places=_places(queue.places, len(messages)),
        messages=messages,
        content=longer(queue.content, len(messages)),
        label_places=_places(queue.label_places, len(labels)),
        labels=labels,
        gradients=longer(queue.gradients, len(labels)),
        targets=targets,
    )


def _places(places: Integers, length: int) -> Integers:
    """So many places; new ones are free."""
    return np.concatenate((places, np.arange(len(places), length)))


def _without_used(
    queue: Queue, labels: AnyArray, more: int, counters: Integers
) -> tuple[AnyArray, AnyArray]:
    """Labels and their targets, of which none has been used, and room for so many more.

    There is room for as many again as are kept: so seldom is this done.
    """
    waits = np.ones(len(queue.labels), bool)
    waits[queue.label_places[counters[LABELS] :]] = False
    waiting = np.flatnonzero(waits)
    count = labels["count"][waiting]
    first = np.cumsum(count) - count
    kept = np.repeat(labels["first"][waiting] - first, count) + np.arange(count.sum())
    targets = np.zeros(2 * (len(kept) + more), queue.targets.dtype)
    targets[: len(kept)] = queue.targets[kept]
    labels = labels.copy()
    labels["room"] = 0
    labels["first"][waiting], labels["room"][waiting] = first, count
    counters[TARGETS] = len(kept)
    return labels, targets


def _tables(
    peers: FieldPeers, settings: Settings, sizes: tuple[int, ...]
) -> tuple[Integers, Floats]:
    """Where the experts of cliques of all sizes are listed, and the lists."""
    learner = settings.learner
    inner: State = getattr(peers.state.learner, "inner", peers.state.learner)
    if not isinstance(learner, MTFTRL):
        return peers.tables, np.zeros((2, 0))
    table, tables = inner.table, peers.tables
    for size in sorted(set(sizes) - set(tables[0].tolist())):
        guesses = learner.table(size)
        place = [[size], [table.shape[1]], [guesses.shape[1]]]
        tables = np.concatenate((tables, place), axis=1)
        table = np.concatenate((table, guesses), axis=1)
    return tables, table
