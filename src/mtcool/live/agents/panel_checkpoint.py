"""What must survive of an agent for tables (`agent_state.py` has that of algorithms)."""

from __future__ import annotations

import msgspec
import numpy as np

from mtcool.graphs.labels import label_of, plain_name
from mtcool.learn.agent import PanelAgent
from mtcool.learn.exchange import knowledge_of, products_of
from mtcool.learn.message_checks import check_knowledge, check_products
from mtcool.learners.panel.checks import check_panel, panel_shapes
from mtcool.live.agents.packing import (
    Contents,
    PackedPosition,
    arrays_in,
    bytes_of,
    packed_positions,
    positions_in,
)
from mtcool.types import AnyArray, Name, Plain

OF_A_PANEL = tuple(panel_shapes(0, 0, 0))
"""Names of the arrays of a panel that change."""


def kept_of(agent: PanelAgent) -> Plain:
    """All that changes in an agent, as values that MessagePack can hold."""
    arrays = ((name, getattr(agent.panel, name)) for name in OF_A_PANEL)
    names = [plain_name(name, "kept") for name in agent.neighbours]
    return [names, packed_positions(agent.heard), bytes_of(arrays)]


def go_on(agent: PanelAgent, kept: Plain) -> None:
    """Let a fresh agent with the same settings go on from what was kept."""
    names, heard, arrays = msgspec.convert(kept, tuple[list[Name], list[PackedPosition], Contents])
    positions = positions_in(heard)
    neighbours = [label_of(name) for name in names]
    if len(set(neighbours)) < len(names) or not set(neighbours) <= positions.keys() - {agent.name}:
        raise ValueError(f"neighbours must be others that were heard, each once, got {names!r}")
    count = 1 + len(names)
    shapes = panel_shapes(count, count, agent.panel.vector.shape[2])
    found = arrays_in([(name, _no_memory(shape)) for name, shape in shapes.items()], arrays)
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
