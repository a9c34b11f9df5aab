"""Ask and tell in the field, and the events that a caller asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mtcool.changes.events import CONNECT, DISCONNECT, JOIN, Events
from mtcool.field.sizes import name_sizes
from mtcool.graphs import Graph
from mtcool.kernels import kernel
from mtcool.peers.exchange import Exchange, one_gradient, refuse
from mtcool.peers.field.capacity import Need, growing
from mtcool.peers.field.checking import check_present, check_uniform, checked
from mtcool.peers.field.directory import Directory
from mtcool.peers.field.edge_delays import UNKNOWN, SlowEdges
from mtcool.peers.field.entries import find
from mtcool.peers.field.events import (
    DONE,
    EVERYBODY,
    NEEDS_TABLE,
    announce,
    happen,
    slow_down,
)
from mtcool.peers.field.partners import prepare
from mtcool.peers.field.records import AGENTS, LABELS, TARGETS, WAITING, FieldPeers
from mtcool.peers.field.rounds import tell_gradient
from mtcool.peers.field.schedule_capacity import coming
from mtcool.peers.settings import Settings
from mtcool.types import AnyArray, Floats, GradientLike, Integers, Label

if TYPE_CHECKING:
    from mtcool.field.settings import FieldSettings

ROUNDS_AHEAD = 4096  # that there is room in the queue for
MOST_AHEAD = 65536  # rows that they may hear, unless one round does


class FieldExchange(Exchange):
    """Agents in the field: rounds by ask and tell, and a graph that changes.

    A change is checked before anything happens; room for it is made as it is needed.
    """

    pace = 100_000  # a round is never interrupted

    def __init__(self, peers: FieldPeers, settings: Settings, directory: Directory) -> None:
        self.peers = peers
        self.names = directory
        self._settings = settings
        self._slow = SlowEdges(self._field, directory)
        self._graph: Graph | None = None
        self._happening: tuple[Events, Integers] | None = None

    @property
    def _field(self) -> FieldSettings:
        if self._settings.field is None:
            raise ValueError("settings must have a field, got None")
        return self._settings.field

    @property
    def slow(self) -> AnyArray:
        """Edges with delays of their own, between agents that are known."""
        return self._slow.table

    def begin(self) -> None:
        """Tell all cliques how large weights may be, and which edges are slow.

        Where messages are plain and no edge is slow there is nothing to tell, nor to compile.
        """
        if not self.peers.rules.plain or len(self.slow):
            _begin(self.peers, self.slow)

    # --- rounds ------------------------------------------------------------------------------

    def predict(self, agent: int, x: Floats) -> None:
        """Write the agent's prediction into `x`."""
        check_present(self, agent)
        super().predict(agent, x)

    def update(self, agent: int, gradient: GradientLike) -> None:
        """Play a round of the agent to its end."""
        check_present(self, agent)
        g = one_gradient(gradient, self._settings)
        self.provide(np.array([agent]))
        if not _tell(self.peers, agent, g.copy()):
            refuse(g, self._settings)

    def provide(self, agents: Integers) -> int:
        """Make room for what these rounds may put into the queue; returns how many have room."""
        if not self.peers.rules.late:
            return len(agents)
        state, rules = self.peers.state, self.peers.rules
        rounds = min(len(agents), ROUNDS_AHEAD)
        neighbours = state.agents["count"][agents[:rounds]].astype(np.int64)
        asked = np.minimum(neighbours, rules.partners + 1)
        rounds = min(rounds, max(1, int(np.searchsorted(np.cumsum(asked), MOST_AHEAD))))
        need, queue = self._waiting(rounds, int(asked[:rounds].sum())), state.queue
        if (
            need.messages > len(queue.messages)
            or need.labels > len(queue.labels)
            or need.targets > len(queue.targets) - state.counters[TARGETS]
        ):
            self._make_room(
                Need(messages=2 * need.messages, labels=2 * need.labels, targets=need.targets)
            )
        return rounds

    def _waiting(self, rounds: int, heard: int) -> Need:
        """What may wait in the queue after so many rounds in which so many are heard."""
        counters, delays = self.peers.state.counters, self._field.delays
        labels = targets = messages = 0
        if not delays.labels.is_none:
            labels, targets = int(counters[LABELS]) + rounds, heard
        if not delays.rows.is_none:
            messages += heard
        if not delays.gradients.is_none:
            messages += heard + int(counters[TARGETS])  # of these rounds, and of labels that come
        if messages > 0:
            messages += int(counters[WAITING])
        return Need(messages=messages, labels=labels, targets=targets)

    # --- changes -----------------------------------------------------------------------------

    def change(self, event: int, agent: Label, others: Sequence[Label]) -> None:
        """Let an event happen, or refuse it with nothing changed."""
        self.check_uniform()
        i, them = checked(self, event, agent, others)
        if i == self.names.size:
            self.register([agent])
        self.apply(event, i, them)

    def check_uniform(self) -> None:
        """Refuse changes where nobody could say what the weight of a new edge is."""
        check_uniform(not self.peers.state.edges.weight.size)

    def gone(self) -> list[Label]:
        """Names of those who are known and not there."""
        if self.crowd == self.names.size:
            return []
        labels, there = self.names.labels, self.peers.state.agents["present"][: self.names.size]
        return [labels[i] for i in np.flatnonzero(there == 0).tolist()]

    def first_gone(self) -> Label | None:
        """The first who left and has somebody behind who is there, if there is one."""
        there = self.peers.state.agents["present"][: self.names.size]
        gone = int(there.argmin())
        return None if there[gone] or gone >= self.crowd else self.names.labels[gone]

    @property
    def crowd(self) -> int:
        """How many agents are there."""
        return int(self.peers.state.counters[AGENTS])

    def is_there(self, agent: int) -> bool:
        """Whether an agent that is known is in the network."""
        return bool(self.peers.state.agents[agent]["present"])

    def are_connected(self, one: int, two: int) -> bool:
        """Whether there is an edge between two agents that are in the network."""
        return find(self.peers.state, one, two) >= 0

    def register(self, names: Sequence[Label]) -> None:
        """Make agents known that will join."""
        if not names:
            return
        before, known = self.names.size, self.names.size + len(names)
        if known > len(self.peers.state.agents):
            self._make_room(Need(agents=known))
        self.peers.state.agents["name"][before:known] = name_sizes(tuple(names))
        self.names.add(names)  # last: whoever has a name has a place

    def reserve(self, events: Events) -> None:
        """Make room for all changes of a schedule at once; its agents are registered."""
        found = coming(self.peers.state, events)
        self._make_room(Need(sizes=tuple(found.slots)))
        experts = self._experts(found.slots)
        self._make_room(Need(entries=found.entries, rows=found.rows, experts=experts))

    def apply(self, event: int, agent: int, others: Sequence[int]) -> None:
        """Let an event happen that was checked."""
        events, cursor = one_event(event, agent, others), np.zeros(2, np.int64)
        self.expect(events, cursor)
        while cursor[0] == 0:
            self.go_on(events, cursor)
        self.changed()

    def expect(self, events: Events, cursor: Integers) -> None:
        """Remember what will happen, because an interrupt may come."""
        self._happening = events, cursor
        self.changed()

    def finish(self) -> None:
        """Complete a join that an interrupt left with some of its edges."""
        if self._happening is not None:
            events, cursor = self._happening
            while cursor[1] > 0:
                self.go_on(events, cursor)
                self.changed()

    def changed(self) -> None:
        """Forget the graph as it was."""
        self._graph = None

    def go_on(self, events: Events, cursor: Integers) -> None:
        """Let the next part of an event happen, or make the room that it lacks."""
        missing = _happen(self.peers, events, cursor, self.slow)
        if missing != DONE:
            self.make_room_for(events, cursor, missing)

    def make_room_for(self, events: Events, cursor: Integers, missing: int) -> None:
        """Make the room that the next part of an event lacks."""
        k, part = int(cursor[0]), int(cursor[1])
        one, two = int(events.first[k]), int(events.second[k])
        others = events.others[events.start[k] : events.start[k + 1]]
        if events.kind[k] == JOIN and part == 0:
            self._make_room_to_enter(len(others), missing)
            return
        ends = [one, two if events.kind[k] == CONNECT else int(others[part - 1])]
        cliques, agents = self.peers.state.cliques[ends], self.peers.state.agents[ends]
        slots = (2 * cliques["slots"]).tolist()
        if missing == NEEDS_TABLE:
            self._make_room(Need(sizes=tuple(slots)))
            return
        need = Need(
            entries=int((2 * agents["room"] + 2).sum()),
            rows=sum(slots),
            experts=self._experts(Counter(slots)),
            neighbours=int(agents["count"].max()) + 1,
        )
        self._make_room(need)

    def _make_room_to_enter(self, neighbours: int, missing: int) -> None:
        slots = neighbours + 1
        if missing == NEEDS_TABLE:
            self._make_room(Need(sizes=(slots,)))
        else:
            experts = self._experts({slots: 1})
            self._make_room(Need(entries=neighbours + 2, rows=slots, experts=experts))

    def _experts(self, slots: Mapping[int, int]) -> int:
        """Experts of cliques with so many slots, each as often as it says."""
        numbers = dict(
            zip(self.peers.tables[0].tolist(), self.peers.tables[2].tolist(), strict=True)
        )
        return sum(numbers.get(size, 0) * times for size, times in slots.items())

    def _make_room(self, need: Need) -> None:
        for larger in growing(self.peers, self._settings, need):
            self.peers = larger  # and the array that was too short is gone

    # --- what there is -------------------------------------------------------------------------

    def directory(self, graph: Graph) -> Directory:
        """All agents that ever were."""
        return self.names

    def in_the_field(self) -> FieldExchange:
        """The exchange itself."""
        return self

    def current_graph(self, graph: Graph) -> Graph:
        """The graph of the agents that are there now."""
        if self._graph is None:
            self._graph = graph_of(self.peers, self.names)
        return self._graph


