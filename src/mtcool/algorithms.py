"""The named algorithms, each a combination of a learner, weights and peers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.graphs import Graph, as_graph, entry_weights, own_weights
from mtcool.learners import FTRL, MTFTRL, Learner
from mtcool.network.network import Network
from mtcool.peers.setup import Setup
from mtcool.privacy.aggregators.aggregator import Aggregator
from mtcool.privacy.aggregators.trees import BinaryTree
from mtcool.privacy.noise import Noise, make_noise
from mtcool.privacy.settings import make_privacy
from mtcool.seeds import Seed

MANY_EXPERTS = 1_000_000
CLOSED, CLIPPED = 7e-9, 3e-7  # seconds for an expert in closed form, and with rows on the ball


def mt_co2ol(
    graph: Any,
    dim: int,
    *,
    learner: Learner | None = None,
    weights: Any = "uniform",
    lipschitz: float = 1.0,
    radius: float = 1.0,
    on_excess: str = "raise",
    rates: str = "adversarial",
    q: ArrayLike | None = None,
    q_min: float | None = None,
    horizon: int | None = None,
) -> Network:
    """MT-CO2OL (Algorithm `alg:global_alg`): multitask online learning on any graph.

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
        Bound on the gradients' norms and radius of the ball that the tasks live in.
    on_excess
        "raise" refuses a gradient longer than `lipschitz`; "clip" shortens it.
    rates
        "adversarial" activations (Theorem `thm:any-G`); "stochastic" with known probabilities `q`
        (Theorem `thm:sto`); "estimated", the two-phase strategy for unknown probabilities of at
        least `q_min` over `horizon` rounds (`apx:unknown_q`): every clique predicts zero for its
        first `learners.first_phase(agents, q_min, horizon)` updates, which is often long.
    q
        Activation probabilities in node order, for `rates="stochastic"` or proportional weights.
    q_min, horizon
        What `rates="estimated"` needs to know: a lower bound on the probabilities, and the number
        of rounds.

    >>> import networkx as nx, numpy as np
    >>> net = mt_co2ol(nx.path_graph(["roof", "yard", "gate"]), dim=2)
    >>> net.predict("yard")
    array([0., 0.])
    >>> net.update("yard", np.array([1.0, 0.0]))
    >>> net.predict("roof").round(3)
    array([-0.45,  0.  ])
    """
    settings = {"lipschitz": lipschitz, "radius": radius, "on_excess": on_excess, "rates": rates}
    settings |= {"q": q, "q_min": q_min, "horizon": horizon}
    return _network("mt_co2ol", graph, dim, learner, MTFTRL(), weights, settings)


def dpmt_co2ol(
    graph: Any,
    dim: int,
    epsilon: ArrayLike | None = None,
    horizon: ArrayLike | None = None,
    *,
    delta: ArrayLike | None = None,
    rho: ArrayLike | None = None,
    aggregator: Aggregator | None = None,
    learner: Learner | None = None,
    weights: Any = "uniform",
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
    settings = {"lipschitz": lipschitz, "radius": radius, "on_excess": "clip", "rates": rates}
    settings |= {"q": q, "privacy": privacy}
    source = make_noise(noise, seed)
    return _network("dpmt_co2ol", graph, dim, learner, MTFTRL(), weights, settings, source)


def pairwise(
    graph: Any,
    dim: int,
    *,
    learner: Learner | None = None,
    weights: Any = "uniform",
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
    settings = {"lipschitz": lipschitz, "radius": radius, "on_excess": on_excess, "rates": rates}
    settings |= {"q": q, "q_min": q_min, "horizon": horizon}
    return _network("pairwise", graph, dim, learner, MTFTRL(), weights, settings)


def i_ftrl(
    graph: Any,
    dim: int,
    *,
    learner: Learner | None = None,
    lipschitz: float = 1.0,
    radius: float = 1.0,
    on_excess: str = "raise",
) -> Network:
    """i-FTRL: every agent learns alone; the graph only names the agents.

    `learner` is `FTRL()` (the default) or `KT()`; the other parameters are those of `mt_co2ol`.

    >>> import networkx as nx, numpy as np
    >>> net = i_ftrl(nx.path_graph(3), dim=1, radius=2.0)
    >>> net.update(0, np.array([1.0]))
    >>> net.predict(0).round(3), net.predict(1)
    (array([-1.414]), array([0.]))
    """
    settings = {"lipschitz": lipschitz, "radius": radius, "on_excess": on_excess}
    return _network("i_ftrl", graph, dim, learner, FTRL(), own_weights(graph), settings)


def st_ftrl(
    graph: Any,
    dim: int,
    *,
    learner: Learner | None = None,
    lipschitz: float = 1.0,
    radius: float = 1.0,
    on_excess: str = "raise",
) -> Network:
    """ST-FTRL (Cesa-Bianchi et al., 2020): neighbours share losses, as if all tasks were one.

    Each agent keeps one point. When agent i is active, every j in its neighbourhood learns from the
    same loss at j's own point, so `update` takes a function x -> subgradient, not an array.

    >>> import networkx as nx, numpy as np
    >>> net = st_ftrl(nx.path_graph(3), dim=1)
    >>> net.update(0, lambda x: x - np.array([0.5]))
    >>> [float(net.predict(agent)[0].round(3)) for agent in (0, 1, 2)]
    [0.354, 0.354, 0.0]
    """
    settings = {"lipschitz": lipschitz, "radius": radius, "on_excess": on_excess}
    return _network("st_ftrl", graph, dim, learner, FTRL(), own_weights(graph), settings)


def _network(
    algorithm: str,
    graph: Any,
    dim: int,
    learner: Learner | None,
    default: Learner,
    weights: Any,
    settings: dict[str, Any],
    noise: Noise | None = None,
) -> Network:
    graph = as_graph(graph)
    q = settings.get("q")
    if q is not None:
        q = validation.probabilities("q", q, graph.size)
        settings["q"] = tuple(q.tolist())
        proportional = isinstance(weights, str) and weights == "proportional"
        if settings["rates"] != "stochastic" and not proportional:
            raise ValueError(
                'q has no meaning but for rates="stochastic" or weights="proportional", '
                f"got rates={settings['rates']!r}"
            )
    chosen = default if learner is None else learner
    setup = Setup(algorithm=algorithm, dim=dim, learner=chosen, **settings)
    _warn_if_slow(setup, graph)
    return Network(setup, graph, entry_weights(graph, weights, q), noise)


def _warn_if_slow(setup: Setup, graph: Graph) -> None:
    """Say so before the wait, if one round moves very many experts."""
    learner = setup.learner
    if not isinstance(learner, MTFTRL) or setup.algorithm not in ("mt_co2ol", "dpmt_co2ol"):
        return
    most, geometric = (
        _experts_in_a_round(one, graph) for one in (learner, MTFTRL(experts="geometric"))
    )
    if most > MANY_EXPERTS:
        warnings.warn(
            f"a round of {setup.algorithm} with {learner!r} moves up to {most:,} experts on this "
            f"graph: at least {most * CLOSED:.1g} seconds, and {most * CLIPPED:.1g} or more where "
            "experts' models reach the boundary of the ball. "
            f'MTFTRL(experts="geometric") moves {geometric:,}, MTFTRLKT() none',
            stacklevel=4,
        )


def _experts_in_a_round(learner: MTFTRL, graph: Graph) -> int:
    """Most experts that the neighbours of one agent have together."""
    experts = learner.numbers(graph.neighbourhood_sizes)[graph.idx]
    return int(np.add.reduceat(experts, graph.ptr[:-1]).max(initial=0))
