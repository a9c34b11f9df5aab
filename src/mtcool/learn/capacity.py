"""The block of a model's agents: room for those that join, and for features that are new."""

from __future__ import annotations

import numpy as np

from mtcool.learn.neighbourhoods import Neighbourhoods
from mtcool.learners.panel.growth import enlarged
from mtcool.learners.panel.state import Panel, make_panel, make_scratch, set_up_features
from mtcool.types import Given

FIRST_ROOM = 8
"""Agents that a block has room for at first."""
LARGE = 10_000_000
"""From so many sums of products on, a block that grows gets spare columns: copying it is slow."""
SPARE = 8
"""One spare column for so many that are in use: each costs time and memory in every row."""


def first_panel(places: Neighbourhoods, *, logistic: bool, rows: bool) -> Panel:
    """The block of a fresh model."""
    ptr, idx, end = places.layout(max(FIRST_ROOM, len(places.position) + 1))
    return make_panel(ptr, idx, 0, logistic=logistic, rows=rows, end=end)


def most_room(agents: int) -> int:
    """Agents that the block of a model with so many has room for, at most."""
    return max(FIRST_ROOM, agents + 1 + agents // 2)


def seated(panel: Panel, places: Neighbourhoods, *, anew: bool = False) -> Panel:
    """The block in which agents that were added have their places among their neighbours.

    It is laid out `anew` if agents have new neighbours, or if no place would be left: a stranger
    that predicts needs one.
    """
    count, room = len(places.position), len(panel.number)
    if count >= room:
        room, anew = max(count + 1, room + room // 2), True
    if anew:
        ptr, idx, end = places.layout(room)
        return enlarged(panel, ptr, idx, panel.vector.shape[2] - 1, end)
    if places.complete:
        panel.end[:] = places.ends(panel.ptr)
    return panel


def widened(panel: Panel, known: int, features: int) -> Panel:
    """The block for so many features, of which so many are known; a large one gets spare columns.

    What a column has become while it was spare is forgotten when a feature takes it.
    """
    if features >= panel.vector.shape[2]:
        large = known > 0 and panel.scatter.size >= LARGE
        room = features + features // SPARE if large else features
        panel = enlarged(narrowed(panel, known), panel.ptr, panel.idx, room, panel.end)
    elif features > known:
        panel.vector[:, :, known + 1 :] = 0.0
        set_up_features(panel, known + 1)
    return panel


def narrowed(panel: Panel, features: int) -> Panel:
    """The block without spare columns."""
    width = features + 1
    if width == panel.vector.shape[2]:
        return panel
    return panel._replace(
        vector=np.ascontiguousarray(panel.vector[:, :, :width]),
        scatter=np.ascontiguousarray(panel.scatter[:, :width, :width]),
        work=make_scratch(panel.ptr, width),
    )


def writeable(panel: Panel) -> Panel:
    """The block with arrays of its own where joblib has made views of a file."""
    fixed = [name for name in panel._fields if _is_read_only(getattr(panel, name))]
    own: dict[str, Given] = {name: np.array(getattr(panel, name)) for name in fixed}
    return panel._replace(**own, work=make_scratch(panel.ptr, panel.vector.shape[2]))


def _is_read_only(field: Given) -> bool:
    return isinstance(field, np.ndarray) and not field.flags.writeable
