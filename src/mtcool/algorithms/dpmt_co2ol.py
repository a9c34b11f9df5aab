"""DPMT-CO2OL: MT-CO2OL that keeps every loss private."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mtcool import theory, validation
from mtcool.algorithms.making import make_network
from mtcool.algorithms.mt_co2ol import single_expert
from mtcool.graphs import GraphLike, as_graph
from mtcool.graphs.weights import WeightsLike
from mtcool.learners import MTFTRL, Learner
from mtcool.network import Network
from mtcool.network.published_noise import noise_of
from mtcool.peers.algorithm import RATES, Algorithm, Question, register
from mtcool.peers.assemble import private_peers
from mtcool.peers.private_exchange import private_exchange
from mtcool.privacy.aggregators.aggregator import Aggregator
from mtcool.privacy.aggregators.filters import BLT, NoNoise, PerGradient
from mtcool.privacy.aggregators.trees import BinaryTree, SmoothTree
from mtcool.privacy.noise import make_noise
from mtcool.privacy.settings import Privacy, make_privacy
from mtcool.seeds import Seed


def dpmt_co2ol(
    graph: GraphLike,
    dim: int,
    epsilon: ArrayLike | None = None,
    horizon: ArrayLike | None = None,
    *,
    delta: ArrayLike | None = None,
    rho: ArrayLike | None = None,
    aggregator: Aggregator | None = None,
    learner: Learner | None = None,
    weights: WeightsLike = "uniform",
    lipschitz: float = 1.0,
    radius: float = 1.0,
    rates: str = "adversarial",
    q: ArrayLike | None = None,
    calibration: str = "tight",
    adjacency: str = "replace",
    split: float | str = "optimal",
    noise: str = "simulated",
    seed: Seed | None = None,
) -> Network:
    """DPMT-CO2OL (Algorithm `alg:DOPE_learning`): MT-CO2OL that keeps every loss private.

    Agents publish noisy sums of their gradients and of their experts' losses, and learn from those
    alone. All that the agents of the network send, predict and store about each other together
    tells one loss of agent i from another with at most the agent's own privacy level
    (`docs/privacy.md`). Gradients longer than `lipschitz` are clipped, always.

    Parameters
    ----------
    epsilon, delta
        Privacy levels: one number, or one for each agent, as a sequence in node order or as a
        dictionary by name. Without `delta` privacy is pure and the noise is Laplace; with it the
        noise is Gaussian.
    horizon
        The most activations of an agent, one number or one for each; beyond it `update` refuses.
    rho
        Zero-concentrated privacy in place of epsilon and delta; the noise is Gaussian.
    aggregator
        `privacy.BinaryTree()`, the paper's and the default; `SmoothTree()`, less noise; `BLT()`,
        much less, Gaussian; `PerGradient()`; `Doubling()` for an unknown horizon; `NoNoise()`.
    learner
        `MTFTRL()`, `MTFTRL(experts="geometric")`, whose fewer experts need less noise, or
        `MTFTRL(experts=[xi])`: one expert, and nothing but gradients is sent.
    calibration
        "tight" spends exactly the budget; "paper" is the published noise, whose true epsilon the
        network's `repr` and `ledger` tell.
    adjacency
        "replace" protects against replacing one loss by any other, "zero-out" against removing it.
    split
        Share of the budget for the gradients; "optimal" has the least regret bound.
    noise, seed
        "simulated": NumPy's generator, for simulation, with a seed for noise that repeats; "exact":
        OpenDP's samplers, for deployment.

    The other parameters are those of `mt_co2ol`.

    >>> import networkx as nx, mtcool
    >>> net = dpmt_co2ol(nx.complete_graph(3), dim=1, epsilon=1.0, horizon=100, seed=1)
    >>> net.update(0, [0.5])
    >>> net.ledger()[0].remaining
    99
    """
    graph = as_graph(graph)
    privacy = make_privacy(
        graph.labels,
        epsilon=epsilon,
        horizon=horizon,
        delta=delta,
        rho=rho,
        aggregator=BinaryTree() if aggregator is None else aggregator,
        calibration=calibration,
        adjacency=adjacency,
        split=split,
        noise=noise,
    )
    validation.one_of("rates", rates, ("adversarial", "stochastic"))
    return make_network(
        DPMT_CO2OL,
        graph,
        dim,
        learner=learner,
        weights=weights,
        noise=make_noise(noise, seed),
        lipschitz=lipschitz,
        radius=radius,
        on_excess="clip",
        rates=rates,
        q=q,
        privacy=privacy,
    )


def bound(question: Question) -> theory.Bound | None:
    """Theorem `th:reg-DP_anyG` for the paper's noise, and the remarks on it for a single expert."""
    settings, privacy = question.settings, question.settings.privacy
    if privacy is None or settings.rates != "adversarial":
        return None
    variance = single_expert(settings.learner)
    if variance is None:
        return _as_published(question, privacy)
    graph, _, weights, q, tasks, counts = question
    known = {"variance": variance, "weights": weights, "q": q, **question.units}
    noise = noise_of(settings, graph, weights).gradients
    match privacy.aggregator:
        case NoNoise():
            return theory.known_variances(graph, tasks, counts, **known)
        case PerGradient():
            each = noise / np.sqrt(privacy.horizon)
            return theory.per_gradient(graph, tasks, counts, each, **known)
        case BinaryTree(completed=True) | SmoothTree():
            return theory.private_known_variances(graph, tasks, counts, noise, **known)
        case BLT():
            known["grows"] = True
            return theory.private_known_variances(graph, tasks, counts, noise, **known)
    return None


def _as_published(question: Question, privacy: Privacy) -> theory.Bound | None:
    graph, settings, weights, q, tasks, counts = question
    if privacy.calibration != "paper" or privacy.budget.epsilon is None:
        return None
    if settings.learner != MTFTRL() or privacy.aggregator != BinaryTree():
        return None
    # The noise of the theorem is made for the rounds of all agents together.
    if max(privacy.horizon) > question.rounds:
        return None
    return theory.private(
        graph,
        tasks,
        counts,
        min(privacy.budget.epsilon),
        weights=weights,
        q=q,
        radius=settings.radius,
        lipschitz=settings.lipschitz,
    )


DPMT_CO2OL = register(
    Algorithm(
        name="dpmt_co2ol",
        title="DPMT-CO2OL",
        learner=MTFTRL(),
        peers=private_peers,
        exchange=private_exchange,
        bound=bound,
        rates=RATES[:2],
        private=True,
    )
)
