"""What every kind of agent has in common: activations, cliques, and whom it listens to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

from mtcool import validation
from mtcool.agents.messages import Message, Rows, brief, sender_of
from mtcool.peers.settings import Settings
from mtcool.types import Floats, Label

Answer = TypeVar("Answer", contravariant=True)
"""What an agent that was asked sends: `Rows`, or in the field a `FieldRow`."""
Feedback = TypeVar("Feedback", contravariant=True)
"""A gradient; for ST-FTRL the loss itself."""


class Activation(Protocol[Answer, Feedback]):
    """One round of one agent; several may be under way.

    Examples
    --------
    >>> import mtcool
    >>> activation = mtcool.mt_co2ol(mtcool.graphs.star(4), dim=1).agent(3).activate()
    >>> list(activation.requests)
    [0]
    """

    @property
    def requests(self) -> Mapping[Label, Message]:
        """Step 2: what to ask, and whom."""

    def predict(self, answers: Mapping[Label, Answer]) -> Floats:
        """Step 3: the prediction, from the answers of all that were asked.

        Parameters
        ----------
        answers
            What those that were asked have sent back, by name.
        """

    def learn(self, gradient: Feedback, /) -> dict[Label, Message]:
        """Step 5: learn from the gradient at the prediction; returns what to tell, and whom.

        An activation learns once; one whose gradient is refused may be given another.

        Parameters
        ----------
        gradient
            That of the loss, at the prediction; ST-FTRL takes the loss itself.
        """


class Agent(Protocol):
    """What whoever carries the messages needs to know of an agent, of whatever kind.

    Agents can be copied and pickled: a copy goes on to the bit. Only one of them may go on, else
    their messages have the same numbers.

    Examples
    --------
    >>> import mtcool
    >>> mtcool.st_ftrl(mtcool.graphs.star(4), dim=1).agent(3).name
    3
    """

    name: Label
    settings: Settings
    """Those of the network; of what differs between agents, this agent's part."""

    def activate(self) -> Activation[Any, Any]:
        """Begin a round."""

    def receive(self, message: Message) -> Message | None:
        """Take a message; a request is answered. One that was taken before changes nothing.

        Parameters
        ----------
        message
            Of another agent, as it was sent.
        """


class Clique(NamedTuple):
    """A virtual clique that an agent keeps: whose tasks it models, and where."""

    number: int
    """Its place among the cliques of the agent."""
    rows: Mapping[Label, int]
    """Row of every agent whose task it models."""
    weights: Mapping[Label, float]
    """Weight with which each of them listens."""


class Link(NamedTuple):
    """A clique that an agent listens to."""

    neighbour: Label
    """Whom it listens to: the agent itself, or a neighbour."""
    keepers: tuple[Label, ...]
    """The other agents that keep the clique."""
    weight: float
    own: Clique | None
    """The clique, if the agent keeps it itself: then it asks nobody."""


class OneShot:
    """An activation that learns once."""

    def __init__(self, agent: Agent) -> None:
        self._name, self._learned = agent.name, False

    def check_open(self) -> None:
        """Refuse a second gradient: it would be learned, and told, as another activation."""
        if self._learned:
            raise ValueError(
                f"learn must be called once in an activation, got a second call for agent "
                f"{self._name!r}"
            )

    def close(self) -> None:
        """Note that the activation has learned."""
        self._learned = True


def answer_of(answers: Mapping[Label, Rows], name: Label, dim: int, experts: int = 0) -> Rows:
    """The answer of an agent that was asked, checked: a model, and so many numbers of experts."""
    if not isinstance(answers, Mapping):
        raise ValueError(f"answers must be rows by the names of agents, got {answers!r}")
    if name not in answers:
        raise ValueError(f"answers must have one of agent {name!r}, got {list(answers)!r}")
    found = answers[name]
    sender = sender_of(found)
    if not isinstance(found, Rows) or sender != name:
        raise ValueError(f"answer of agent {name!r} must be its rows, got {brief(found)}")
    return Rows(
        found.sender,
        validation.vector(f"model of agent {name!r}", found.model, dim),
        validation.vector(f"experts of agent {name!r}", found.experts, experts),
    )
