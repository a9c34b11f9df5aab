"""One change of a network: an edge appears or vanishes, an agent joins or leaves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, final, get_args

from mtcool.types import Label
from mtcool.validation import non_negative, one_of

Event: TypeAlias = Literal["connect", "disconnect", "join", "leave"]
"""What happens."""

EVENTS: tuple[Event, ...] = get_args(Event)

LATEST = 2**53
"""The latest time: whole numbers up to it are floats too."""

SIZE = 190
"""Bytes that a change takes, to estimate the memory of many."""


@final
@dataclass(frozen=True, repr=False, slots=True)
class Change:
    """Something that happens to a network at a time; `connect`, `join` and so on make one.

    It happens before the round whose number, counted from 0, is the first that is not below `time`.

    Examples
    --------
    >>> Change(10, "join", ("oslo", "rome", "milan"))
    join(10, 'oslo', ['rome', 'milan'])
    >>> Change(10.0, "leave", ["oslo"]) == leave(10, "oslo")
    True

    Attributes
    ----------
    time
        In rounds: a number from 0 on, an `int` if it is whole.
    event
        "connect", "disconnect", "join" or "leave".
    agents
        Names: the two ends of the edge; who joins, and then its neighbours; who leaves.
    source
        Where the change was read, for messages: "line 3 of changes.csv". Two changes that differ
        in nothing else are equal.
    """

    time: float
    event: Event
    agents: tuple[Label, ...]
    source: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        event = one_of("event", self.event, EVENTS)
        put = object.__setattr__  # The class is frozen: this is the one place that sets its fields.
        put(self, "time", _checked_time(self.time))
        put(self, "agents", _checked_agents(event, names_among("agents", self.agents)))

    def __repr__(self) -> str:
        first, *others = map(repr, self.agents)
        rest = [f"[{', '.join(others)}]"] if self.event == "join" else others
        return f"{self.event}({', '.join((repr(self.time), first, *rest))})"


def connect(time: float, a: Label, b: Label) -> Change:
    """An edge appears between two agents that are present and have none.

    Parameters
    ----------
    time
        When it happens, in rounds from 0 on.
    a, b
        The agents.

    Examples
    --------
    >>> connect(3, "rome", "milan")
    connect(3, 'rome', 'milan')
    """
    return Change(time, "connect", (a, b))


def disconnect(time: float, a: Label, b: Label) -> Change:
    """The edge between two agents vanishes.

    Parameters
    ----------
    time
        When it happens, in rounds from 0 on.
    a, b
        The agents.

    Examples
    --------
    >>> disconnect(3, "rome", "milan")
    disconnect(3, 'rome', 'milan')
    """
    return Change(time, "disconnect", (a, b))


def join(time: float, agent: Label, neighbours: Iterable[Label] = ()) -> Change:
    """An agent that is new, or has left, joins the network.

    Parameters
    ----------
    time
        When it happens, in rounds from 0 on.
    agent
        Who joins.
    neighbours
        Agents that are present, to whom it has edges from the start.

    Examples
    --------
    >>> join(2.5, "oslo", ["rome"])
    join(2.5, 'oslo', ['rome'])
    """
    return Change(time, "join", (agent, *names_among("neighbours", neighbours)))


def leave(time: float, agent: Label) -> Change:
    """An agent leaves the network, and all its edges vanish; somebody must remain.

    Parameters
    ----------
    time
        When it happens, in rounds from 0 on.
    agent
        Who leaves.

    Examples
    --------
    >>> leave(7, "oslo")
    leave(7, 'oslo')
    """
    return Change(time, "leave", (agent,))


def names_among(argument: str, names: Iterable[Label]) -> tuple[Label, ...]:
    """The names in a sequence; a string is a name, and not a sequence of letters."""
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        raise ValueError(f"{argument} must be a sequence of names, got {names!r}")
    return tuple(names)


def _checked_time(time: float) -> float:
    if type(time) is int and 0 <= time <= LATEST:
        return time  # what most times are
    number = non_negative("time", time)
    if number > LATEST:
        raise ValueError(f"time must be at most {LATEST}, got {time!r}")
    return int(number) if number.is_integer() else number


def _checked_agents(event: Event, agents: tuple[Label, ...]) -> tuple[Label, ...]:
    wanted = {"leave": "one agent", "join": "one agent or more"}.get(event, "two agents")
    fits = len(agents) == (1 if event == "leave" else 2) or (event == "join" and len(agents) > 0)
    if not fits:
        raise ValueError(f"agents must be {wanted} to {event}, got {agents!r}")
    try:
        different = len(set(agents))
    except TypeError:
        raise ValueError(f"agents must be hashable, got {agents!r}") from None
    if any(agent != agent for agent in agents):  # nan, which nobody could be found by
        raise ValueError(f"agents must have names that equal themselves, got {agents!r}")
    if different < len(agents):
        raise ValueError(f"agents must be different from each other, got {agents!r}")
    return agents
