"""Every theorem as a function: what is promised, what is impossible, with explicit constants.

Each function is named after the statement that it implements and returns a `Bound`: its value, the
parts that add up to it, and the assumptions. The lower bounds' sequences are streams:
`streams.twice_independent`, `streams.multitask_adversary`, `streams.regular_family`.
"""

from mtcool.theory.bound import Bound
from mtcool.theory.lower import any_algorithm, regular_graphs
from mtcool.theory.private import private, sharing_cutoff
from mtcool.theory.upper import (
    any_graph,
    clique,
    delegation,
    independent,
    kt,
    regular_graph,
    stochastic,
    stochastic_independence,
    uniform_weights,
    union_of_cliques,
    unknown_q,
)

__all__ = [
    "Bound",
    "any_algorithm",
    "any_graph",
    "clique",
    "delegation",
    "independent",
    "kt",
    "private",
    "regular_graph",
    "regular_graphs",
    "sharing_cutoff",
    "stochastic",
    "stochastic_independence",
    "uniform_weights",
    "union_of_cliques",
    "unknown_q",
]
