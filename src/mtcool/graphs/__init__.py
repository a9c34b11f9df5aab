"""Networks of agents: graphs, generators, dominating sets and the weights of the averages.

An agent listens to its closed neighbourhood, which contains the agent itself. Functions that take a
graph take a `Graph` or a networkx graph, and speak of agents by node index, in the graph's order.
"""

from mtcool.graphs.dominating import is_dominating, smallest_dominating_set
from mtcool.graphs.generators import (
    circulant,
    cliques,
    complete,
    edgeless,
    erdos_renyi,
    grid,
    regular,
    ring,
    star,
    stars,
)
from mtcool.graphs.graph import Graph, GraphLike, as_graph
from mtcool.graphs.weights import (
    delegation_weights,
    entry_weights,
    own_weights,
    proportional_weights,
    uniform_weights,
)

__all__ = [
    "Graph",
    "GraphLike",
    "as_graph",
    "circulant",
    "cliques",
    "complete",
    "delegation_weights",
    "edgeless",
    "entry_weights",
    "erdos_renyi",
    "grid",
    "is_dominating",
    "own_weights",
    "proportional_weights",
    "regular",
    "ring",
    "smallest_dominating_set",
    "star",
    "stars",
    "uniform_weights",
]
