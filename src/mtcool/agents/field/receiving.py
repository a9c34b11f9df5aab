"""What an agent in the field does with a message, by its kind; refused ones change nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mtcool import validation
from mtcool.agents.field.neighbour import ArrivedRow
from mtcool.agents.messages import (
    Announcement,
    FieldGradient,
    FieldRequest,
    FieldRow,
    Message,
    brief,
)
from mtcool.agents.received import Position, checked_number
from mtcool.field.draws import ROUND_ROW
from mtcool.types import Floats, Label

if TYPE_CHECKING:
    from mtcool.agents.field.agent import FieldAgent

ROUNDING = 1e-6  # of a scale, which travels as a 32-bit float, and of weights


def take(message: Message, agent: FieldAgent, sender: Label) -> Message | None:
    """Take a message of an agent that has, or had, a row; returns the answer to a request."""
    taken = _TAKEN.get(type(message))
    if taken is None:
        raise ValueError(f"message must be one of agents in the field, got {brief(message)}")
    return taken(message, agent, sender)


def _answered(message: FieldRequest, agent: FieldAgent, sender: Label) -> FieldRow:
    near, number = agent.neighbour(sender), checked_number(message.number, least=0)
    code, row = agent.code, agent.clique.row(sender)
    if code.in_bits:
        content = code.rounded(row, ROUND_ROW, near.index, agent.index, number)
    else:
        content = code.packed(row)
    return FieldRow(agent.sender, float(number), agent.clique.account.received, content)


def _kept(message: FieldRow, agent: FieldAgent, sender: Label) -> None:
    if not agent.rules.may_miss:
        raise ValueError(f"rows must arrive at once in this network, got {brief(message)}")
    row, near = row_in(message, agent, sender), agent.neighbours.get(sender)
    if near is not None:
        near.keep(row)


def row_in(message: FieldRow, agent: FieldAgent, sender: Label) -> ArrivedRow:
    """The row in an answer to one of the agent's own rounds."""
    number = checked_number(message.number, least=0)
    if number >= agent.begun:
        raise ValueError(f"number must be that of a round before {agent.begun}, got {number}")
    stamp = validation.non_negative("stamp", message.stamp)
    row = agent.code.unpacked(f"row of agent {sender!r}", message.content)
    return ArrivedRow(number, stamp, row)


def gradient_in(
    message: FieldGradient, agent: FieldAgent, sender: Label, bound: float
) -> tuple[int, float, float, Floats]:
    """The number, weight, stamp and vector of a gradient that may weigh so much; refuses others."""
    number, rules, clique = checked_number(message.number, least=0), agent.rules, agent.clique
    weight = validation.positive("weight", message.weight)
    if rules.kappa * weight > bound * (1.0 + ROUNDING):
        most = bound / rules.kappa
        raise ValueError(f"weight must be at most {most}, as announced, got {message.weight!r}")
    stamp = validation.non_negative("stamp", message.stamp)
    if stamp > clique.account.received:
        raise ValueError(f"stamp must be at most {clique.account.received}, got {message.stamp!r}")
    gradient = agent.code.unpacked(f"gradient of agent {sender!r}", message.content)
    norm = math.hypot(*gradient)
    if norm > rules.kappa * (1.0 + ROUNDING):
        raise ValueError(f"gradient must have norm at most {rules.kappa}, got norm {norm}")
    return number, weight, stamp, gradient


def _learned(message: FieldGradient, agent: FieldAgent, sender: Label) -> None:
    bound = agent.clique.bound
    number, weight, stamp, gradient = gradient_in(message, agent, sender, bound)
    if agent.heard.setdefault(sender, Position()).take(number + 1):  # rounds count from zero
        agent.learn(sender, weight, stamp, gradient, agent.rules.power - 1.0)


def _expected(message: Announcement, agent: FieldAgent, sender: Label) -> None:
    agent.neighbour(sender)
    bound = validation.positive("bound", message.bound)
    if bound > agent.rules.kappa:
        raise ValueError(f"bound must be at most {agent.rules.kappa}, got {message.bound!r}")
    agent.clique.expect(bound)


_TAKEN: dict[type, Callable[[Any, FieldAgent, Label], Message | None]] = {
    FieldRequest: _answered,
    FieldRow: _kept,
    FieldGradient: _learned,
    Announcement: _expected,
}
