"""Whom an agent in the field asks in a round, and what its rounds cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from mtcool.agents.kernels import choose_among
from mtcool.field.choosing import speaks
from mtcool.field.sizes import name_size
from mtcool.graphs.labels import plain_name
from mtcool.types import Label

if TYPE_CHECKING:
    from mtcool.agents.field.agent import FieldAgent


def partners_of(agent: FieldAgent, number: int) -> list[Label]:
    """Whom the agent asks in its round of this number, by index; nobody in a silent one."""
    rules, near = agent.rules, list(agent.neighbours.items())
    if not speaks(rules.every, rules.probability, rules.seed, agent.index, number):
        return []
    chosen, order = np.empty((2, len(near)), np.int64)
    count = choose_among(
        np.array([neighbour.index for _, neighbour in near], np.int64),
        np.array([neighbour.score for _, neighbour in near]),
        rules.partners,
        rules.best,
        rules.seed,
        agent.index,
        number,
        np.empty(len(near)),
        order,
        chosen,
    )
    names = [near[k][0] for k in chosen[:count].tolist()]
    size = agent.message_bytes + cost_of_asking(agent, names) + cost_of_telling(agent, count)
    within = agent.messages + 3 * count <= rules.budget and size <= rules.budget_bytes
    return names if within else []


def cost_of_asking(agent: FieldAgent, names: Iterable[Label]) -> int:
    """Bytes of requests to these agents, and of their answers."""
    each = agent.rules.request_bytes + name_size(agent.sender) + agent.rules.answer_bytes
    return sum(each + name_size(plain_name(name, "sent")) for name in names)


def cost_of_telling(agent: FieldAgent, count: int) -> int:
    """Bytes of so many gradients."""
    return count * (agent.rules.gradient_bytes + name_size(agent.sender))
