"""ST-FTRL: neighbours share losses, as if all tasks were one."""

from __future__ import annotations

from mtcool.algorithms.making import make_network
from mtcool.graphs import GraphLike
from mtcool.learners import FTRL, Learner
from mtcool.network import Network
from mtcool.peers.algorithm import Algorithm, register
from mtcool.peers.assemble import single_task_peers
from mtcool.peers.exchange import single_task_exchange
from mtcool.types import Lipschitz, OnExcess


def st_ftrl(
    graph: GraphLike,
    dim: int,
    *,
    learner: Learner | None = None,
    lipschitz: Lipschitz = 1.0,
    radius: float = 1.0,
    on_excess: OnExcess = "raise",
) -> Network:
    """ST-FTRL (Cesa-Bianchi et al., 2020): neighbours share losses, as if all tasks were one.

    Each agent keeps one point. When agent i is active, every j in its neighbourhood learns from the
    same loss at j's own point, so `update` takes a function x -> subgradient, not an array.

    Parameters
    ----------
    learner
        `FTRL()` (the default), `KT()`, or any other.
    graph, dim, lipschitz, radius, on_excess
        As in `mt_co2ol`.

    Examples
    --------
    >>> import networkx as nx, numpy as np
    >>> net = st_ftrl(nx.path_graph(3), dim=1)
    >>> net.update(0, lambda x: x - np.array([0.5]))
    >>> [float(net.predict(agent)[0].round(3)) for agent in (0, 1, 2)]
    [0.354, 0.354, 0.0]
    """
    return make_network(
        ST_FTRL,
        graph,
        dim,
        learner=learner,
        lipschitz=lipschitz,
        radius=radius,
        on_excess=on_excess,
    )


ST_FTRL = register(
    Algorithm(
        name="st_ftrl",
        title="ST-FTRL",
        learner=FTRL(),
        peers=single_task_peers,
        exchange=single_task_exchange,
        rates=("adversarial",),
        own_weights=True,
        shares_losses=True,
        adaptive=True,
        colour="#009E73",
    )
)
