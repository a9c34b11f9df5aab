"""Ask and tell in the field, and the events that a caller asks for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mtcool.changes.events import CONNECT, DISCONNECT, JOIN, LEAVE, Events
from mtcool.field.sizes import name_sizes
from mtcool.field.vectors import whole
from mtcool.graphs import Graph
from mtcool.kernels import kernel
from mtcool.peers.exchange import Exchange, one_gradient, refuse
from mtcool.peers.field.directory import Directory
from mtcool.peers.field.entries import find
from mtcool.peers.field.events import (
    DONE,
    EVERYBODY,
    NEEDS_TABLE,
    announce,
    happen,
    slow_down,
)
from mtcool.peers.field.making import slow_edges
from mtcool.peers.field.partners import prepare
from mtcool.peers.field.records import AGENTS, LABELS, TARGETS, WAITING, FieldPeers
from mtcool.peers.field.room import Need, enlarge
from mtcool.peers.field.rounds import tell_gradient
from mtcool.peers.settings import Settings
from mtcool.types import AnyArray, Floats, Given, GradientLike, Integers, Label

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
        self._slow, self._slow_among = slow_edges(self._field, directory), directory.size
        self._graph: Graph | None = None
        self._happening: tuple[Events, Integers] | None = None

    @property
    def _field(self) -> FieldSettings:
        if self._settings.field is None:
            raise ValueError("settings must have a field, got None")
        return self._settings.field

    @property
    def slow(self) -> NDArray[np.void]:
        """Edges with delays of their own, between agents that are known."""
        if self._slow_among != self.names.size:
            self._slow, self._slow_among = slow_edges(self._field, self.names), self.names.size
        return self._slow

    def begin(self) -> None:
        """Tell all cliques how large weights may be, and which edges are slow."""
        _begin(self.peers, self.slow)

    # --- rounds ------------------------------------------------------------------------------

    def predict(self, agent: int, x: Floats) -> None:
        """Write the agent's prediction into `x`."""
        self.check_present(agent)
        super().predict(agent, x)

    def update(self, agent: int, gradient: GradientLike) -> None:
        """Play a round of the agent to its end."""
        self.check_present(agent)
        g = one_gradient(gradient, self._settings)
        self.provide(np.array([agent]))
        if not _tell(self.peers, agent, g.copy()):
            refuse(g, self._settings)

    def check_present(self, agent: int) -> None:
        """Refuse an agent that has left."""
        if not self.peers.state.agents[agent]["present"]:
            name = self.names.labels[agent]
            raise ValueError(f"agent must be in the network, got {name!r}, which is not there now")

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
        if event == JOIN:
            self._join(agent, others)
            return
        i = self._present(agent)
        if event == LEAVE:
            if self.peers.state.counters[AGENTS] == 1:
                raise ValueError(f"agent must not be the last one to leave, got {agent!r}")
            self.apply(LEAVE, i, [])
            return
        j = self._present(others[0])
        if i == j:
            raise ValueError(f"agents must be different, got {agent!r} twice")
        there = find(self.peers.state, i, j) >= 0
        if there == (event == CONNECT):
            what = "not be connected yet" if there else "be connected"
            raise ValueError(f"agents must {what}, got {agent!r} and {others[0]!r}")
        self.apply(event, i, [j])

    def check_uniform(self) -> None:
        """Refuse changes where nobody could say what the weight of a new edge is."""
        if self.peers.state.edges.weight.size:
            raise ValueError(
                "weights must be uniform in a network whose graph changes, got weights of one's own"
            )

    def _join(self, agent: Label, others: Sequence[Label]) -> None:
        known = self.names.knows(agent)
        if known and self.peers.state.agents[self.names.index(agent)]["present"]:
            raise ValueError(f"agent must not be in the network yet, got {agent!r}")
        if not is_name(agent):
            raise ValueError(f"agent must have a name that can be a key, got {agent!r}")
        neighbours = [self._present(other) for other in others]
        if len(set(neighbours)) < len(neighbours):
            raise ValueError(f"neighbours must be different, got {list(others)!r}")
        if not known:
            self.register([agent])
        self.apply(JOIN, self.names.index(agent), sorted(neighbours))

    def _present(self, agent: Label) -> int:
        i = self.names.index(agent)
        self.check_present(i)
        return i

    def register(self, names: Sequence[Label]) -> None:
        """Make agents known that will join."""
        if not names:
            return
        before, known = self.names.size, self.names.size + len(names)
        if known > len(self.peers.state.agents):
            self._make_room(Need(agents=known))
        self.peers.state.agents["name"][before:known] = name_sizes(tuple(names))
        self.names.add(names)  # last: whoever has a name has a place

    def apply(self, event: int, agent: int, others: Sequence[int]) -> None:
        """Let an event happen that was checked."""
        events, cursor = one_event(event, agent, others), np.zeros(2, np.int64)
        self.expect(events, cursor)
        while cursor[0] == 0:
            self._go_on(events, cursor)
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
                self._go_on(events, cursor)
                self.changed()

    def changed(self) -> None:
        """Forget the graph as it was."""
        self._graph = None

    def _go_on(self, events: Events, cursor: Integers) -> None:
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
            experts=self._experts(slots),
            neighbours=int(agents["count"].max()) + 1,
        )
        self._make_room(need)

    def _make_room_to_enter(self, neighbours: int, missing: int) -> None:
        slots = neighbours + 1
        if missing == NEEDS_TABLE:
            self._make_room(Need(sizes=(slots,)))
        else:
            experts = self._experts([slots])
            self._make_room(Need(entries=neighbours + 2, rows=slots, experts=experts))

    def _experts(self, slots: list[int]) -> int:
        numbers = dict(
            zip(self.peers.tables[0].tolist(), self.peers.tables[2].tolist(), strict=True)
        )
        return sum(numbers.get(size, 0) for size in slots)

    def _make_room(self, need: Need) -> None:
        self.peers = enlarge(self.peers, self._settings, need)

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


def is_name(agent: Given) -> bool:
    """Whether this can be the name of an agent: a key that equals itself.

    Examples
    --------
    >>> is_name("rome"), is_name(["rome"]), is_name(float("nan"))
    (True, False, False)
    """
    try:
        hash(agent)
    except TypeError:
        return False
    return bool(agent == agent)


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
        one, two = whole(slow[s]["one"]), whole(slow[s]["two"])
        slow_down(peers.state, one, two, slow[s : s + 1])
        slow_down(peers.state, two, one, slow[s : s + 1])


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
