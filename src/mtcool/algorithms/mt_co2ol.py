"""MT-CO2OL: multitask online learning on any graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from mtcool.algorithms.making import make_network
from mtcool.field import Delays, Messages
from mtcool.graphs import Graph, GraphLike
from mtcool.graphs.weights import WeightsLike
from mtcool.learners import MTFTRL, MTFTRLKT, Learner
from mtcool.network import Network
from mtcool.peers.algorithm import Algorithm, Question, register
from mtcool.peers.assemble import clique_peers
from mtcool.peers.cliques import CliquePeers
from mtcool.peers.exchange import Exchange, clique_exchange
from mtcool.peers.field.exchange import field_exchange
from mtcool.peers.field.making import in_the_field
from mtcool.peers.field.records import FieldPeers
from mtcool.peers.settings import Settings
from mtcool.privacy.noise import Noise
from mtcool.seeds import Seed
from mtcool.types import Floats, Lipschitz, OnExcess, Rates

if TYPE_CHECKING:
    from mtcool.theory import Bound


def mt_co2ol(
    graph: GraphLike,
    dim: int,
    *,
    learner: Learner | None = None,
    weights: WeightsLike = "uniform",
    lipschitz: Lipschitz = 1.0,
    radius: float = 1.0,
    on_excess: OnExcess = "raise",
    rates: Rates = "adversarial",
    q: ArrayLike | None = None,
    q_min: float | None = None,
    horizon: int | None = None,
    messages: Messages | None = None,
    delays: Delays | None = None,
    seed: Seed | None = None,
) -> Network:
    """MT-CO2OL (Algorithm 2 of the paper): multitask online learning on any graph.

    Every agent runs `learner` on the virtual clique of its neighbourhood. The active agent predicts
    with the weighted average of its neighbours' models of its task.

    Parameters
    ----------
    graph
        A networkx graph, whose node labels are the agents' names, or an `mtcool.Graph`. Weights
        of its edges are not used; see `weights`.
    dim
        Dimension of the tasks.
    learner
        `MTFTRL()` (Hedge over task variances, the default), `MTFTRLKT()`, or any other.
    weights
        "uniform", 1 / N_i; "delegation" to a smallest dominating set; "proportional", q_j / Q_i;
        or a matrix, dense or sparse, in node order. A zero weight removes the row from the clique.
    lipschitz, radius
        Bound on the gradients' norms and radius of the ball that the tasks live in. Without a
        bound, `lipschitz="adaptive"`: every agent uses the longest gradient that it has received.
    on_excess
        "raise" refuses a gradient longer than `lipschitz`; "clip" shortens it.
    rates
        "adversarial" activations (Theorem 3); "stochastic" with known probabilities `q` (Section
        3.2); "estimated", the two-phase strategy for unknown probabilities of at least `q_min` over
        `horizon` rounds (Appendix A.4): every clique predicts zero for its
        first `learners.first_phase(agents, q_min, horizon)` updates, which is often long;
        "adaptive", from the weights that each clique has received, which needs to know nothing and
        has the bounds of both theorems (`theory.adaptive`).
    q
        Activation probabilities in node order, for `rates="stochastic"` or proportional weights.
    q_min, horizon
        What `rates="estimated"` needs to know: a lower bound on the probabilities, and the number
        of rounds of the whole network (`Privacy` has a horizon that counts activations).
    messages, delays
        Few, small, late or lost messages (`mtcool.Messages`, `mtcool.Delays`).
    seed
        Of what they leave to chance; 0 if not given.

    Examples
    --------
    >>> import networkx as nx, numpy as np
    >>> net = mt_co2ol(nx.path_graph(["roof", "yard", "gate"]), dim=2)
    >>> net.predict("yard")
    array([0., 0.])
    >>> net.update("yard", np.array([1.0, 0.0]))
    >>> net.predict("roof").round(3)
    array([-0.45,  0.  ])
    """
    return make_network(
        MT_CO2OL,
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
        messages=messages,
        delays=delays,
        seed=seed,
    )


def peers(settings: Settings, graph: Graph, weights: Floats) -> CliquePeers | FieldPeers:
    """Agents that keep a model of each neighbour's task, in the field if that is asked for."""
    plain = clique_peers(settings, graph, weights)
    return plain if settings.field is None else in_the_field(plain, settings, graph, weights)


def exchange(
    peers: CliquePeers | FieldPeers, settings: Settings, graph: Graph, noise: Noise | None
) -> Exchange:
    """For either kind of them."""
    if isinstance(peers, FieldPeers):
        return field_exchange(peers, settings, graph)
    return clique_exchange(peers, settings, graph, noise)


def bound(question: Question) -> Bound | None:
    """Theorem 3, the theorems of Section 3.2 and of Appendix C, each where it applies."""

    from mtcool import theory

    graph, settings, _, q, tasks, activations = question
    learner, given = settings.learner, question.options
    if settings.field is not None:  # which is about weights and gradients of another kind
        return None
    if settings.rates == "adversarial":
        if learner == MTFTRLKT():
            betting = theory.kt_unknown_lipschitz if settings.adaptive else theory.kt
            return betting(graph, tasks, activations, q=q, **given)
        confined = _in_the_ball(question)
        if confined is not None and settings.adaptive:
            return theory.unknown_lipschitz(confined, graph, activations, q=q, **given)
        return confined
    if settings.rates == "adaptive" and learner == MTFTRL():
        return theory.adaptive(graph, tasks, activations, q=q, **given)
    if settings.rates == "adaptive" and learner == MTFTRLKT():
        return theory.kt_adaptive(graph, tasks, activations, q=q, **given)
    if q is None or settings.rates == "adaptive":
        return None
    if learner == MTFTRLKT() and settings.rates == "stochastic":
        return theory.kt_stochastic(graph, tasks, q, question.rounds, **given)
    if learner == MTFTRL():
        known = theory.stochastic if settings.rates == "stochastic" else theory.unknown_q
        return known(graph, tasks, q, question.rounds, **given)
    return None


def _in_the_ball(question: Question) -> Bound | None:
    """Theorem 3 for Hedge, its proof for a single expert."""

    from mtcool import theory

    graph, settings, _, q, tasks, activations = question
    if settings.learner == MTFTRL():
        return theory.any_graph(graph, tasks, activations, q=q, **question.options)
    variance = single_expert(settings.learner)
    if variance is None:
        return None
    return theory.known_variances(
        graph, tasks, activations, variance=variance, q=q, **question.options
    )


def single_expert(learner: Learner) -> float | None:
    """The variance that the only expert of every clique assumes, if there is only one.

    Examples
    --------
    >>> single_expert(MTFTRL(experts=(0.1,))), single_expert(MTFTRL())
    (0.1, None)
    """
    if not isinstance(learner, MTFTRL) or learner.free_last or isinstance(learner.experts, str):
        return None
    return learner.experts[0] if len(learner.experts) == 1 else None


MT_CO2OL = register(
    Algorithm(
        name="mt_co2ol",
        title="MT-CO2OL",
        learner=MTFTRL(),
        peers=peers,
        exchange=exchange,
        bound=bound,
        adaptive=True,
        changing=True,
        colour="#0072B2",
    )
)
