"""Saved models: a file of numbers and names, without pickles, that goes on to the bit.

A file may come from a stranger, and compiled code trusts its arrays: their types and shapes are
compared before anything is allocated, and what is in them before anything is computed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from mtcool.graphs.labels import label_of, plain_name
from mtcool.learn.capacity import most_room, narrowed
from mtcool.learn.reading.encoding import Encoder
from mtcool.learn.traffic import MessageCount
from mtcool.learners.panel.checks import check_panel, panel_shapes
from mtcool.learners.panel.growth import enlarged
from mtcool.learners.panel.state import make_panel
from mtcool.network import storage
from mtcool.types import AnyArray, Integers, Plain

if TYPE_CHECKING:
    from mtcool.learn.model import Model

FORMAT = 2
KEPT = tuple(panel_shapes(0, 0, 0))


class Kind(msgspec.Struct):
    """What a file says first: a model, or all that a command needs to go on."""

    kind: str


class ModelHeader(msgspec.Struct, forbid_unknown_fields=True):
    """What a file says of a model besides its arrays."""

    kind: str
    format: int
    task: str
    share: str
    complete: bool
    labels: list[Plain]
    encoder: Plain
    messages: int
    message_bytes: int


def write(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model to a file, which appears when it is complete."""
    panel, places = narrowed(model._panel, model._features), model._places
    header = ModelHeader(
        "mtcool.learn",
        FORMAT,
        model.task,
        model.share,
        places.complete,
        [plain_name(label, "saved") for label in places.labels],
        model.encoder.to_plain(),
        model.messages,
        model.message_bytes,
    )
    ptr, idx = places.entries(len(panel.number))
    if places.complete:
        panel = enlarged(panel, ptr, idx, panel.vector.shape[2] - 1)  # without room for more
    arrays = {name: getattr(panel, name) for name in KEPT}
    arrays |= {"ptr": ptr, "idx": idx}
    storage.write(path, msgspec.json.encode(header), arrays, secret=False)


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model that `Model.save` or the command `mtcool learn` wrote.

    Parameters
    ----------
    path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from mtcool.learn import Model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Model("complete").save(folder + "/model.npz")
    ...     load(folder + "/model.npz")
    Model(0 agents, regression, share='gradients')
    """
    content, arrays, found = storage.read(path)
    name = os.fspath(path)
    try:
        if msgspec.json.decode(content, type=Kind).kind == "mtcool learn":
            from mtcool.learn.running.saved import learned_in

            return learned_in(path)
        header = msgspec.json.decode(content, type=ModelHeader)
        if header.kind != "mtcool.learn" or header.format != FORMAT:
            raise ValueError(f"format must be {FORMAT}, got {header.kind} {header.format}")
        whole = {"header": np.frombuffer(content, np.uint8), **arrays}
        if storage.checksum(whole) != found:
            raise ValueError("its checksum does not fit: it is damaged")
        return _model(header, arrays)
    except (msgspec.MsgspecError, ValueError, KeyError, TypeError, IndexError) as error:
        raise ValueError(f"path must be a saved model, got {name!r}: {error}") from None


def _model(header: ModelHeader, arrays: dict[str, AnyArray]) -> Model:
    from mtcool.learn.model import Model

    model = Model("complete" if header.complete else None, task=header.task, share=header.share)  # type: ignore[arg-type]
    labels = [label_of(label) for label in header.labels]
    ptr, idx = (_indices(arrays[name]) for name in ("ptr", "idx"))
    room, count = len(ptr) - 1, len(labels)
    if len(set(labels)) < count or count >= room:
        raise ValueError(f"labels must be at most {room - 1} different ones, got {count}")
    if room > most_room(count):  # where all are neighbours, there is an entry for every pair
        raise ValueError(f"ptr must be of at most {most_room(count)} agents, got {room}")
    if header.complete and len(idx) != count * count + room - count:
        raise ValueError(f"idx must name all agents as neighbours of each other, got {len(idx)}")
    _check_entries(ptr, idx, room)
    encoder = Encoder.from_plain(header.encoder)
    _check_shapes(arrays, room, len(idx))
    logistic, rows = model.task == "classification", model.share == "rows"
    features = arrays["vector"].shape[2] - 1
    panel = make_panel(ptr, idx, features, logistic=logistic, rows=rows)
    for name in KEPT:
        getattr(panel, name)[:] = arrays[name]
    check_panel(panel)
    model._places.add(labels)
    if header.complete:
        if not all(map(np.array_equal, (ptr, idx), model._places.entries(room))):
            raise ValueError("idx must name all agents as neighbours of each other")
        ptr, idx, end = model._places.layout(room)
        panel = enlarged(panel, ptr, idx, features, end)
    else:
        cut = [idx[ptr[i] + 1 : ptr[i + 1]].tolist() for i in range(len(labels))]
        model._places.neighbours = cut
    model.encoder, model._panel, model._features = encoder, panel, features
    model._traffic = MessageCount(int(header.messages), int(header.message_bytes))
    return model


def _indices(array: AnyArray) -> Integers:
    if array.ndim != 1 or array.dtype != np.int64:
        raise ValueError(f"entries must be whole numbers, got {array.dtype} {array.shape}")
    return array.copy()


def _check_entries(ptr: Integers, idx: Integers, room: int) -> None:
    """Rows begin with the agent itself, name others once, and every pair stands on both sides."""
    sizes = np.diff(ptr)
    if room < 1 or ptr[0] != 0 or ptr[-1] != len(idx) or (sizes < 1).any():
        raise ValueError("ptr must say where the rows of all agents begin")
    if idx.min() < 0 or idx.max() >= room or (idx[ptr[:-1]] != np.arange(room)).any():
        raise ValueError("idx must name agents, first the one whose row it is")
    owner = np.repeat(np.arange(room), sizes)
    there, back = owner * room + idx, idx * room + owner
    if len(np.unique(there)) < len(there) or (np.sort(there) != np.sort(back)).any():
        raise ValueError("idx must name every pair of neighbours once on both sides")


def _check_shapes(arrays: Mapping[str, AnyArray], room: int, entries: int) -> None:
    """Refuse arrays that are not as large as those of a panel for so many agents and entries."""
    sides = arrays["vector"].shape
    if len(sides) != 3 or sides[2] < 1:
        raise ValueError(f"vector must have three sides, got shape {sides}")
    for name, shape in panel_shapes(room, entries, sides[2]).items():
        array = arrays[name]
        if array.dtype != np.float64 or array.shape != shape:
            raise ValueError(f"{name} must be float64 {shape}, got {array.dtype} {array.shape}")
