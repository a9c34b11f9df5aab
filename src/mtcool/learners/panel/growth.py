"""A panel that becomes larger: new agents, new neighbours, new features."""

from __future__ import annotations

import numpy as np

from mtcool.axes import AGENT, LINK, copy_along
from mtcool.learners.panel.state import Panel, make_panel
from mtcool.types import Floats, Integers


def enlarged(
    panel: Panel, ptr: Integers, idx: Integers, features: int, end: Integers | None = None
) -> Panel:
    """A panel with more agents, entries or features, in which everything known stays as it is.

    Agents keep their numbers; new agents, entries and features begin with what is assumed of them
    beforehand. Entries that are no longer there are forgotten.
    """
    logistic, rows = bool(panel.logistic), bool(panel.rows)
    new = make_panel(ptr, idx, features, logistic=logistic, rows=rows, end=end)
    agents = slice(len(panel.number))
    copy_along(AGENT, panel, agents, new, agents)
    size = max(len(panel.ptr), len(new.ptr))
    before, now = _keys_of(panel, size), _keys_of(new, size)
    order = np.argsort(before)
    place = np.searchsorted(before, now, sorter=order)
    place[place == len(before)] = 0
    at: Integers = order[place]
    same = before[at] == now
    copy_along(LINK, panel, at[same], new, np.flatnonzero(same))
    return new


def _keys_of(panel: Panel, size: int) -> Integers:
    """A number for every entry, the same for the same two agents."""
    owner = np.repeat(np.arange(len(panel.ptr) - 1), np.diff(panel.ptr))
    return owner * size + panel.idx


def padded(features: Floats, width: int) -> Floats:
    """The rows with unknown features up to this width.

    An array that can be written: for one that can only be read all would be compiled once more.
    """
    missing = width - features.shape[1]
    if missing <= 0:
        return np.require(features, requirements=("C", "W"))
    return np.hstack([features, np.full((len(features), missing), np.nan)])
