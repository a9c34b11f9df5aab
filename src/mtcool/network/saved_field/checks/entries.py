"""Agents and edges of a form: who is there, who listens to whom, and in which row."""

from typing import NamedTuple

import numpy as np

from mtcool.network.saved_field.form import Form, owners, present_entries
from mtcool.network.saved_field.origin import Origin
from mtcool.network.saved_states.checks import must, within
from mtcool.types import AnyArray, Indices, Integers

LATEST = 2**60 - 1
"""Rounds that a network may have played: more of them can be added without an overflow."""


class SavedEntries(NamedTuple):
    """The entries of all agents, also of neighbours that vanished, sorted to be found."""

    size: int
    """Number of agents."""
    keys: Integers
    """Agent times `size` plus neighbour, ascending."""
    rows: Indices

    @classmethod
    def of(cls, form: Form) -> "SavedEntries":
        """The entries of a form."""
        keys = owners(form) * len(form.agents) + form.clique
        order = np.argsort(keys)
        return cls(len(form.agents), keys[order], form.row[order])

    def rows_of(self, agents: Integers, cliques: AnyArray) -> Indices:
        """The rows of agents in cliques; refuses a clique that an agent never listened to."""
        within("agent", agents, 0, self.size - 1)
        within("clique", cliques, 0, self.size - 1)
        asked = agents * self.size + cliques
        places = np.searchsorted(self.keys, asked).clip(max=len(self.keys) - 1)
        must("agents", "talk to neighbours only", self.keys[places] == asked, agents)
        rows: Indices = self.rows[places]
        return rows


def check_entries(form: Form, origin: Origin) -> SavedEntries:
    """Refuse agents and edges that cannot be, and return where they are."""
    size, agents, owner = len(form.agents), form.agents, owners(form)
    _check_agents(agents, origin.start)
    _check_traffic(agents, origin)
    within("clique", form.clique, 0, size - 1)
    there = np.zeros(len(owner), bool)
    there[present_entries(form)] = True
    # Of an agent those that are there come first; both parts ascend.
    order = (owner * 2 + ~there) * size + form.clique
    must("clique", "ascend", np.diff(order, prepend=-1) > 0, form.clique)
    _check_symmetric(owner[there], form.clique[there], size)
    _check_symmetric(owner, form.clique, size)
    own = np.bincount(owner[there & (owner == form.clique)], minlength=size)
    must("agents", "listen to themselves", own == (agents["ever"] > 0), own)
    _check_rows(form)
    entries = SavedEntries.of(form)
    _check_start(form, entries, origin)
    return entries


def _check_agents(agents: AnyArray, start: int) -> None:
    present, fresh, begun, ever = (agents[name] for name in ("present", "fresh", "begun", "ever"))
    came = ever > 0  # an agent that is known may never have been there
    within("present", present, 0, came)
    within("count", agents["count"], 0, np.where(present == 1, ever, 1))
    within("present", np.array([present.sum()]), 1, len(agents))
    within("begun", begun, 0, np.where(came, LATEST, 0))
    within("begun", np.array([begun.sum(dtype=float)]), 0, LATEST)
    idle = came & (begun == 0)
    joined = np.arange(len(agents)) >= start
    within("fresh", fresh, idle & joined, idle)


def _check_traffic(agents: AnyArray, origin: Origin) -> None:
    """Refuse more than three messages for each neighbour in each round, and too many bytes."""
    rules = origin.rules
    most = 3.0 * agents["begun"] * (len(agents) - 1)
    within("messages", agents["messages"], 0, np.minimum(most, rules.budget))
    most = 1.0 * agents["messages"] * (rules.gradient_bytes + origin.names.max())
    within("bytes", agents["bytes"], 0, np.minimum(most, rules.budget_bytes))


def _check_symmetric(owner: Integers, clique: Indices, size: int) -> None:
    there, back = np.sort(owner * size + clique), np.sort(clique.astype(np.int64) * size + owner)
    must("clique", "be symmetric, each neighbour once", there == back, there % size)
    must("clique", "be symmetric, each neighbour once", np.diff(there) > 0, there[1:] % size)


def _check_rows(form: Form) -> None:
    """Refuse rows unless each of a clique's first ones belongs to one agent."""
    used = form.agents["ever"]
    within("row", form.row, 0, used[form.clique].astype(np.int64) - 1)
    places = (np.cumsum(used) - used)[form.clique] + form.row
    given = np.bincount(places, minlength=len(places))
    must("row", "belong to one agent", given[places] == 1, form.row)


def _check_start(form: Form, entries: SavedEntries, origin: Origin) -> None:
    """Refuse edges without those that the network began with; with weights there are no others."""
    graph, start = origin.directory.start, origin.start
    sizes = graph.neighbourhood_sizes
    entries.rows_of(np.repeat(np.arange(start), sizes), graph.idx)
    if origin.weighted:
        expected = {"present": np.ones(start), "count": sizes, "ever": sizes}
        if not all(np.array_equal(form.agents[name], right) for name, right in expected.items()):
            raise ValueError("weights must be uniform in a network whose graph changed, got others")
