"""From a record, a graph and settings to a network."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from mtcool import validation
from mtcool.graphs import Graph, GraphLike, as_graph, entry_weights, own_weights
from mtcool.graphs.entries import one_for_each_agent
from mtcool.graphs.weights import WeightsLike
from mtcool.learners import MTFTRL, Learner
from mtcool.network import Network
from mtcool.peers.algorithm import Algorithm
from mtcool.peers.settings import Settings
from mtcool.privacy.noise import Noise

MANY_EXPERTS = 1_000_000
CLOSED, CLIPPED = 7e-9, 3e-7  # seconds for an expert in closed form, and with rows on the ball


def make_network(
    algorithm: Algorithm,
    graph: GraphLike,
    dim: int,
    *,
    learner: Learner | None = None,
    weights: WeightsLike = "uniform",
    noise: Noise | None = None,
    **settings: Any,
) -> Network:
    """A network that runs `algorithm`; the functions named after algorithms call this.

    `settings` are those of `mtcool.mt_co2ol`. An algorithm with weights of its own takes no others.

    >>> import mtcool
    >>> make_network(mtcool.algorithms.algorithm("i_ftrl"), mtcool.graphs.ring(3), 2).predict(0)
    array([0., 0.])
    """
    network = as_graph(graph)
    checked = make_settings(algorithm, network, dim, learner=learner, weights=weights, **settings)
    _warn_if_slow(checked, network)
    given = own_weights(network) if algorithm.own_weights else weights
    q = None if checked.q is None else np.array(checked.q)
    return Network(checked, network, entry_weights(network, given, q), noise)


def make_settings(
    algorithm: Algorithm,
    graph: Graph,
    dim: int,
    *,
    learner: Learner | None = None,
    weights: WeightsLike = "uniform",
    **settings: Any,
) -> Settings:
    """The settings of the network that `make_network` makes, without the network."""
    q = settings.get("q")
    if q is not None:
        settings["q"] = tuple(validation.probabilities("q", q, graph.size).tolist())
        rates = settings.get("rates", "adversarial")
        proportional = isinstance(weights, str) and weights == "proportional"
        if rates != "stochastic" and not proportional:
            raise ValueError(
                'q has no meaning but for rates="stochastic" or weights="proportional", '
                f"got rates={rates!r}"
            )
    chosen = algorithm.learner if learner is None else learner
    return Settings(algorithm=algorithm, dim=dim, learner=chosen, **settings)


def _warn_if_slow(settings: Settings, graph: Graph) -> None:
    """Say so before the wait, if one round moves very many experts."""
    learner = settings.learner
    shared = settings.algorithm.cliques is one_for_each_agent and not settings.algorithm.own_weights
    if not isinstance(learner, MTFTRL) or not shared:
        return
    most, geometric = (
        _experts_in_a_round(one, graph) for one in (learner, MTFTRL(experts="geometric"))
    )
    if most > MANY_EXPERTS:
        warnings.warn(
            f"a round of {settings.algorithm} with {learner!r} moves up to {most:,} experts on "
            f"this graph: at least {most * CLOSED:.1g} seconds, and {most * CLIPPED:.1g} or more "
            "where experts' models reach the boundary of the ball. "
            f'MTFTRL(experts="geometric") moves {geometric:,}, MTFTRLKT() none',
            stacklevel=4,
        )


def _experts_in_a_round(learner: MTFTRL, graph: Graph) -> int:
    """Most experts that the neighbours of one agent have together."""
    experts = learner.numbers(graph.neighbourhood_sizes)[graph.idx]
    return int(np.add.reduceat(experts, graph.ptr[:-1]).max(initial=0))
