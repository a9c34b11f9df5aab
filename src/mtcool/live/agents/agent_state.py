"""What must survive of an agent, as plain values without pickle: numbers, arrays as raw bytes.

Databases and journals may be damaged, or a stranger's, and compiled code trusts what it reads. So
an agent goes on from nothing that was not checked: its arrays as those of saved networks are, by
the same functions, and all else here.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple, TypeAlias

import msgspec
import numpy as np

from mtcool.agents import Agent, CliqueAgent, FieldAgent, PrivateAgent, SingleTaskAgent
from mtcool.agents.field.account import ReceivedWeights
from mtcool.agents.field.clique import FieldClique
from mtcool.agents.field.neighbour import ArrivedRow, Neighbour
from mtcool.agents.received import MOST
from mtcool.axes import restore, state_arrays
from mtcool.graphs.labels import plain_name
from mtcool.live.agents.packing import (
    Contents,
    Count,
    Index,
    PackedPosition,
    arrays_in,
    by_name,
    bytes_of,
    packed_positions,
    positions_in,
)
from mtcool.network.saved_field.checks.cliques import check_bounds, check_slots, check_sums
from mtcool.network.saved_field.checks.learner import check_learner
from mtcool.network.saved_field.checks.memory import check_rows, check_scores
from mtcool.network.saved_field.form import CLIQUE
from mtcool.network.saved_states import check_releases, check_state_arrays
from mtcool.network.saved_states.checks import within
from mtcool.network.saved_states.sizes import check_size
from mtcool.peers.field.bounds import own_bound
from mtcool.peers.private import PrivateState
from mtcool.types import AnyArray, Label, Name, Plain, State

Arrays: TypeAlias = tuple[tuple[str, AnyArray], ...]
_Row: TypeAlias = tuple[Count, float, list[float]]


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
    arrays: Contents


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
    heard: list[PackedPosition]
    promised: list[tuple[Name, float]]
    counts: _Counts


@functools.singledispatch
def kept_of(agent: Agent) -> Plain:
    """All that changes in an agent, as values that MessagePack can hold."""
    raise ValueError(f"agent must be of a kind that can be kept, got {agent!r}")


@functools.singledispatch
def go_on(agent: Agent, kept: Plain) -> None:
    """Let a fresh agent with the same settings go on from what was kept."""
    raise ValueError(f"agent must be of a kind that can be kept, got {agent!r}")


@kept_of.register
def _(agent: CliqueAgent | SingleTaskAgent) -> Plain:
    return [agent.activations, packed_positions(agent.heard), bytes_of(_arrays_of(agent))]


@go_on.register
def _(agent: CliqueAgent | SingleTaskAgent, kept: Plain) -> None:
    activations, heard, arrays = msgspec.convert(kept, tuple[Count, list[PackedPosition], Contents])
    found = arrays_in(_arrays_of(agent), arrays)
    check_state_arrays(agent.state, found)
    positions = positions_in(heard, _listeners(agent))
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
    return [heard, bytes_of(state_arrays(PrivateState(agent.state, agent.aggregator)))]


@go_on.register
def _(agent: PrivateAgent, kept: Plain) -> None:
    heard, arrays = msgspec.convert(kept, tuple[list[tuple[Name, Count]], Contents])
    whole = PrivateState(agent.state, agent.aggregator)
    found = arrays_in(state_arrays(whole), arrays)
    check_state_arrays(whole, found)
    check_releases(found, np.array(agent.sanitiser.privacy.horizon))
    numbers = by_name(heard, agent.clique.rows.keys())
    restore(whole, found)
    agent.heard = numbers


@kept_of.register
def _(agent: FieldAgent) -> Plain:
    clique = agent.clique
    rows = [[plain_name(name, "kept"), row] for name, row in clique.rows.items()]
    account = tuple(vars(clique.account).values())
    arrays = bytes_of(_arrays_of(clique))
    near = [
        [plain_name(name, "kept"), one.index, one.score, _kept_row(one.kept)]
        for name, one in agent.neighbours.items()
    ]
    promised = [[plain_name(name, "kept"), weight] for name, weight in agent.promised.items()]
    counts = (agent.begun, agent.fresh, agent.present, agent.messages, agent.message_bytes)
    return [
        [clique.slots, clique.bound, clique.doublings, rows, account, arrays],
        near,
        packed_positions(agent.heard),
        promised,
        counts,
    ]


@go_on.register
def _(agent: FieldAgent, kept: Plain) -> None:
    found = msgspec.convert(kept, _Field)
    counts, rows = found.counts, by_name(found.clique.rows)
    if sorted(rows.values()) != list(range(len(rows))) or agent.name not in rows:
        raise ValueError(f"rows must be those of the agent and others, got {found.clique.rows!r}")
    neighbours = _neighbours(agent, found.near, rows.keys() - {agent.name}, counts.begun)
    if neighbours and not counts.present:
        raise ValueError(f"an agent that has left must have no neighbours, got {list(neighbours)}")
    own = own_bound(agent.rules, len(neighbours))
    least = own if counts.present and agent.weights is None else 0.0
    clique = _field_clique(agent, found.clique, rows, least)
    heard = positions_in(found.heard, rows.keys() - {agent.name})
    promised = by_name(found.promised, rows.keys())
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
    account = ReceivedWeights(*kept.account)
    clique = FieldClique(agent.settings, kept.slots, kept.bound, rows, kept.doublings, account)
    found = arrays_in(_arrays_of(clique), kept.arrays)
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
    for name, (_, index, score, row) in by_name([(one.name, one) for one in near], known).items():
        check_scores(np.array([score]), np.array([False]))
        arrived = None
        if row is not None:
            arrived = ArrivedRow(row[0], row[1], np.array(row[2], dtype=np.float64))
            check_rows(arrived.row, agent.settings)
            within("number", np.array([arrived.number]), 0, begun - 1)
            within("stamp", np.array([arrived.stamp]), 0.0, MOST)
        neighbours[name] = Neighbour(index, score, arrived)
    places = [agent.index, *(one.index for one in neighbours.values())]
    if len(set(places)) < len(places):
        raise ValueError(f"places of agents must differ, got {places}")
    return neighbours


def _kept_row(kept: ArrivedRow | None) -> Plain:
    return None if kept is None else [kept.number, kept.stamp, kept.row.tolist()]


_FOUND: weakref.WeakKeyDictionary[CliqueAgent | SingleTaskAgent | FieldClique, tuple[State, Arrays]]
_FOUND = weakref.WeakKeyDictionary()


def _arrays_of(keeper: CliqueAgent | SingleTaskAgent | FieldClique) -> Arrays:
    """The arrays that must survive; looked for once, because every transaction asks for them."""
    found = _FOUND.get(keeper)
    if found is None or found[0] is not keeper.state:  # a clique that has grown has another one
        found = _FOUND[keeper] = keeper.state, tuple(state_arrays(keeper.state))
    return found[1]
