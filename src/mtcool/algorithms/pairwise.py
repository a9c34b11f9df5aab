"""The approach that fails: one learner for every pair of neighbours."""

from __future__ import annotations

from numpy.typing import ArrayLike

from mtcool import theory
from mtcool.algorithms.making import make_network
from mtcool.graphs import GraphLike
from mtcool.graphs.entries import one_for_each_pair
from mtcool.graphs.weights import WeightsLike
from mtcool.learners import MTFTRL, Learner
from mtcool.network import Network
from mtcool.peers.algorithm import Algorithm, Question, register
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
    """The approach that fails (Appendix A.6): one learner for each pair of neighbours, and oneself.

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


def bound(question: Question) -> theory.Bound | None:
    """The bound of `sec:fail`, for adversarial rates and for known probabilities."""
    graph, settings, weights, q, tasks, activations = question
    if settings.learner != MTFTRL():
        return None
    if settings.rates == "adversarial":
        return theory.pairwise(graph, tasks, activations, weights=weights, q=q, **question.units)
    if settings.rates == "stochastic" and q is not None:
        rounds = question.rounds
        return theory.pairwise_stochastic(
            graph, tasks, q, rounds, weights=weights, **question.units
        )
    return None


PAIRWISE = register(
    Algorithm(
        name="pairwise",
        title="pairwise",
        learner=MTFTRL(),
        peers=clique_peers,
        exchange=clique_exchange,
        cliques=one_for_each_pair,
        kept_by_members=True,
        bound=bound,
    )
)
