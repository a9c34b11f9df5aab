"""The settings of one agent, and of all agents together: everybody knows its own levels only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from mtcool.agents.agent import Agent
from mtcool.peers.settings import Settings
from mtcool.privacy.calibration import Budget
from mtcool.privacy.settings import PrivacySettings


def settings_of(settings: Settings, agent: int) -> Settings:
    """The settings of one agent of a network: of what differs between agents, its own part.

    An agent that joins a network has no part in what was said of those that were there.
    """
    q = None if settings.q is None else settings.q[agent : agent + 1]
    if settings.privacy is None:
        return settings if q is None else replace(settings, q=q)
    return replace(settings, q=q, privacy=settings.privacy.of_agent(agent))


def joint_settings(agents: Sequence[Agent]) -> Settings:
    """The settings of a network, from those of all its agents; refuses agents that differ."""
    first = agents[0]
    for agent in agents:
        if type(agent) is not type(first) or _common(agent.settings) != _common(first.settings):
            raise ValueError(
                f"agents must have the same settings, got {agent.name!r} with {agent.settings} and "
                f"{first.name!r} with {first.settings}"
            )
    each = [agent.settings for agent in agents]
    q = None if each[0].q is None else tuple(part for one in each for part in one.q or ())
    if first.settings.privacy is None:
        return replace(first.settings, q=q)
    private = [one.privacy for one in each if one.privacy is not None]
    levels = {
        name: None
        if values is None
        else tuple(level for one in private for level in getattr(one.budget, name))
        for name, values in _levels(private[0])
    }
    horizon = tuple(part for one in private for part in one.horizon)
    privacy = replace(private[0], budget=Budget(**levels), horizon=horizon)
    return replace(first.settings, q=q, privacy=privacy)


def _levels(privacy: PrivacySettings) -> list[tuple[str, tuple[float, ...] | None]]:
    return [(field.name, getattr(privacy.budget, field.name)) for field in fields(Budget)]


def _common(settings: Settings) -> Settings:
    """What all agents of a network have in common; of levels, which kinds there are."""
    q = None if settings.q is None else ()
    if settings.privacy is None:
        return replace(settings, q=q)
    kinds = {name: None if values is None else () for name, values in _levels(settings.privacy)}
    privacy = replace(settings.privacy, budget=Budget(**kinds), horizon=())
    return replace(settings, q=q, privacy=privacy)
