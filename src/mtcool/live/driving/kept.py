"""What must survive of an agent, as plain values without pickle: numbers, arrays as raw bytes."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterable, Mapping
from typing import TypeAlias

import numpy as np

from mtcool.agents import Agent, CliqueAgent, FieldAgent, PrivateAgent, SingleTaskAgent
from mtcool.agents.field.account import Account
from mtcool.agents.field.clique import FieldClique
from mtcool.agents.field.neighbour import Kept, Neighbour
from mtcool.agents.received import Position
from mtcool.graphs.labels import label_of, plain_name
from mtcool.learn.agent import PanelAgent
from mtcool.peers.arrays import state_arrays
from mtcool.peers.private import PrivateState
from mtcool.types import AnyArray, Label, Plain, State

Arrays: TypeAlias = tuple[tuple[str, AnyArray], ...]
OF_A_PANEL = ("link", "number", "vector", "scatter", "mixer", "alone")
"""Arrays of a panel that change."""


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
    activations, heard, arrays = kept
    _fill(_arrays_of(agent), arrays)
    agent.activations, agent.heard = activations, _heard(heard)


@kept_of.register
def _(agent: PrivateAgent) -> Plain:
    heard = [[plain_name(name, "kept"), number] for name, number in agent.heard.items()]
    return [heard, _bytes_of(state_arrays(PrivateState(agent.state, agent.aggregator)))]


@go_on.register
def _(agent: PrivateAgent, kept: Plain) -> None:
    heard, arrays = kept
    _fill(state_arrays(PrivateState(agent.state, agent.aggregator)), arrays)
    agent.heard = {label_of(name): number for name, number in heard}


@kept_of.register
def _(agent: PanelAgent) -> Plain:
    arrays = ((name, getattr(agent.panel, name)) for name in OF_A_PANEL)
    names = [plain_name(name, "kept") for name in agent.neighbours]
    return [names, _positions(agent.heard), _bytes_of(arrays)]


@go_on.register
def _(agent: PanelAgent, kept: Plain) -> None:
    names, heard, arrays = kept
    agent.meet([label_of(name) for name in names])
    _fill(((name, getattr(agent.panel, name)) for name in OF_A_PANEL), arrays)
    agent.heard.clear()  # a fresh agent may have had other neighbours, or in another order
    agent.heard.update(_heard(heard))


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
    (slots, bound, doublings, rows, account, arrays), near, heard, promised, counts = kept
    by_name = {label_of(name): row for name, row in rows}
    clique = FieldClique(agent.settings, slots, bound, by_name, doublings, Account(*account))
    _fill(_arrays_of(clique), arrays)
    neighbours = {
        label_of(name): Neighbour(index, score, _row_kept(row)) for name, index, score, row in near
    }
    agent.__init__(  # type: ignore[misc]  # all that it keeps is replaced
        agent.name,
        agent.index,
        agent.settings,
        clique,
        neighbours,
        agent.weights,
        _heard(heard),
        {label_of(name): weight for name, weight in promised},
        agent.origin,
        *counts,
    )


def _kept_row(kept: Kept | None) -> Plain:
    return None if kept is None else [kept.number, kept.stamp, kept.row.tolist()]


def _row_kept(packed: Plain) -> Kept | None:
    if packed is None:
        return None
    number, stamp, row = packed
    return Kept(number, stamp, np.array(row, dtype=np.float64))


def _positions(heard: Mapping[Label, Position]) -> Plain:
    return [
        [plain_name(name, "kept"), position.last, sorted(position.beyond)]
        for name, position in heard.items()
    ]


def _heard(packed: Plain) -> dict[Label, Position]:
    heard: dict[Label, Position] = {}
    for name, last, beyond in packed:
        position = heard[label_of(name)] = Position()
        position.last, position.beyond = last, set(beyond)
    return heard


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


def _fill(arrays: Iterable[tuple[str, AnyArray]], kept: Mapping[str, bytes]) -> None:
    """Write kept bytes into arrays; refuses those of another shape before it writes any."""
    found = [(name, array, kept.get(name, b"")) for name, array in arrays]
    for name, array, content in found:
        if len(content) != array.nbytes:
            raise ValueError(
                f"{name} must have {array.nbytes} bytes, got {len(content)}: it was kept by a "
                "network with other settings"
            )
    for _, array, content in found:
        array[...] = np.frombuffer(content, array.dtype).reshape(array.shape)
