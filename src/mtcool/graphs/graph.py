"""The network: an undirected graph as the closed neighbourhoods of its nodes.

A million agents are two arrays. The node index, 0 to N - 1, is the position of an agent in every
array of the library; the label is what the user calls it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from mtcool import validation
from mtcool.graphs.edges import (
    LARGEST_SIZE,
    Indices,
    check_size,
    closed_neighbourhoods,
    index_pairs,
    label_pairs,
    names_of_ends,
    node_indices,
)
from mtcool.graphs.labels import compact_labels, positions_of

if TYPE_CHECKING:
    import networkx as nx  # slow to import, and many graphs do not need it

Matrix: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]]"


@final
@dataclass(frozen=True, init=False, eq=False, repr=False, slots=True)
class Graph:
    """An immutable undirected graph, stored as closed neighbourhoods in compressed rows.

    The closed neighbourhood N_i is node i and the nodes that share an edge with it. Row i is
    `idx[ptr[i]:ptr[i + 1]]`, ascending. Usually made by `from_networkx`, `from_edges` or a
    generator; the constructor takes the two arrays themselves and checks all of the above.

    Examples
    --------
    >>> path = Graph(ptr=[0, 2, 5, 7], idx=[0, 1, 0, 1, 2, 1, 2])
    >>> path
    Graph(3 agents, 2 edges)
    >>> path.neighbourhood_sizes
    array([2, 3, 2])

    Attributes
    ----------
    ptr
        Where each row starts, int64 of length N + 1, read-only.
    idx
        The neighbours, int32, read-only.
    labels
        The agents' names in node order; `range(N)` if they are 0, ..., N - 1.
    neighbourhood_sizes
        The numbers N_i, the agent included, int64, read-only.
    """

    ptr: NDArray[np.int64]
    idx: NDArray[np.int32]
    labels: Sequence[Hashable]
    neighbourhood_sizes: NDArray[np.int64]
    _positions: dict[Hashable, int] | None

    def __init__(
        self, ptr: ArrayLike, idx: ArrayLike, labels: Iterable[Hashable] | None = None
    ) -> None:
        rows = node_indices("ptr", ptr, size=np.iinfo(np.int64).max)
        _check_starts(rows)
        columns = node_indices("idx", idx, size=rows.size - 1).astype(np.int32)
        _check_rows(rows, columns)
        names = range(rows.size - 1) if labels is None else compact_labels(labels)
        if len(names) != rows.size - 1:
            raise ValueError(f"labels must name {rows.size - 1} agents, got {len(names)}")
        sizes = np.diff(rows)
        for array in (rows, columns, sizes):
            array.setflags(write=False)
        # The class is frozen: this is the one place that sets its fields.
        put = object.__setattr__
        put(self, "ptr", rows)
        put(self, "idx", columns)
        put(self, "labels", names)
        put(self, "neighbourhood_sizes", sizes)
        put(self, "_positions", None if isinstance(names, range) else positions_of(names))

    @classmethod
    def from_networkx(cls, graph: nx.Graph[Any]) -> Graph:
        """The graph of a networkx graph: its nodes, in its order, are the labels.

        Self-loops and parallel edges add nothing; directed graphs are refused.

        Parameters
        ----------
        graph
            An undirected networkx graph.

        Examples
        --------
        >>> import networkx as nx
        >>> Graph.from_networkx(nx.Graph([("Rome", "Paris"), ("Paris", "Oslo")])).labels
        ('Rome', 'Paris', 'Oslo')
        """
        import networkx as nx

        if not isinstance(graph, nx.Graph):
            raise ValueError(f"graph must be a networkx graph, got {graph!r}")
        if graph.is_directed():
            raise ValueError(f"graph must be undirected (to_undirected() makes it), got a {graph}")
        if len(graph) == 0:
            raise ValueError(f"graph must have a node, got a {graph}")
        labels = tuple(graph)
        pairs = label_pairs(graph.edges(), positions_of(labels))
        return cls(*closed_neighbourhoods(pairs, len(labels)), labels)

    @classmethod
    def from_edges(
        cls,
        edges: ArrayLike | Iterable[tuple[Hashable, Hashable]],
        labels: Iterable[Hashable] | None = None,
        size: int | None = None,
    ) -> Graph:
        """The graph with these edges, an (E, 2) array or pairs; repeated edges merge.

        Parameters
        ----------
        edges
            Pairs of labels, if these are given. Else pairs of node indices, or of names if these
            are strings: the labels are then the names in the order in which they first occur.
        labels
            Names of all agents, in any order, which becomes the node order.
        size
            Number of agents; by default one more than the largest index.

        Examples
        --------
        >>> Graph.from_edges([(0, 1), (1, 0), (1, 2)], size=4)
        Graph(4 agents, 2 edges)
        >>> Graph.from_edges([("Rome", "Paris"), ("Paris", "Oslo")]).labels
        ('Rome', 'Paris', 'Oslo')
        >>> Graph.from_edges([("b", "a")], labels="abc").neighbours(0)
        array([0, 1], dtype=int32)
        """
        given: Any = edges
        if labels is None and size is None and isinstance(edges, Iterable):
            given = np.atleast_1d(given) if hasattr(edges, "__array__") else list(edges)
            labels = names_of_ends(given)
        if labels is not None:
            if size is not None:
                raise ValueError(f"size must not be given together with labels, got {size!r}")
            names = compact_labels(labels)
            if not isinstance(names, range):
                pairs = label_pairs(given, positions_of(names))
                return cls(*closed_neighbourhoods(pairs, len(names)), names)
            size = len(names)
        if size is not None and validation.count("size", size) > LARGEST_SIZE:
            raise ValueError(f"size must be at most {LARGEST_SIZE}, got {size!r}")
        if size is not None:
            check_size("size", size, int(size), 0)
        pairs = index_pairs(given, LARGEST_SIZE if size is None else int(size))
        if size is None and pairs.size == 0:
            raise ValueError(f"edges must not be empty unless size is given, got {edges!r}")
        nodes = int(pairs.max()) + 1 if size is None else int(size)
        return cls(*closed_neighbourhoods(pairs, nodes))

    @property
    def size(self) -> int:
        """The number of agents N."""
        return len(self.labels)

    @property
    def edge_count(self) -> int:
        """The number of edges between different agents."""
        return (self.idx.size - self.size) // 2

    def neighbours(self, node: int) -> NDArray[np.int32]:
        """The closed neighbourhood of a node index, ascending, as a view.

        Parameters
        ----------
        node
            A node index, from 0 to N - 1.

        Examples
        --------
        >>> Graph.from_edges([(0, 2), (0, 1)]).neighbours(2)
        array([0, 2], dtype=int32)
        """
        i = validation.count("node", node, least=0)
        if i >= self.size:
            raise ValueError(f"node must be below {self.size}, got {node!r}")
        return self.idx[self.ptr[i] : self.ptr[i + 1]]

    def index(self, label: Hashable) -> int:
        """The node index of an agent; labels are compared as keys of a dictionary are.

        Parameters
        ----------
        label
            The name of an agent, one of `labels`.

        Examples
        --------
        >>> Graph.from_edges([("a", "b")], labels="ab").index("b")
        1
        """
        try:
            if self._positions is not None:
                return self._positions[label]
            # A label equal to a whole number has that number as its hash: no dictionary needed.
            position = hash(label)
        except (KeyError, TypeError):
            position = -1
        if 0 <= position < self.size and label == position:
            return position
        raise ValueError(f"agent must be a node of the graph, got {label!r}")

    def matrix(self, entries: ArrayLike) -> Matrix:
        """The N x N sparse matrix with these entries, one for every element of `idx`.

        Parameters
        ----------
        entries
            Numbers in the order of `idx`: those of row 0, then of row 1, and so on.

        Examples
        --------
        >>> Graph.from_edges([(0, 1)]).matrix([1, 2, 3, 4]).toarray()
        array([[1., 2.],
               [3., 4.]])
        """
        data = validation.vector("entries", entries, self.idx.size)
        # Copies: scipy's in-place operations must not meet our read-only arrays.
        arrays = (data.copy(), self.idx.copy(), self.ptr.copy())
        return sparse.csr_array(arrays, shape=(self.size, self.size))

    def laplacian(self) -> Matrix:
        """The Laplacian L_G: degrees (without the agent itself) minus adjacency.

        Examples
        --------
        >>> Graph.from_edges([(0, 1), (1, 2)]).laplacian().toarray()
        array([[ 1., -1.,  0.],
               [-1.,  2., -1.],
               [ 0., -1.,  1.]])
        """
        degrees = self.neighbourhood_sizes - 1
        rows = _row_of_entries(self.ptr)
        return self.matrix(np.where(self.idx == rows, degrees[rows], -1))

    def to_networkx(self) -> nx.Graph[Any]:
        """The same graph in networkx, without self-loops.

        Examples
        --------
        >>> Graph.from_edges([(0, 1), (1, 2)]).to_networkx().edges
        EdgeView([(0, 1), (1, 2)])
        """
        import networkx as nx

        rows = _row_of_entries(self.ptr)
        upper = rows < self.idx
        graph: nx.Graph[Any] = nx.Graph()
        graph.add_nodes_from(self.labels)
        graph.add_edges_from(
            (self.labels[i], self.labels[j])
            for i, j in zip(rows[upper].tolist(), self.idx[upper].tolist(), strict=True)
        )
        return graph

    def __repr__(self) -> str:
        return f"Graph({self.size} agents, {self.edge_count} edges)"

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor, because a pickled array forgets that it is read-only.
        return Graph, (self.ptr, self.idx, self.labels)


GraphLike: TypeAlias = "Graph | nx.Graph[Any]"
"""What is taken for a graph: one of ours, or an undirected one of networkx."""


def as_graph(graph: GraphLike) -> Graph:
    """A `Graph` as it is, a networkx graph converted; anything else is refused.

    Parameters
    ----------
    graph
        A networkx graph or a `Graph`.

    Examples
    --------
    >>> import networkx as nx
    >>> as_graph(nx.path_graph(3))
    Graph(3 agents, 2 edges)
    """
    if isinstance(graph, Graph):
        return graph
    import networkx as nx

    if isinstance(graph, nx.Graph):
        return Graph.from_networkx(graph)
    array = hasattr(graph, "shape")  # whose repr would be many lines of numbers
    given = f"an array of shape {graph.shape}" if array else repr(graph)
    raise ValueError(
        f"graph must be a networkx graph or a Graph (Graph.from_edges makes one), got {given}"
    )


def _row_of_entries(ptr: Indices) -> Indices:
    return np.repeat(np.arange(ptr.size - 1), np.diff(ptr))


def _check_starts(ptr: Indices) -> None:
    if ptr.ndim != 1 or ptr.size < 2 or ptr[0] != 0 or (np.diff(ptr) < 1).any():
        raise ValueError(f"ptr must start at 0 and ascend strictly, got {ptr}")


def _check_rows(ptr: Indices, idx: NDArray[np.int32]) -> None:
    """Refuse rows that are not the closed neighbourhoods of an undirected graph."""
    if idx.shape != (ptr[-1],):
        raise ValueError(f"idx must have shape ({ptr[-1]},), got shape {idx.shape}")
    rows = _row_of_entries(ptr)
    unsorted = (np.diff(idx) <= 0) & (np.diff(rows) == 0)
    if unsorted.any():
        raise ValueError(f"idx must ascend within a row, got row {rows[unsorted.argmax()]}")
    closed = np.bincount(rows[idx == rows], minlength=ptr.size - 1)
    if not closed.all():
        raise ValueError(f"idx must list a node in its own row, got row {closed.argmin()}")
    size = ptr.size - 1
    there = sparse.csr_array((np.ones(idx.size, np.int8), idx, ptr), shape=(size, size))
    back = there.T.tocsr()
    if not (np.array_equal(back.indptr, ptr) and np.array_equal(back.indices, idx)):
        raise ValueError("idx must be symmetric, got a neighbour that does not list the node back")
