"""Networks of agents: graphs, generators, dominating sets and the weights of the averages.

An agent listens to its closed neighbourhood, which contains the agent itself. Functions that take a
graph take a `Graph` or a networkx graph, and speak of agents by node index, in the graph's order.
"""

from typing import TYPE_CHECKING

from mtcool.graphs.graph import Graph, GraphLike, as_graph
from mtcool.graphs.weights import (
    delegation_weights,
    entry_weights,
    own_weights,
    proportional_weights,
    uniform_weights,
)
from mtcool.lazy import attach

if TYPE_CHECKING:
    from mtcool.graphs.dominating import is_dominating, smallest_dominating_set
    from mtcool.graphs.files import read_graph
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
    from mtcool.graphs.greedy import (
        greedy_clique_cover,
        greedy_dominating_set,
        greedy_independent_set,
    )
    from mtcool.graphs.parameters import (
        Certified,
        clique_cover_bound,
        domination_number,
        independence_number,
        is_k_independent,
        k_independence_number,
        largest_neighbourhood,
        smallest_neighbourhood,
    )
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "dominating": ("is_dominating", "smallest_dominating_set"),
            "files": ("read_graph",),
            "generators": (
                "circulant",
                "cliques",
                "complete",
                "edgeless",
                "erdos_renyi",
                "grid",
                "regular",
                "ring",
                "star",
                "stars",
            ),
            "greedy": ("greedy_clique_cover", "greedy_dominating_set", "greedy_independent_set"),
            "parameters": (
                "Certified",
                "clique_cover_bound",
                "domination_number",
                "independence_number",
                "is_k_independent",
                "k_independence_number",
                "largest_neighbourhood",
                "smallest_neighbourhood",
            ),
        },
    )

__all__ = [
    "Certified",
    "Graph",
    "GraphLike",
    "as_graph",
    "circulant",
    "clique_cover_bound",
    "cliques",
    "complete",
    "delegation_weights",
    "domination_number",
    "edgeless",
    "entry_weights",
    "erdos_renyi",
    "greedy_clique_cover",
    "greedy_dominating_set",
    "greedy_independent_set",
    "grid",
    "independence_number",
    "is_dominating",
    "is_k_independent",
    "k_independence_number",
    "largest_neighbourhood",
    "own_weights",
    "proportional_weights",
    "read_graph",
    "regular",
    "ring",
    "smallest_dominating_set",
    "smallest_neighbourhood",
    "star",
    "stars",
    "uniform_weights",
]
