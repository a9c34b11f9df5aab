"""DPMT-CO2OL: MT-CO2OL that keeps every loss private."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.algorithms.making import make_network
from mtcool.algorithms.mt_co2ol import single_expert
from mtcool.algorithms.published_noise import PublishedNoise, noise_of
from mtcool.field import Messages
from mtcool.graphs import GraphLike
from mtcool.graphs.weights import WeightsLike
from mtcool.learners import MTFTRL, Learner
from mtcool.network import Network
from mtcool.peers.algorithm import RATES, Algorithm, Question, register
from mtcool.peers.assemble import private_peers
from mtcool.peers.private_exchange import private_exchange
from mtcool.privacy import BLT, BinaryTree, NoNoise, PerGradient, Privacy, SmoothTree
from mtcool.privacy.settings import PrivacySettings
from mtcool.seeds import Seed

if TYPE_CHECKING:
    from mtcool.theory import Bound


def dpmt_co2ol(
    graph: GraphLike,
    dim: int,
    privacy: Privacy,
    *,
    learner: Learner | None = None,
    weights: WeightsLike = "uniform",
    lipschitz: float = 1.0,
    radius: float = 1.0,
    rates: Literal["adversarial", "stochastic"] = "adversarial",
    q: ArrayLike | None = None,
    seed: Seed | None = None,
    messages: Messages | None = None,
) -> Network:
    """DPMT-CO2OL (Algorithm 3 of the paper): MT-CO2OL that keeps every loss private.

    Agents publish noisy sums of their gradients and of their experts' losses, and learn from those
    alone. From all that the agents send, predict and store about each other together, one loss of
    agent i can be told from another only up to the agent's own privacy level (`docs/privacy.md`).
    Gradients longer than `lipschitz` are always clipped.

    Parameters
    ----------
    privacy
        Levels of the agents, the most activations that they may have, and the mechanism.
    learner
        `MTFTRL()`, `MTFTRL(experts="geometric")`, whose fewer experts need less noise, or
        `MTFTRL(experts=[xi])`: one expert, and nothing but gradients is sent.
    seed
        For simulated noise that repeats; without it, noise is drawn from the system's randomness.
        It belongs to one network: two networks with the same noise would give away the difference
        of their losses, while they may well share a privacy level.
    messages
        Refused: private agents send sums to all neighbours in every round. `mt_co2ol` has messages.
    graph, dim, weights, lipschitz, radius, rates, q
        As in `mt_co2ol`.

    Examples
    --------
    >>> import networkx as nx, mtcool
    >>> level = mtcool.Privacy(epsilon=1.0, horizon=100)
    >>> net = dpmt_co2ol(nx.complete_graph(3), 1, level, seed=1)
    >>> net.update(0, [0.5])
    >>> net.ledger()[0].remaining
    99
    """
    validation.one_of("rates", rates, ("adversarial", "stochastic"))
    return make_network(
        DPMT_CO2OL,
        graph,
        dim,
        learner=learner,
        weights=weights,
        lipschitz=lipschitz,
        radius=radius,
        rates=rates,
        q=q,
        messages=messages,
        privacy=privacy,
        seed=seed,
    )


def bound(question: Question) -> Bound | None:
    """The regret theorem of Section 4 for the paper's noise; its remarks for a single expert."""
    settings, privacy = question.settings, question.settings.privacy
    if privacy is None or settings.rates != "adversarial" or settings.field is not None:
        return None
    variance = single_expert(settings.learner)
    if variance is None:
        return _as_published(question, privacy)
    return noisy_bound(question, variance, noise_of(settings, question.graph, question.weights))


def noisy_bound(question: Question, variance: float, published: PublishedNoise) -> Bound | None:
    """The bound of a single expert, from the noise in the sums that agents publish."""

    from mtcool import theory

    graph, settings, _, q, tasks, counts = question
    privacy, _ = settings.published
    given, noise = question.options, published.gradients
    match privacy.aggregator:
        case NoNoise():
            return theory.known_variances(graph, tasks, counts, variance=variance, q=q, **given)
        case PerGradient():
            each = noise / np.sqrt(privacy.horizon)
            return theory.per_gradient_noise(
                graph, tasks, counts, each, variance=variance, q=q, **given
            )
        case BinaryTree(completed=True) | SmoothTree() | BLT() as aggregator:
            grows = isinstance(aggregator, BLT)
            return theory.private_known_variances(
                graph, tasks, counts, noise, variance=variance, grows=grows, q=q, **given
            )
    return None


def _as_published(question: Question, privacy: PrivacySettings) -> Bound | None:
    from mtcool import theory

    graph, settings, _, q, tasks, counts = question
    if privacy.calibration != "paper" or privacy.budget.epsilon is None:
        return None
    if settings.learner != MTFTRL() or privacy.aggregator != BinaryTree():
        return None
    # The noise of the theorem is made for the rounds of all agents together.
    if max(privacy.horizon) > question.rounds:
        return None
    return theory.private(
        graph, tasks, counts, min(privacy.budget.epsilon), q=q, **question.options
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
        colour="#000000",
    )
)
