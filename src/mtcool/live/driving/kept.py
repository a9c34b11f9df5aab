"""What must survive of an agent, as plain values without pickle: numbers, arrays as raw bytes.

Databases and journals may be damaged, or a stranger's, and compiled code trusts what it reads. So
an agent goes on from nothing that was not checked: its arrays as those of saved networks are, by
the same functions, and all else here.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Annotated, NamedTuple, TypeAlias, TypeVar

import msgspec
import numpy as np

from mtcool.agents import Agent, CliqueAgent, FieldAgent, PrivateAgent, SingleTaskAgent
from mtcool.agents.field.account import Account
from mtcool.agents.field.clique import FieldClique
from mtcool.agents.field.neighbour import Kept, Neighbour
from mtcool.agents.received import MOST, Position
from mtcool.axes import restore, state_arrays
from mtcool.graphs.labels import label_of, plain_name
from mtcool.learn.agent import PanelAgent
from mtcool.learn.exchange import knowledge_of, products_of
from mtcool.learn.told import check_knowledge, check_products
from mtcool.learners.panel.checks import check_panel, panel_shapes
from mtcool.network.saved_field.checks.cliques import check_bounds, check_slots, check_sums
from mtcool.network.saved_field.checks.learner import check_learner
from mtcool.network.saved_field.checks.said import check_rows, check_scores
from mtcool.network.saved_field.form import CLIQUE
from mtcool.network.saved_states import check_releases, check_state_arrays
from mtcool.network.saved_states.checks import Saved, within
from mtcool.network.saved_states.sizes import check_size
from mtcool.peers.field.bounds import own_bound
from mtcool.peers.private import PrivateState
from mtcool.types import AnyArray, Label, Name, Plain, State

Arrays: TypeAlias = tuple[tuple[str, AnyArray], ...]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MOST)]
Index: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=2**62)]
_Bytes: TypeAlias = dict[str, bytes]
_Value = TypeVar("_Value")
OF_A_PANEL = tuple(panel_shapes(0, 0, 0))
"""Names of the arrays of a panel that change."""
_Row: TypeAlias = tuple[Count, float, list[float]]


class _Position(NamedTuple):
    """What was taken of a sender."""

    name: Name
    last: Count
    beyond: list[Count]


class _Near(NamedTuple):
    """A neighbour of an agent in the field."""

    name: Name
    place: Index
    score: float
    row: _Row | None


class _Clique(NamedTuple):
    """What is kept of the clique of an agent in the field."""

    slots: Count
    bound: float
    doublings: Count
    rows: list[tuple[Name, Count]]
    account: tuple[float, float, float, float, float, float, float]
    arrays: _Bytes


class _Counts(NamedTuple):
    """What an agent in the field has counted, as its constructor takes it."""

    begun: Count
    fresh: bool
    present: bool
    messages: Count
    message_bytes: Count


class _Field(NamedTuple):
    """What is kept of an agent in the field."""

    clique: _Clique
    near: list[_Near]
    heard: list[_Position]
    promised: list[tuple[Name, float]]
    counts: _Counts


@functools.singledispatch
def kept_of(agent: Agent | PanelAgent) -> Plain:
    """All that changes in an agent, as values that MessagePack can hold."""
    raise ValueError(f"agent must be of a kind that can be kept, got {agent!r}")


@functools.singledispatch
def go_on(agent: Agent | PanelAgent, kept: Plain) -> None:
    """Let a fresh agent with the same settings go on from what was kept."""
    raise ValueError(f"agent must be of a kind that can be kept, got {agent!r}")


@kept_of.register
def _(agent: CliqueAgent | SingleTaskAgent) -> Plain:
    return [agent.activations, _positions(agent.heard), _bytes_of(_arrays_of(agent))]


@go_on.register
def _(agent: CliqueAgent | SingleTaskAgent, kept: Plain) -> None:
    activations, heard, arrays = msgspec.convert(kept, tuple[Count, list[_Position], _Bytes])
    found = _read(_arrays_of(agent), arrays)
    check_state_arrays(agent.state, found)
    positions = _heard(heard, _listeners(agent))
    restore(agent.state, found)
    agent.activations, agent.heard = activations, positions


def _listeners(agent: CliqueAgent | SingleTaskAgent) -> set[Label]:
    """Those whose messages an agent takes."""
    if isinstance(agent, SingleTaskAgent):
        return set(agent.neighbours)
    return {name for clique in agent.cliques for name in clique.rows} - {agent.name}


@kept_of.register
def _(agent: PrivateAgent) -> Plain:
    heard = [[plain_name(name, "kept"), number] for name, number in agent.heard.items()]
    return [heard, _bytes_of(state_arrays(PrivateState(agent.state, agent.aggregator)))]


@go_on.register
def _(agent: PrivateAgent, kept: Plain) -> None:
    heard, arrays = msgspec.convert(kept, tuple[list[tuple[Name, Count]], _Bytes])
    whole = PrivateState(agent.state, agent.aggregator)
    found = _read(state_arrays(whole), arrays)
    check_state_arrays(whole, found)
    check_releases(found, np.array(agent.sanitiser.privacy.horizon))
    numbers = _by_name(heard, agent.clique.rows.keys())
    restore(whole, found)
    agent.heard = numbers


@kept_of.register
def _(agent: PanelAgent) -> Plain:
    arrays = ((name, getattr(agent.panel, name)) for name in OF_A_PANEL)
    names = [plain_name(name, "kept") for name in agent.neighbours]
    return [names, _positions(agent.heard), _bytes_of(arrays)]


@go_on.register
def _(agent: PanelAgent, kept: Plain) -> None:
    names, heard, arrays = msgspec.convert(kept, tuple[list[Name], list[_Position], _Bytes])
    positions = _heard(heard)
    neighbours = [label_of(name) for name in names]
    if len(set(neighbours)) < len(names) or not set(neighbours) <= positions.keys() - {agent.name}:
        raise ValueError(f"neighbours must be others that were heard, each once, got {names!r}")
    count = 1 + len(names)
    shapes = panel_shapes(count, count, agent.panel.vector.shape[2])
    found = _read([(name, _no_memory(shape)) for name, shape in shapes.items()], arrays)
    agent.meet(neighbours)
    for name, array in found.items():
        getattr(agent.panel, name)[...] = array
    check_panel(agent.panel, own=1)
    for k in range(1, count):  # as when it was told
        told, width = knowledge_of(agent.panel, k), agent.panel.vector.shape[2]
        check_knowledge(told, width)
        check_products(products_of(agent.panel, k), told, width)
    agent.heard.clear()  # a fresh agent may have had other neighbours, or in another order
    agent.heard.update(positions)


def _no_memory(shape: tuple[int, ...]) -> AnyArray:
    """An array of this type and shape that takes no memory."""
    return np.broadcast_to(0.0, shape)


@kept_of.register
def _(agent: FieldAgent) -> Plain:
    clique = agent.clique
    rows = [[plain_name(name, "kept"), row] for name, row in clique.rows.items()]
    account = tuple(vars(clique.account).values())
    arrays = _bytes_of(_arrays_of(clique))
    near = [
        [plain_name(name, "kept"), one.index, one.score, _kept_row(one.kept)]
        for name, one in agent.neighbours.items()
    ]
    promised = [[plain_name(name, "kept"), weight] for name, weight in agent.promised.items()]
    counts = (agent.begun, agent.fresh, agent.present, agent.messages, agent.message_bytes)
    return [
        [clique.slots, clique.bound, clique.doublings, rows, account, arrays],
        near,
        _positions(agent.heard),
        promised,
        counts,
    ]


@go_on.register
def _(agent: FieldAgent, kept: Plain) -> None:
    found = msgspec.convert(kept, _Field)
    counts, rows = found.counts, _by_name(found.clique.rows)
    if sorted(rows.values()) != list(range(len(rows))) or agent.name not in rows:
        raise ValueError(f"rows must be those of the agent and others, got {found.clique.rows!r}")
    neighbours = _neighbours(agent, found.near, rows.keys() - {agent.name}, counts.begun)
    if neighbours and not counts.present:
        raise ValueError(f"an agent that has left must have no neighbours, got {list(neighbours)}")
    own = own_bound(agent.rules, len(neighbours))
    least = own if counts.present and agent.weights is None else 0.0
    clique = _field_clique(agent, found.clique, rows, least)
    heard = _heard(found.heard, rows.keys() - {agent.name})
    promised = _by_name(found.promised, rows.keys())
    within("promised", np.array(list(promised.values())), 0.0, MOST)
    agent.__init__(  # type: ignore[misc]  # all that it keeps is replaced
        agent.name,
        agent.index,
        agent.settings,
        clique,
        neighbours,
        agent.weights,
        heard,
        promised,
        agent.origin,
        *counts,
    )


def _field_clique(
    agent: FieldAgent, kept: _Clique, rows: Mapping[Label, int], least: float
) -> FieldClique:
    """The clique of an agent, which must expect weights of at least `least`."""
    numbers = kept.slots, kept.doublings, kept.bound, *kept.account
    record, used = np.array([numbers], CLIQUE), np.array([len(rows)])
    check_slots(record, used)
    check_bounds(record, used, np.array([least]), agent.rules)
    check_sums(record, used, float(MOST) if agent.rules.late else 0.0)
    within("under_way", record["under_way"], -MOST, MOST)
    sizes = {name: np.frombuffer(content, np.uint8) for name, content in kept.arrays.items()}
    check_size(agent.settings, record["slots"], sizes)
    account = Account(*kept.account)
    clique = FieldClique(agent.settings, kept.slots, kept.bound, rows, kept.doublings, account)
    found = _read(_arrays_of(clique), kept.arrays)
    with np.errstate(all="ignore"):  # what is too large for a number is refused
        check_learner(clique.state, found, record, used, agent.rules)
    restore(clique.state, found)
    return clique


def _neighbours(
    agent: FieldAgent,
    near: Sequence[_Near],
    known: Set[Label],
    begun: int,
) -> dict[Label, Neighbour]:
    """The neighbours of an agent in the field, all of which have rows in its clique."""
    neighbours: dict[Label, Neighbour] = {}
    for name, (_, index, score, row) in _by_name([(one.name, one) for one in near], known).items():
        check_scores(np.array([score]), np.array([False]))
        arrived = None
        if row is not None:
            arrived = Kept(row[0], row[1], np.array(row[2], dtype=np.float64))
            check_rows(arrived.row, agent.settings)
            within("number", np.array([arrived.number]), 0, begun - 1)
            within("stamp", np.array([arrived.stamp]), 0.0, MOST)
        neighbours[name] = Neighbour(index, score, arrived)
    places = [agent.index, *(one.index for one in neighbours.values())]
    if len(set(places)) < len(places):
        raise ValueError(f"places of agents must differ, got {places}")
    return neighbours


def _kept_row(kept: Kept | None) -> Plain:
    return None if kept is None else [kept.number, kept.stamp, kept.row.tolist()]


def _positions(heard: Mapping[Label, Position]) -> Plain:
    return [
        [plain_name(name, "kept"), position.last, sorted(position.beyond)]
        for name, position in heard.items()
    ]


def _heard(packed: Sequence[_Position], known: Set[Label] | None = None) -> dict[Label, Position]:
    """What was taken of each sender; refuses senders that are not known, if all are."""
    heard: dict[Label, Position] = {}
    for name, (_, last, beyond) in _by_name([(one.name, one) for one in packed], known).items():
        if any(number <= last + 1 for number in beyond):
            raise ValueError(f"numbers beyond {last} must not follow it at once, got {beyond}")
        position = heard[name] = Position()
        position.last, position.beyond = last, set(beyond)
    return heard


def _by_name(
    pairs: Iterable[tuple[Name, _Value]], known: Set[Label] | None = None
) -> dict[Label, _Value]:
    """Values by the names of agents; refuses names that come twice, and those of strangers."""
    found: dict[Label, _Value] = {}
    for name, value in pairs:
        label = label_of(name)
        plain_name(label, "kept")  # refuses what cannot be written again
        if label in found or (known is not None and label not in known):
            raise ValueError(f"agents must be known, and named once, got {label!r}")
        found[label] = value
    return found


_FOUND: weakref.WeakKeyDictionary[CliqueAgent | SingleTaskAgent | FieldClique, tuple[State, Arrays]]
_FOUND = weakref.WeakKeyDictionary()


def _arrays_of(keeper: CliqueAgent | SingleTaskAgent | FieldClique) -> Arrays:
    """The arrays that must survive; looked for once, because every transaction asks for them."""
    found = _FOUND.get(keeper)
    if found is None or found[0] is not keeper.state:  # a clique that has grown has another one
        found = _FOUND[keeper] = keeper.state, tuple(state_arrays(keeper.state))
    return found[1]


def _bytes_of(arrays: Iterable[tuple[str, AnyArray]]) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in arrays}


def _read(arrays: Iterable[tuple[str, AnyArray]], kept: Mapping[str, bytes]) -> Saved:
    """The arrays in kept bytes, of the types and shapes of these; refuses those of others."""
    found: dict[str, AnyArray] = {}
    for name, array in arrays:
        content = kept.get(name, b"")
        if len(content) != array.nbytes:
            raise ValueError(
                f"{name} must have {array.nbytes} bytes, got {len(content)}: it was kept by a "
                "network with other settings"
            )
        found[name] = np.frombuffer(content, array.dtype).reshape(array.shape)
    return found