def names_of(neighbours: Iterable[Label]) -> list[Label]:
    """The neighbours that a caller gave, as a list.

    Examples
    --------
    >>> names_of(("rome", "oslo"))
    ['rome', 'oslo']
    """
    if isinstance(neighbours, str) or not isinstance(neighbours, Iterable):
        raise ValueError(f"neighbours must be names of agents, got {neighbours!r}")
    return list(neighbours)


def graph_of(peers: FieldPeers, directory: Directory) -> Graph:
    """The graph of the agents that are there now; their order is that of the directory."""
    agents = peers.state.agents[: directory.size]
    there = np.flatnonzero(agents["present"])
    places = np.cumsum(agents["present"], dtype=np.int64) - 1
    counts = agents["count"][there].astype(np.int64)
    ptr = np.concatenate(([0], np.cumsum(counts)))
    entries = np.repeat(agents["first"][there] - ptr[:-1], counts) + np.arange(ptr[-1])
    labels = directory.labels
    names = labels if len(there) == len(labels) else [labels[i] for i in there.tolist()]
    return Graph(ptr, places[peers.state.edges.clique[entries]], names)


@kernel
def _begin(peers: FieldPeers, slow: AnyArray) -> None:
    if not peers.rules.plain:  # else weights are as large as they were
        for agent in range(peers.state.counters[AGENTS]):
            announce(peers, agent, EVERYBODY)
    for s in range(slow.shape[0]):
        one, two = slow[s]["edge"] >> 32, slow[s]["edge"] & 0xFFFFFFFF
        if slow[s]["edge"] != UNKNOWN and find(peers.state, one, two) >= 0:
            slow_down(peers.state, one, two, slow)
            slow_down(peers.state, two, one, slow)


@kernel
def _tell(peers: FieldPeers, agent: int, gradient: Floats) -> bool:
    prepare(peers, agent)
    return tell_gradient(peers, agent, gradient, False)


@kernel
def _happen(peers: FieldPeers, events: Events, cursor: Integers, slow: AnyArray) -> int:
    return happen(peers, events, cursor, slow)


def one_event(event: int, agent: int, others: Sequence[int]) -> Events:
    """An event as a schedule of its own, for the neighbours of a join or the other end of an edge.

    Examples
    --------
    >>> one_event(CONNECT, 3, [4]).second
    array([4])
    """
    edge = event in (CONNECT, DISCONNECT)
    neighbours = [] if edge else others
    return Events(
        time=np.zeros(1, np.int64),
        kind=np.array([event], np.uint8),
        first=np.array([agent]),
        second=np.array([others[0] if edge else -1]),
        start=np.array([0, len(neighbours)]),
        others=np.array(neighbours, np.int32),
    )


def field_exchange(peers: FieldPeers, settings: Settings, graph: Graph) -> FieldExchange:
    """For peers in the field that nobody has joined yet."""
    return FieldExchange(peers, settings, Directory(graph))
