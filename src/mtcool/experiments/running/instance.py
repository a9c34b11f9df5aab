"""The problem that all algorithms of a cell were given, as the cell keeps it for the report."""

import zlib

import msgspec
import numpy as np

import mtcool
from mtcool.experiments.files import spec
from mtcool.experiments.files.in_the_field import changes_network
from mtcool.types import Floats, Integers


class Instance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Graph, tasks and activations of a replicate: what bounds are about.

    The graph is that of the first round; tasks and activations are those of all who ever were.
    Arrays are kept as compressed bytes: they come back to the bit, and a graph takes little room.
    """

    ptr: bytes
    idx: bytes
    comparator: bytes
    """What regret is measured against, (agents, dim)."""
    counts: bytes
    """Number of activations of each agent."""

    @classmethod
    def of(cls, graph: mtcool.Graph, stream: mtcool.Stream) -> "Instance":
        """What a report will need of a graph and a stream.

        Examples
        --------
        >>> graph = mtcool.graphs.ring(3)
        >>> stream = mtcool.streams.quadratic_stream(graph, np.ones((3, 2)), rounds=5, seed=0)
        >>> kept = Instance.of(graph, stream)
        >>> kept.graph, kept.tasks(2).tolist()
        (Graph(3 agents, 3 edges), [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
        """
        counts = np.bincount(stream.agents, minlength=len(stream.labels))
        return cls(
            ptr=_packed(graph.ptr, "<i8"),
            idx=_packed(graph.idx, "<i4"),
            comparator=_packed(np.asarray(stream.comparator), "<f8"),
            counts=_packed(counts, "<i8"),
        )

    @property
    def graph(self) -> mtcool.Graph:
        """The graph at the start; its agents are numbered."""
        return mtcool.Graph(_unpacked(self.ptr, "<i8"), _unpacked(self.idx, "<i4"))

    @property
    def activations(self) -> Integers:
        """Number of activations of each agent."""
        return _unpacked(self.counts, "<i8").astype(np.int64)

    def tasks(self, dim: int) -> Floats:
        """The comparator, for tasks of this dimension."""
        return _unpacked(self.comparator, "<f8").astype(np.float64).reshape(-1, dim)

    def fits(self, point: spec.Point) -> bool:
        """Whether the stored arrays are consistent with `point`; the file may be damaged."""
        try:
            agents, activations = self.graph.size, self.activations
            tasks = self.tasks(point.tasks.dim)
        except (ValueError, zlib.error):
            return False
        joined = activations.size - agents
        return (
            tasks.shape[0] == activations.size
            and (joined == 0 or (joined > 0 and changes_network(point)))
            and bool(np.isfinite(tasks).all() and (activations >= 0).all())
            and int(activations.sum()) == point.rounds
        )


def _packed(array: np.ndarray, kind: str) -> bytes:
    return zlib.compress(np.ascontiguousarray(array, kind).tobytes())


def _unpacked(content: bytes, kind: str) -> np.ndarray:
    return np.frombuffer(zlib.decompress(content), kind)
