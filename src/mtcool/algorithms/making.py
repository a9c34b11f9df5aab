"""From a record, a graph and settings to a network."""

from __future__ import annotations

import warnings
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.field import Delays, Messages
from mtcool.field.draws import seed_number
from mtcool.field.settings import FieldSettings
from mtcool.graphs import Graph, GraphLike, as_graph, entry_weights, own_weights
from mtcool.graphs.entries import one_for_each_agent
from mtcool.graphs.weights import WeightsLike, check_entries
from mtcool.learners import MTFTRL, Learner
from mtcool.network import Network
from mtcool.peers.algorithm import Algorithm
from mtcool.peers.settings import Settings, refuse_messages
from mtcool.privacy.noise import make_noise
from mtcool.privacy.privacy import Privacy, privacy_of_agents
from mtcool.seeds import Seed
from mtcool.types import Floats, Lipschitz, OnExcess, Rates

MANY_EXPERTS = 1_000_000
CLOSED, CLIPPED = 7e-9, 3e-7  # seconds for an expert in closed form, and with rows on the ball


class Options(TypedDict, total=False):
    """Keyword arguments that most algorithms share; `mt_co2ol` says what they mean."""

    lipschitz: Lipschitz
    radius: float
    on_excess: OnExcess
    rates: Rates
    q_min: float | None
    horizon: int | None


def make_network(
    algorithm: Algorithm,
    graph: GraphLike,
    dim: int,
    *,
    learner: Learner | None = None,
    weights: WeightsLike = "uniform",
    q: ArrayLike | None = None,
    privacy: Privacy | None = None,
    messages: Messages | None = None,
    delays: Delays | None = None,
    seed: Seed | None = None,
    **options: Unpack[Options],
) -> Network:
    """Make a network that runs `algorithm`; the functions named after algorithms call this.

    Parameters
    ----------
    algorithm
        The record of an algorithm, of this package or of your own.
    graph, dim, learner, weights, q, options
        As in `mtcool.mt_co2ol`.
    messages, delays
        As in `mtcool.mt_co2ol`, for an algorithm that can do with few or late messages.
    privacy, seed
        As in `mtcool.dpmt_co2ol`, for a private algorithm.

    Examples
    --------
    >>> import mtcool
    >>> make_network(mtcool.algorithms.algorithm("i_ftrl"), mtcool.graphs.ring(3), 2).predict(0)
    array([0., 0.])
    """
    if not isinstance(algorithm, Algorithm):
        raise ValueError(
            "algorithm must be the record of an algorithm, such as "
            f'mtcool.algorithms.algorithm("i_ftrl"), got {algorithm!r}'
        )
    network = as_graph(graph)
    settings = make_settings(
        algorithm,
        network,
        dim,
        learner=learner,
        weights=weights,
        q=q,
        privacy=privacy,
        field=_field(algorithm, messages, delays, seed),
        **options,
    )
    _warn_if_slow(settings, network)
    noise = None
    if settings.privacy is not None:
        noise = make_noise(settings.privacy.noise, seed)
    elif seed is not None and settings.field is None:
        raise ValueError(
            "seed applies only to private algorithms, and to messages and delays, "
            f"got {seed!r} for {algorithm}"
        )
    return Network(settings, network, _entries(settings, network, weights), noise)


def make_settings(
    algorithm: Algorithm,
    graph: Graph,
    dim: int,
    *,
    learner: Learner | None = None,
    weights: WeightsLike = "uniform",
    q: ArrayLike | None = None,
    privacy: Privacy | None = None,
    field: FieldSettings | None = None,
    **options: Unpack[Options],
) -> Settings:
    """Check the settings of the network that `make_network` would make, without making it."""
    for unknown in options.keys() - Options.__annotations__.keys():
        raise TypeError(f"{algorithm}() got an unexpected keyword argument {unknown!r}")
    law = None
    if q is not None:
        law = tuple(validation.probabilities("q", q, graph.size).tolist())
        rates = options.get("rates", "adversarial")
        proportional = isinstance(weights, str) and weights == "proportional"
        if rates != "stochastic" and not proportional:
            raise ValueError(
                'q applies only to rates="stochastic" or weights="proportional", '
                f"got rates={rates!r}"
            )
    if algorithm.own_weights and not (isinstance(weights, str) and weights == "uniform"):
        raise ValueError(f"weights have no meaning for {algorithm}, got {weights!r}")
    if algorithm.private:
        options.setdefault("on_excess", "clip")
    return Settings(
        algorithm=algorithm,
        dim=dim,
        learner=algorithm.learner if learner is None else learner,
        q=law,
        privacy=None if privacy is None else privacy_of_agents(privacy, graph.labels),
        field=field,
        **options,
    )


def _field(
    algorithm: Algorithm, messages: Messages | None, delays: Delays | None, seed: Seed | None
) -> FieldSettings | None:
    """What is asked for beyond the paper's setting, if anything is."""
    if messages is None and delays is None:
        return None
    for name, given, kind in (("messages", messages, Messages), ("delays", delays, Delays)):
        if given is not None and not isinstance(given, kind):
            raise ValueError(f"{name} must be an mtcool.{kind.__name__}, got {given!r}")
    if algorithm.private and messages is not None:
        refuse_messages(algorithm, messages)
    number = int(seed_number(0 if seed is None else seed))
    return FieldSettings(messages or Messages(), delays or Delays(), number)


def _entries(settings: Settings, graph: Graph, weights: WeightsLike) -> Floats:
    """The weights that the algorithm makes of those that were given, one for each entry."""
    algorithm = settings.algorithm
    if algorithm.own_weights:
        return entry_weights(graph, own_weights(graph))
    law = None if settings.q is None else np.array(settings.q)
    return check_entries(graph, algorithm.weights(graph, entry_weights(graph, weights, law)))


def _warn_if_slow(settings: Settings, graph: Graph) -> None:
    """Warn before the wait, if one round moves very many experts."""
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
