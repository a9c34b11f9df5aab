"""The approach that fails: one learner for every pair of neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from numpy.typing import ArrayLike

from mtcool.algorithms.making import Options, make_network
from mtcool.graphs import GraphLike
from mtcool.graphs.entries import one_for_each_pair
from mtcool.graphs.weights import WeightsLike
from mtcool.learners import MTFTRL, Learner
from mtcool.network import Network
from mtcool.peers.algorithm import Algorithm, Question, register
from mtcool.peers.assemble import clique_peers
from mtcool.peers.exchange import clique_exchange

if TYPE_CHECKING:
    from mtcool.theory import Bound


def pairwise(
    graph: GraphLike,
    dim: int,
    *,
    learner: Learner | None = None,
    weights: WeightsLike = "uniform",
    q: ArrayLike | None = None,
    **options: Unpack[Options],
) -> Network:
    """The approach that fails (Appendix A.6): one learner for each pair of neighbours, and oneself.

    Its regret bound does not improve on that of independent learning, whatever the weights.

    Parameters
    ----------
    graph, dim, learner, weights, q
        As in `mt_co2ol`.
    **options
        `lipschitz`, `radius`, `on_excess`, `rates`, `q_min` and `horizon`, as in `mt_co2ol`.

    Returns
    -------
    Network

    Examples
    --------

    >>> import networkx as nx, numpy as np
    >>> net = pairwise(nx.path_graph(3), dim=1)
    >>> net.update(0, np.array([1.0]))
    >>> net.predict(2)
    array([0.])
    """
    return make_network(PAIRWISE, graph, dim, learner=learner, weights=weights, q=q, **options)


def bound(question: Question) -> Bound | None:
    """The bound of `sec:fail`, for adversarial rates and for known probabilities."""

    from mtcool import theory

    graph, settings, _, q, tasks, activations = question
    if settings.learner != MTFTRL():
        return None
    if settings.rates == "adversarial":
        return theory.pairwise(graph, tasks, activations, q=q, **question.options)
    if settings.rates == "stochastic" and q is not None:
        return theory.pairwise_stochastic(graph, tasks, q, question.rounds, **question.options)
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
        colour="#CC79A7",
    )
)
