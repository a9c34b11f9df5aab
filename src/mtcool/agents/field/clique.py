"""The clique of one agent in the field: rows for neighbours that come, bounds that rise."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from mtcool.agents.field.account import ReceivedWeights
from mtcool.agents.kernels import begin_alone, grow_alone, learn_credited, raise_alone, read_row
from mtcool.axes import CLIQUE, EXPERT, ROW, Location, copy_cliques, enlarged, restore, state_arrays
from mtcool.learners import MTFTRL, Cliques
from mtcool.learners.changing import Layout
from mtcool.learners.mt_ftrl.capacity import with_experts
from mtcool.peers.settings import Settings
from mtcool.types import AnyArray, Floats, Label, State


class FieldClique:
    """A clique with slots, which double when all are taken; a row, once given, is kept."""

    def __init__(
        self,
        settings: Settings,
        slots: int,
        bound: float,
        rows: Mapping[Label, int],
        doublings: int = 0,
        account: ReceivedWeights | None = None,
        arrays: Mapping[str, AnyArray] | None = None,
    ) -> None:
        self.settings, self.slots = settings, slots
        self.rows = dict(rows)
        """The slot of everybody who ever had one."""
        self.bound = bound
        """The largest weight that it was told to expect."""
        self.account = ReceivedWeights(bound) if account is None else account
        self.doublings = doublings
        self.state = self._make_state()
        if arrays is None:
            layout = Layout(0, slots, 0, self._table(slots).shape[1], 0)
            begin_alone(self.state, layout, bound)
        else:
            restore(self.state, arrays)

    def __reduce__(self) -> tuple[Any, ...]:
        arrays = {name: array.copy() for name, array in state_arrays(self.state)}
        given = (self.settings, self.slots, self.bound, self.rows)
        return FieldClique, (*given, self.doublings, self.account, arrays)

    def row(self, name: Label) -> Floats:
        """The model of an agent's task."""
        model = np.empty(self.settings.dim)
        read_row(self.state, 0, self.rows[name], model)
        return model

    def learn(self, name: Label, weight: float, gradient: Floats, extra: float) -> None:
        """Learn from a gradient, which counts for `extra` more in the rate."""
        learn_credited(self.state, self.rows[name], weight, gradient, extra)

    def expect(self, bound: float) -> None:
        """Be told how large a weight may be, before it is."""
        if bound > self.bound:
            raise_alone(self.state, bound, self.bound / bound)
            self.bound = bound

    def admit(self, name: Label) -> None:
        """Give an agent a row, unless it has one."""
        if name in self.rows:
            return
        if len(self.rows) == self.slots:
            self._double()
        self.rows[name] = len(self.rows)

    def _double(self) -> None:
        old, slots = self.slots, 2 * self.slots
        table = np.concatenate((self._table(old), self._table(slots)), axis=1)
        before = self._table(old).shape[1]
        experts = table.shape[1] - before
        lengths = {CLIQUE: 1, ROW: old + slots, EXPERT: before + experts}
        # A copy, because Ctrl-C may come before the slots are counted.
        grown = enlarged(copy.deepcopy(self.state), lengths)
        grown = with_experts(grown, table, slots, max(before, experts))
        grow_alone(grown, old, Layout(old, slots, before, experts, before))
        self.slots, self.doublings = slots, self.doublings + 1
        self.state = self._make_state()
        copy_cliques(grown, Location.of(0, old, old + slots), self.state, Location.of(0, 0, slots))

    def _make_state(self) -> State:
        """A state in arrays of the types that compiled code expects, with room for all slots."""
        rate = np.array([self.bound])
        cliques = Cliques(np.array([0, self.slots]), rate, rate)
        state = self.settings.clique_learner.make_state(cliques, self.settings.dim)
        table = self._table(self.slots)
        experts = table.shape[1]
        state = enlarged(state, {CLIQUE: 1, ROW: self.slots, EXPERT: experts})
        return with_experts(state, table, self.slots, experts)

    def _table(self, slots: int) -> Floats:
        learner = self.settings.learner
        return learner.table(slots) if isinstance(learner, MTFTRL) else np.zeros((2, 0))
