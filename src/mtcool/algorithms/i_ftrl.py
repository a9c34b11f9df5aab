"""i-FTRL: every agent learns alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mtcool.algorithms.making import make_network
from mtcool.graphs import GraphLike, own_weights
from mtcool.learners import FTRL, KT, Learner
from mtcool.network import Network
from mtcool.peers.algorithm import Algorithm, Question, register
from mtcool.peers.assemble import clique_peers
from mtcool.peers.exchange import clique_exchange
from mtcool.types import Lipschitz, OnExcess

if TYPE_CHECKING:
    from mtcool.theory import Bound


def i_ftrl(
    graph: GraphLike,
    dim: int,
    *,
    learner: Learner | None = None,
    lipschitz: Lipschitz = 1.0,
    radius: float = 1.0,
    on_excess: OnExcess = "raise",
) -> Network:
    """i-FTRL: every agent learns alone; the graph only names the agents.

    Parameters
    ----------
    learner
        `FTRL()` (the default), `KT()`, or any other.
    graph, dim, lipschitz, radius, on_excess
        As in `mt_co2ol`.

    Examples
    --------
    >>> import networkx as nx, numpy as np
    >>> net = i_ftrl(nx.path_graph(3), dim=1, radius=2.0)
    >>> net.update(0, np.array([1.0]))
    >>> net.predict(0).round(3), net.predict(1)
    (array([-1.414]), array([0.]))
    """
    return make_network(
        I_FTRL,
        graph,
        dim,
        learner=learner,
        lipschitz=lipschitz,
        radius=radius,
        on_excess=on_excess,
    )


def bound(question: Question) -> Bound | None:
    """The sum of the agents' own bounds, for FTRL and for KT."""

    from mtcool import theory

    graph, settings, _, _, tasks, activations = question
    own, units = own_weights(graph), question.units
    if settings.learner == FTRL():
        known = theory.independent(activations, **units)
        if settings.adaptive:
            return theory.unknown_lipschitz(known, graph, activations, weights=own, **units)
        return known
    if settings.learner == KT():
        betting = theory.kt_unknown_lipschitz if settings.adaptive else theory.kt
        return betting(graph, tasks, activations, weights=own, **units)
    return None


I_FTRL = register(
    Algorithm(
        name="i_ftrl",
        title="i-FTRL",
        learner=FTRL(),
        peers=clique_peers,
        exchange=clique_exchange,
        bound=bound,
        rates=("adversarial",),
        own_weights=True,
        alone=True,
        adaptive=True,
        colour="#D55E00",
    )
)
