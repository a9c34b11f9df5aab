"""Learning without a bound on the gradients, `lipschitz="adaptive"`; proofs in `docs/bounds.md`.

Each clique learns in units of the longest gradient that it has received. `lipschitz` is here the
longest gradient of the run, which nobody needs to know before it is over.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.graphs import GraphLike, as_graph
from mtcool.graphs.weights import WeightsLike
from mtcool.theory.betting import coins, kt
from mtcool.theory.bound import UNKNOWN_L, Bound
from mtcool.theory.setting import cliques_of, rows_of, scaled_tasks, unit

MEASURED = 'lipschitz="adaptive"; lipschitz stands for the longest gradient of the run'


def unknown_lipschitz(
    known: Bound,
    graph: GraphLike,
    counts: ArrayLike,
    *,
    weights: WeightsLike = "uniform",
    q: ArrayLike | None = None,
    radius: float = 1.0,
    lipschitz: float = 1.0,
) -> Bound:
    """A learner that stays in the ball, without a bound on its gradients.

    The bound that it has if it knows the longest gradient, plus 2 max_i w_ij for each clique that
    learns more than once: what is cut off from gradients that are longer than all before them.

    Parameters
    ----------
    known
        The bound with `lipschitz` known: `any_graph`, `known_variances` or `independent`.
    graph, counts, weights, q, radius, lipschitz
        See `mtcool.theory`; those of `known`. For `independent`, `weights=own_weights(graph)`.

    Examples
    --------
    >>> from mtcool.graphs import edgeless, own_weights
    >>> from mtcool.theory import independent
    >>> two = edgeless(2)
    >>> unknown_lipschitz(independent([4, 9]), two, [4, 9], weights=own_weights(two)).parts
    {'alone': 10.0, 'cut_off': 4.0}
    """
    network = as_graph(graph)
    cliques = cliques_of(network, np.zeros((network.size, 1)), counts, weights, radius, q)
    cost = 2.0 * float(cliques.largest[cliques.updates > 1.0].sum())
    return _with(known, cut_off=cost * unit(radius, lipschitz))


def kt_unknown_lipschitz(
    graph: GraphLike,
    tasks: ArrayLike,
    counts: ArrayLike,
    *,
    weights: WeightsLike = "uniform",
    q: ArrayLike | None = None,
    radius: float = 1.0,
    lipschitz: float = 1.0,
) -> Bound:
    """MT-CO2OL with KT without a bound on its gradients; any tasks.

    `kt` plus, for each clique, `max_i w_ij (max_i |U_i| + sqrt(2 N T_j / (N + 1)))` for what is cut
    off from gradients that are longer than all before them; and, only where `v = |U|_A` exceeds
    sqrt(N), the coin's unit times v^3 / (3 N), because bets are limited to sqrt(N (1 + n)).

    Parameters
    ----------
    graph, tasks, counts, weights, q, radius, lipschitz
        See `mtcool.theory`.

    Examples
    --------
    >>> from mtcool.graphs import edgeless
    >>> bound = kt_unknown_lipschitz(edgeless(1), [[1.0]], [100])
    >>> bound.parts["cut_off"], bound.parts["limit"]
    (11.0, 0.0)
    """
    network = as_graph(graph)
    cliques = cliques_of(network, tasks, counts, weights, radius, q, inside=False)
    law = None if q is None else validation.probabilities("q", q, network.size)
    rows = rows_of(network, weights, law)
    lengths = np.linalg.norm(scaled_tasks(network, tasks, radius, inside=False), axis=1)
    n, v, updates = cliques.size, cliques.norm, cliques.updates
    reach = rows.most(lengths[rows.agent]) + np.sqrt(2.0 * n * updates / (n + 1.0))
    late = np.minimum(v**3 / (3.0 * n), updates * (v - np.sqrt(n)))
    scale = unit(radius, lipschitz)
    return _with(
        kt(network, tasks, counts, weights=weights, q=q, radius=radius, lipschitz=lipschitz),
        cut_off=float((cliques.largest * reach)[updates > 1.0].sum()) * scale,
        limit=float((coins(cliques) * late)[v > np.sqrt(n)].sum()) * scale,
    )


def _with(known: Bound, **costs: float) -> Bound:
    """The bound with these parts added."""
    return replace(
        known,
        statement=known.statement + UNKNOWN_L,
        value=known.value + sum(costs.values()),
        parts={**known.parts, **costs},
        assumptions=(*known.assumptions, MEASURED),
    )
