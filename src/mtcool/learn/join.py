"""Agents by themselves, put back into one block: the inverse of cutting them out (`agent.py`)."""

from __future__ import annotations

from collections.abc import Iterable

from mtcool.axes import AGENT, LINK, copy_along
from mtcool.learn.agent import ITSELF, PanelAgent
from mtcool.learn.capacity import first_panel, widened
from mtcool.learn.neighbourhoods import Neighbourhoods
from mtcool.learners.panel.state import Panel


def put_together(agents: Iterable[PanelAgent]) -> tuple[Neighbourhoods, Panel]:
    """Who is whose neighbour among the agents, and a block with what each keeps of its own."""
    found = list(agents)
    places = _places_of(found)
    one = found[0].panel
    panel = widened(
        first_panel(places, logistic=bool(one.logistic), rows=bool(one.rows)),
        0,
        one.vector.shape[2] - 1,
    )
    for i, agent in enumerate(found):
        copy_along(AGENT, agent.panel, ITSELF, panel, i)
        copy_along(LINK, agent.panel, slice(None), panel, slice(panel.ptr[i], panel.end[i]))
    return places, panel


def _places_of(agents: list[PanelAgent]) -> Neighbourhoods:
    """The neighbours of all, in the order in which each has them."""
    if not agents:
        raise ValueError("agents must be at least one, got none")
    places = Neighbourhoods(None)
    places.add(agent.name for agent in agents)
    if len(places.position) < len(agents):
        names = [agent.name for agent in agents]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"agents must have different names, got {twice!r} twice")
    around = {agent.name: set(agent.neighbours) for agent in agents}
    for i, agent in enumerate(agents):
        if _kind(agent) != _kind(agents[0]):
            raise ValueError(
                f"agents must have one task, one kind of sharing and as many features, got "
                f"{agent.name!r} with others than {agents[0].name!r}"
            )
        for other in agent.neighbours:
            if agent.name not in around.get(other, ()):
                raise ValueError(
                    f"agents must have each other as neighbours, got {agent.name!r} with the "
                    f"neighbour {other!r}, which is not there or does not have it"
                )
        places.neighbours[i] = [places.position[other] for other in agent.neighbours]
    return places


def _kind(agent: PanelAgent) -> tuple[int, int, int]:
    return agent.panel.logistic, agent.panel.rows, agent.panel.vector.shape[2]
