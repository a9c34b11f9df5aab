"""The approach that fails: one learner for every pair of neighbours."""

from __future__ import annotations

from numpy.typing import ArrayLike

from mtcool.algorithms.making import make_network
from mtcool.graphs import GraphLike
from mtcool.graphs.weights import WeightsLike
from mtcool.learners import MTFTRL, Learner
from mtcool.network import Network
from mtcool.peers.algorithm import Algorithm, one_for_each_pair, register
from mtcool.peers.assemble import clique_peers
from mtcool.peers.exchange import clique_exchange


def pairwise(
    graph: GraphLike,
    dim: int,
    *,
    learner: Learner | None = None,
    weights: WeightsLike = "uniform",
    lipschitz: float = 1.0,
    radius: float = 1.0,
    on_excess: str = "raise",
    rates: str = "adversarial",
    q: ArrayLike | None = None,
    q_min: float | None = None,
    horizon: int | None = None,
) -> Network:
    """The approach that fails (`sec:fail`): one learner for every pair of neighbours, and oneself.

    Its regret bound does not improve on that of independent learning, whatever the weights.
    Parameters as in `mt_co2ol`.

    >>> import networkx as nx, numpy as np
    >>> net = pairwise(nx.path_graph(3), dim=1)
    >>> net.update(0, np.array([1.0]))
    >>> net.predict(2)
    array([0.])
    """
    return make_network(
        PAIRWISE,
        graph,
        dim,
        learner=learner,
        weights=weights,
        lipschitz=lipschitz,
        radius=radius,
        on_excess=on_excess,
        rates=rates,
        q=q,
        q_min=q_min,
        horizon=horizon,
    )


PAIRWISE = register(
    Algorithm(
        name="pairwise",
        title="pairwise",
        learner=MTFTRL(),
        peers=clique_peers,
        exchange=clique_exchange,
        cliques=one_for_each_pair,
        kept_by_members=True,
    )
)
