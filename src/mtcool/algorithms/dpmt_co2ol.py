"""DPMT-CO2OL: MT-CO2OL that keeps every loss private."""

from __future__ import annotations

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
from mtcool.privacy.aggregators.aggregator import Aggregator
from mtcool.privacy.aggregators.trees import BinaryTree
from mtcool.privacy.noise import make_noise
from mtcool.privacy.settings import make_privacy
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
