"""One round of an agent in the field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mtcool.agents.agent import OneShot
from mtcool.agents.field.neighbour import ArrivedRow
from mtcool.agents.field.partners import cost_of_asking, cost_of_telling, partners_of
from mtcool.agents.field.receiving import row_in
from mtcool.agents.kernels import combine, gain_of
from mtcool.agents.messages import FieldGradient, FieldRequest, FieldRow, Message, brief, sender_of
from mtcool.field.draws import ROUND_GRADIENT
from mtcool.types import Floats, Given, Label

if TYPE_CHECKING:
    from mtcool.agents.field.agent import FieldAgent


class Heard(NamedTuple):
    """A clique that an agent listens to in a round."""

    name: Label
    row: Floats
    stamp: float
    weight: float


class FieldActivation(OneShot):
    """A round of a `FieldAgent`: it has begun, and its requests count, whatever comes of it."""

    def __init__(self, agent: FieldAgent) -> None:
        super().__init__(agent)
        self._agent, self._fresh, self.number = agent, agent.fresh, agent.begun
        partners = partners_of(agent, self.number)
        request = FieldRequest(agent.sender, float(self.number))
        self.requests: Mapping[Label, Message] = dict.fromkeys(partners, request)
        self._arrived: dict[Label, tuple[FieldRow, ArrivedRow]] = {}
        """Answers that were looked at, and their rows."""
        self._heard: list[Heard] = []
        self._own = np.empty(0)
        agent.begun += 1
        agent.fresh = False
        agent.messages += 2 * len(partners)
        agent.message_bytes += cost_of_asking(agent, partners)

    def predict(self, answers: Mapping[Label, FieldRow]) -> Floats:
        """Average the models of the agent's task: its own, and those of the partners.

        An answer that is missing is late or lost: the agent uses the newest row that it has of the
        partner, and leaves one out of which it has none.
        """
        agent = self._agent
        if self._heard:
            raise ValueError(f"predict must be called once in a round, got {agent.name!r} again")
        arrived = self._checked(answers)
        rows = {
            agent.name: ArrivedRow(
                self.number, agent.clique.account.received, agent.clique.row(agent.name)
            )
        }
        self._own = rows[agent.name].row
        for name in self.requests:
            found = self._row_of(name, arrived.get(name))
            if found is not None:
                rows[name] = found
        if self._fresh and len(rows) > 1:
            del rows[agent.name]
        self._weigh(rows)
        told = len(rows) - (agent.name in rows)
        agent.messages += told
        agent.message_bytes += cost_of_telling(agent, told)
        x, weights = np.empty(agent.settings.dim), [heard.weight for heard in self._heard]
        models = np.array([heard.row for heard in self._heard])
        combine(models, np.array(weights), agent.units.radius, x)
        return x

    def _checked(self, answers: Mapping[Label, FieldRow]) -> dict[Label, ArrivedRow]:
        """The rows that have come, by name; refuses what is no answer to this round."""
        agent = self._agent
        if type(answers) is not dict and not isinstance(answers, Mapping):
            raise ValueError(f"answers must be rows by the names of agents, got {answers!r}")
        arrived: dict[Label, ArrivedRow] = {}
        for name in self.requests:
            if name not in answers:
                if not agent.rules.may_miss:
                    raise ValueError(
                        f"answers must have one of agent {name!r}, got {list(answers)!r}"
                    )
                continue
            arrived[name] = self.check(name, answers[name])
        return arrived

    def check(self, name: Label, answer: Given) -> ArrivedRow:
        """The row in a partner's answer; refuses what is no answer to this round."""
        known = self._arrived.get(name)
        if known is not None and known[0] is answer:
            return known[1]
        agent = self._agent
        if sender_of(answer) != name or not isinstance(answer, FieldRow):
            raise ValueError(f"answer of agent {name!r} must be its row, got {brief(answer)}")
        row = row_in(answer, agent, name)
        if row.number != self.number:
            raise ValueError(
                f"answer of agent {name!r} must be that of round {self.number}, got that of "
                f"{row.number}"
            )
        self._arrived[name] = answer, row
        return row

    def _row_of(self, name: Label, arrived: ArrivedRow | None) -> ArrivedRow | None:
        """The row of a partner that is used in this round, if there is one."""
        agent, near = self._agent, self._agent.neighbours.get(name)
        if near is None:  # it is no neighbour any more
            return None
        if arrived is not None and agent.rules.may_miss:
            near.keep(arrived)
        found = near.kept if agent.rules.may_miss else arrived
        if found is not None and agent.rules.best and near.score == np.inf:
            near.score = 0.0  # it was used
        return found

    def _weigh(self, rows: Mapping[Label, ArrivedRow]) -> None:
        """Note what the agent listens to, by index: all alike, or as weights were given."""
        agent, near = self._agent, self._agent.neighbours
        given, total = agent.weights, 1.0
        places = {agent.name: agent.index} | {
            name: near[name].index for name in rows if name in near
        }
        names = sorted(rows, key=places.__getitem__)
        if given is not None and len(rows) < len(given):
            total = 0.0
            for name in names:
                total += given[name]
        for name in names:
            weight = 1.0 / len(names) if given is None else given[name] / total
            self._heard.append(Heard(name, rows[name].row, rows[name].stamp, weight))
            if agent.rules.late:
                agent.promised[name] = agent.promised.get(name, 0.0) + weight

    def learn(self, gradient: ArrayLike) -> dict[Label, Message]:
        """Let the agent's own clique learn; returns the gradients for those it has listened to.

        An agent that has left since learns nothing.
        """
        self.check_open()
        agent = self._agent
        if not self._heard:
            raise ValueError("predict must be called before learn, which needs the rows")
        g = agent.in_units(gradient)
        self.close()
        return self._tell(g) if agent.present else {}

    def _tell(self, gradient: Floats) -> dict[Label, Message]:
        agent, messages = self._agent, dict[Label, Message]()
        if agent.code.in_bits:
            content = agent.code.rounded(gradient, ROUND_GRADIENT, agent.index, 0, self.number)
        else:
            content = agent.code.packed(gradient)
        for name, row, stamp, weight in self._heard:
            if name == agent.name:
                agent.learn(name, weight, stamp, gradient)
                continue
            near = agent.neighbours.get(name)
            if agent.rules.best and near is not None:
                near.score += gain_of(gradient, self._own, row)
            number = float(self.number)
            messages[name] = FieldGradient(agent.sender, number, weight, stamp, content)
        return messages
