"""Whom an agent in the field asks in a round, and what its rounds cost."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from mtcool.agents.kernels import choose_among
from mtcool.field.choosing import speaks
from mtcool.types import Label

if TYPE_CHECKING:
    from mtcool.agents.field.agent import FieldAgent


def partners_of(agent: FieldAgent, number: int) -> list[Label]:
    """Whom the agent asks in its round of this number, by index; nobody in a silent one."""
    rules, names = agent.rules, list(agent.neighbours)
    if not speaks(rules.every, rules.probability, rules.seed, agent.index, number):
        return []
    if rules.partners < len(names):
        names = _chosen(agent, number, names)
    count = len(names)
    size = agent.message_bytes + cost_of_asking(agent, names) + cost_of_telling(agent, count)
    within = agent.messages + 3 * count <= rules.budget and size <= rules.budget_bytes
    return names if within else []


def _chosen(agent: FieldAgent, number: int, names: list[Label]) -> list[Label]:
    """Some of the neighbours, at random or the best, by index."""
    rules, near = agent.rules, agent.neighbours.values()
    chosen, order = np.empty((2, len(names)), np.int64)
    count = choose_among(
        np.array([neighbour.index for neighbour in near], np.int64),
        np.array([neighbour.score for neighbour in near]),
        rules.partners,
        rules.best,
        rules.seed,
        agent.index,
        number,
        np.empty(len(names)),
        order,
        chosen,
    )
    return [names[k] for k in chosen[:count].tolist()]


def cost_of_asking(agent: FieldAgent, names: Collection[Label]) -> int:
    """Bytes of requests to these agents, and of their answers."""
    each = agent.rules.request_bytes + agent.sender_size + agent.rules.answer_bytes
    return len(names) * each + sum(map(agent.sizes.__getitem__, names))


def cost_of_telling(agent: FieldAgent, count: int) -> int:
    """Bytes of so many gradients."""
    return count * (agent.rules.gradient_bytes + agent.sender_size)
