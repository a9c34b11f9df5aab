"""Every theorem as a function: what is promised, what is impossible, with explicit constants.

Each function is named after the statement that it implements and returns a `Bound`: its value, the
parts that add up to it, and the assumptions. What the paper states without a proof is proved in
`docs/bounds.md`. The lower bounds' sequences are streams:
`streams.twice_independent`, `streams.multitask_adversary`, `streams.regular_family`.

Parameters that the functions share:

- `graph`: a networkx graph or a `Graph`;
- `tasks`: the comparator U, a row for each agent, in the ball of `radius`;
- `counts`: how often each agent was active; or `rounds`: T, their sum;
- `weights`, `q`: how agents listen and activation probabilities, as in `mtcool.mt_co2ol`;
- `radius`, `lipschitz`: D and L, by which the bounds for D = L = 1 are multiplied;
- `time_limit`: seconds for proving a graph parameter.
"""

from mtcool.theory.adaptive import adaptive, adaptive_stochastic
from mtcool.theory.betting import kt, kt_adaptive, kt_stochastic
from mtcool.theory.bound import Bound
from mtcool.theory.changing import changing, kt_changing
from mtcool.theory.cutoff import published_cutoff, sharing_cutoff
from mtcool.theory.known import (
    known_variances,
    per_gradient_noise,
    private_known_variances,
    tree_noise,
)
from mtcool.theory.lower import any_algorithm, regular_graphs
from mtcool.theory.pairs import pairwise, pairwise_stochastic
from mtcool.theory.policies import policy_weights
from mtcool.theory.private import private
from mtcool.theory.received import Received
from mtcool.theory.unknown_lipschitz import kt_unknown_lipschitz, unknown_lipschitz
from mtcool.theory.upper import (
    any_graph,
    clique,
    delegation,
    independent,
    regular_graph,
    stochastic,
    stochastic_independence,
    uniform_weights,
    union_of_cliques,
    unknown_q,
)

__all__ = [
    "Bound",
    "Received",
    "adaptive",
    "adaptive_stochastic",
    "any_algorithm",
    "any_graph",
    "changing",
    "clique",
    "delegation",
    "independent",
    "known_variances",
    "kt",
    "kt_adaptive",
    "kt_changing",
    "kt_stochastic",
    "kt_unknown_lipschitz",
    "pairwise",
    "pairwise_stochastic",
    "per_gradient_noise",
    "policy_weights",
    "private",
    "private_known_variances",
    "published_cutoff",
    "regular_graph",
    "regular_graphs",
    "sharing_cutoff",
    "stochastic",
    "stochastic_independence",
    "tree_noise",
    "uniform_weights",
    "union_of_cliques",
    "unknown_lipschitz",
    "unknown_q",
]
