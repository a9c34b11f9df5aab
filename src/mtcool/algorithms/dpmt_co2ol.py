"""DPMT-CO2OL: MT-CO2OL that keeps every loss private."""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.algorithms.making import make_network
from mtcool.graphs import GraphLike, as_graph
from mtcool.graphs.weights import WeightsLike
from mtcool.learners import MTFTRL, Learner
from mtcool.network import Network
from mtcool.peers.algorithm import RATES, Algorithm, register
from mtcool.peers.assemble import private_peers
from mtcool.peers.private_exchange import private_exchange
from mtcool.privacy import Privacy
from mtcool.privacy.noise import make_noise
from mtcool.privacy.privacy import privacy_of_agents
from mtcool.seeds import Seed


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
) -> Network:
    """DPMT-CO2OL (Algorithm `alg:DOPE_learning`): MT-CO2OL that keeps every loss private.

    Agents publish noisy sums of their gradients and of their experts' losses, and learn from those
    alone. All that the agents of the network send, predict and store about each other together
    tells one loss of agent i from another with at most the agent's own privacy level
    (`docs/privacy.md`). Gradients longer than `lipschitz` are clipped, always.

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

    The other parameters are those of `mt_co2ol`.

    >>> import networkx as nx, mtcool
    >>> level = mtcool.Privacy(epsilon=1.0, horizon=100)
    >>> net = dpmt_co2ol(nx.complete_graph(3), 1, level, seed=1)
    >>> net.update(0, [0.5])
    >>> net.ledger()[0].remaining
    99
    """
    graph = as_graph(graph)
    settings = privacy_of_agents(privacy, graph.labels)
    validation.one_of("rates", rates, ("adversarial", "stochastic"))
    return make_network(
        DPMT_CO2OL,
        graph,
        dim,
        learner=learner,
        weights=weights,
        noise=make_noise(settings.noise, seed),
        lipschitz=lipschitz,
        radius=radius,
        on_excess="clip",
        rates=rates,
        q=q,
        privacy=settings,
    )


DPMT_CO2OL = register(
    Algorithm(
        name="dpmt_co2ol",
        title="DPMT-CO2OL",
        learner=MTFTRL(),
        peers=private_peers,
        exchange=private_exchange,
        rates=RATES[:2],
        private=True,
    )
)
