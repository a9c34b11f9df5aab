"""The learner on a replicate of Figure 2, whose losses are quadratic.

It is given the targets z of the losses |x - z|^2 / 2, where the paper's algorithms are given
gradients: it has a model without features for each coordinate, which learns from that of z.
"""

import math

import msgspec
import numpy as np

import mtcool
from mtcool.experiments.learner.code import chapter_code, key_of
from mtcool.experiments.running.cells import Job, build_instance
from mtcool.learn import Model
from mtcool.types import Floats


class Regrets(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Regret at the end of the stream."""

    learner: float
    alone: float
    """Filters and ridge of the same kind on the rows of each agent by itself."""


class FigureTwo(msgspec.Struct, frozen=True):
    """The learner on the replicate of a cell."""

    cell: Job

    @property
    def key(self) -> str:
        """Name of the result."""
        return key_of("figure two", self.cell.key)

    @property
    def code(self) -> list[str]:
        """Names for the code that makes the result."""
        return chapter_code()

    def run(self) -> Regrets:
        """Play the stream."""
        course, stream = build_instance(self.cell)
        learned, alone = play_quadratic(course.start, stream)
        return Regrets(regret_of(learned, stream), regret_of(alone, stream))

    def read(self, content: bytes) -> Regrets | None:
        """The result from a file."""
        found = msgspec.json.decode(content, type=Regrets)
        return found if math.isfinite(found.learner + found.alone) else None


def play_quadratic(graph: mtcool.Graph, stream: mtcool.Stream) -> tuple[Floats, Floats]:
    """The points that the learner plays on quadratic losses, and those of alone.

    Examples
    --------
    >>> graph = mtcool.graphs.ring(3)
    >>> stream = mtcool.streams.quadratic_stream(graph, [[1.0]] * 3, 4, seed=0, noise=0.0)
    >>> play_quadratic(graph, stream)[0].ravel()
    array([0., 1., 1., 1.])
    """
    rows = np.arange(len(stream))
    events = np.column_stack([rows, ~rows]).ravel()
    none = np.empty((rows.size, 0))
    played = [Model(graph).play(stream.agents, none, z, events) for z in stream.losses.rows.T]
    return (
        np.column_stack([one.prediction for one in played]),
        np.column_stack([one.alone for one in played]),
    )


def regret_of(points: Floats, stream: mtcool.Stream) -> float:
    """Regret of points on quadratic losses, against the stream's comparator.

    Examples
    --------
    >>> graph = mtcool.graphs.ring(3)
    >>> stream = mtcool.streams.quadratic_stream(graph, [[1.0]] * 3, 4, seed=0, noise=0.0)
    >>> regret_of(np.zeros((4, 1)), stream)
    2.0
    """
    if stream.comparator is None:
        raise ValueError("stream must have a comparator, got None")
    z, tasks = stream.losses.rows, stream.comparator[stream.agents]
    return 0.5 * float(((points - z) ** 2).sum() - ((tasks - z) ** 2).sum())
