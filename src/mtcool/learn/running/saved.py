"""The model file: everything that a pass needs to go on to the bit, in one file without pickles.

It is a NumPy archive (`mtcool.network.storage`): a header of plain values, the models as they save
themselves, the rows that wait for their targets, and the sums of the evaluation.
"""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from mtcool.graphs import Graph
from mtcool.learn.checks import check_targets
from mtcool.learn.metrics.evaluation import Evaluation
from mtcool.learn.model import Model, Share, Task
from mtcool.learn.reading.progressive import Progressive
from mtcool.learn.reading.tables import Batch
from mtcool.learn.running.outcome import Network
from mtcool.learn.running.run import Pass
from mtcool.learn.running.settings import PassSettings
from mtcool.learn.saved_models import load as load_model
from mtcool.learn.stored_predictions import checked_said
from mtcool.learners.panel.fields import SAID
from mtcool.network import storage
from mtcool.types import AnyArray

VERSION = 2
MODELS = ("learned", "pooled", "shuffled")
WAITING = ("line", "features", "target", "time", "arrives")
"""Columns of the rows that wait; the names of their agents are in the header."""


class RunHeader(msgspec.Struct, forbid_unknown_fields=True):
    """What the file says in words."""

    kind: Literal["mtcool learn"]
    version: int
    task: Task
    share: Share
    settings: PassSettings
    last: float | None
    """The last time that was seen, None before the first."""
    waiting: tuple[str, ...]
    """Agents of the rows that wait for their targets."""
    names: tuple[str, ...]
    labels: tuple[str, ...] | None
    """Of the graph; None without one."""
    complete: bool


def write_pass(path: str | os.PathLike[str], play: Pass, settings: PassSettings) -> None:
    """Save a pass; the file appears when it is complete."""
    network = play.network
    waiting, last = play.progressive.state()
    header = RunHeader(
        kind="mtcool learn",
        version=VERSION,
        task=play.evaluation.task,
        share=play.share,
        settings=settings,
        last=last if np.isfinite(last) else None,
        waiting=tuple(waiting.agents),
        names=play.evaluation.names,
        labels=tuple(map(str, network.labels)) if isinstance(network, Graph) else None,
        complete=network == "complete",
    )
    arrays: dict[str, AnyArray] = {"seen": play.seen.astype(np.uint8), "said": play.said}
    arrays |= {f"evaluation.{key}": a for key, a in play.evaluation.arrays().items()}
    arrays |= {f"waiting.{key}": getattr(waiting, key) for key in WAITING}
    for name in MODELS:
        if (model := getattr(play, name)) is not None:
            arrays[name] = _model_bytes(model)
    if isinstance(network, Graph):
        arrays |= {"ptr": network.ptr, "idx": network.idx}
    storage.write(path, msgspec.json.encode(header), arrays, secret=False)


def learned_in(path: str | os.PathLike[str]) -> Model:
    """The model that `mtcool learn` saved, once it has learned from the rows that waited.

    Parameters
    ----------
    path
        The model file in the folder of the results.
    """
    play, _ = read_pass(path)
    play.settle()
    return play.learned


def read_pass(path: str | os.PathLike[str]) -> tuple[Pass, PassSettings]:
    """The pass in a file that `write_pass` made, and what was asked of it."""
    refused = f"model must be a file that mtcool learn saved, got {os.fspath(path)!r}"
    try:
        content, arrays, stored = storage.read(path)
        header = msgspec.json.decode(content, type=RunHeader)
    except (ValueError, msgspec.MsgspecError):
        raise ValueError(refused) from None
    if header.version != VERSION:
        raise ValueError(f"{refused}, of version {header.version}; this is version {VERSION}")
    whole = {"header": np.frombuffer(content, np.uint8), **arrays}
    if storage.checksum(whole) != stored:
        raise ValueError(f"{refused}, which is damaged")
    try:
        return _restore(header, arrays), header.settings
    except KeyError as error:
        raise ValueError(f"{refused}, without {error}") from None
    except ValueError as error:
        raise ValueError(f"{refused}: {error}") from None


def _restore(header: RunHeader, arrays: Mapping[str, AnyArray]) -> Pass:
    network: Network = "complete" if header.complete else None
    if header.labels is not None:
        network = Graph(arrays["ptr"], arrays["idx"], header.labels)
    play = Pass(network, header.task, header.share)
    names = play.evaluation.names
    for name in MODELS:
        if getattr(play, name) is not None:
            setattr(play, name, _model_from(arrays[name]))
    part = "evaluation."
    sums = {key.removeprefix(part): a for key, a in arrays.items() if key.startswith(part)}
    play.evaluation = Evaluation.from_arrays(header.task, header.names, sums)
    rows = {key: arrays[f"waiting.{key}"] for key in WAITING}
    agents = np.array([*header.waiting, None], dtype=object)[:-1]
    sides = {key: array.shape[: 2 if key == "features" else None] for key, array in rows.items()}
    if {shape[:1] for shape in sides.values()} != {agents.shape} or len(sides["features"]) != 2:
        raise ValueError(f"rows that wait must have {agents.size} entries each, got {sides}")
    check_targets(rows["target"].astype(np.float64), classes=header.task == "classification")
    last = -np.inf if header.last is None else header.last
    play.progressive = Progressive.from_state(Batch(agents=agents, **rows), last)
    play.said = arrays["said"].astype(np.float64)
    if play.said.shape != (len(play.models), agents.size, SAID):
        raise ValueError(f"said must be of the {agents.size} rows that wait, got {play.said.shape}")
    for one in play.said:
        checked_said(one, agents.size)
    play.seen = arrays["seen"].astype(bool)
    known = len(play.learned.agents)
    if header.names != names or max(play.seen.size, len(play.evaluation.counts)) > known:
        raise ValueError("parts of the model file must go together, got another set of agents")
    return play


def _model_bytes(model: Model) -> AnyArray:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        return np.frombuffer(path.read_bytes(), np.uint8)


def _model_from(content: AnyArray) -> Model:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(content.tobytes())
        return load_model(path)
