"""A small experiment that the tests of this folder share."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from unittest import mock

import numpy as np
from matplotlib.figure import Figure

import mtcool
from mtcool.experiments.running.instance import Instance

TEXT = """
name = "small"
rounds = 200
replicates = 3
seed = 5

[graph]
kind = "erdos_renyi"
agents = 6
p = 0.5

[[algorithm]]
name = "MT-CO2OL"
algorithm = "mt_co2ol"
learner = "MTFTRLKT"
lipschitz = 2.0

[[algorithm]]
name = "i-FTRL"
algorithm = "i_ftrl"
learner = "KT"
lipschitz = 2.0

[[algorithm]]
name = "ST-FTRL"
algorithm = "st_ftrl"
learner = "KT"
lipschitz = 2.0

[[sweep]]
parameter = "tasks.smoothness"
values = [1, 10]
"""


def write(folder: Path, text: str = TEXT) -> Path:
    path = folder / "experiment.toml"
    path.write_text(text)
    return path


def tables(folder: Path) -> dict[str, bytes]:
    """Every table of a result folder, byte for byte."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*.csv"))}


@contextmanager
def undrawn() -> Iterator[None]:
    """Files stand where pictures would, and nothing is drawn in them."""

    def save(_: Figure, file: BinaryIO, **options: object) -> None:
        file.write(b"a picture")

    with mock.patch.object(Figure, "savefig", save):
        yield


def instance(rounds: int = 10) -> Instance:
    """For cells that are made up."""
    graph = mtcool.graphs.ring(4)
    stream = mtcool.streams.quadratic_stream(graph, np.full((4, 1), 0.1), rounds, seed=0)
    return Instance.of(graph, stream)
