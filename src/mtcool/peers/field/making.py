"""From a graph, or from a network that did not change so far, to peers in the field."""

import math

import numpy as np
from numpy.typing import NDArray

from mtcool.field.codes import content_bytes, kappa, power
from mtcool.field.settings import FieldSettings
from mtcool.field.sizes import gradient_size, name_sizes, request_size, row_size
from mtcool.graphs import Graph
from mtcool.learners import MTFTRL
from mtcool.peers.cliques import CliquePeers
from mtcool.peers.field.capacity import Need, enlarge
from mtcool.peers.field.records import (
    AGENT,
    AGENTS,
    BUCKETS,
    CLIQUE,
    COUNTERS,
    ENTRIES,
    EXPERTS,
    KEYS,
    LABEL,
    MESSAGE,
    ROWS,
    TARGET,
    Capacity,
    Edges,
    FieldPeers,
    FieldState,
    Queue,
    RoundScratch,
    Rules,
)
from mtcool.peers.settings import Settings
from mtcool.types import Floats, Integers, State

UNLIMITED = 2**62


def in_the_field(
    peers: CliquePeers, settings: Settings, graph: Graph, weights: Floats | None, agents: int = 0
) -> FieldPeers:
    """Peers in the field that know what these know, with places for so many agents.

    Weights are None if they were found to be uniform before.

    What the learner keeps is theirs from now on: it is not copied where it is long enough. Bounds
    on weights that the rules make larger are not announced yet: `begin` of the exchange does that.
    """
    if settings.field is None:
        raise ValueError("settings must have a field, got None")
    if weights is not None and len(peers.weight) < len(weights):
        raise ValueError(
            "weights must be positive for all neighbours in a network with messages, delays or "
            f"changes of its own, got {int((weights == 0.0).sum())} zeros"
        )
    rules = rules_of(settings.field, settings.dim)
    sizes = graph.neighbourhood_sizes
    uniform = weights is None or are_uniform(weights, graph)
    size, entries, rows = graph.size, len(graph.idx), int(np.diff(graph.ptr).sum())
    counters = np.zeros(COUNTERS, np.int64)
    counters[[AGENTS, ENTRIES, ROWS]] = size, entries, rows
    tables, experts = _tables(settings, peers)
    counters[EXPERTS] = experts
    most = int(np.diff(graph.ptr).max())
    bare = FieldPeers(
        state=FieldState(
            learner=peers.state,
            agents=_agents(graph, agents),
            cliques=_cliques(peers, graph, uniform, agents),
            edges=_edges(peers, settings.field, settings.dim, rules, uniform),
            queue=_queue(settings.dim),
            counters=counters,
        ),
        units=settings.units,
        rules=rules,
        capacity=Capacity(entries, rows, experts),
        tables=tables,
        models=np.zeros((0, settings.dim)),
        gradients=np.zeros((1, settings.dim)),
        work=_round(0, settings.dim),
    )
    doubled = tuple((2 * np.unique(sizes)).tolist())
    return enlarge(bare, settings, Need(sizes=doubled, neighbours=most))


def rules_of(field: FieldSettings, dim: int) -> Rules:
    """Messages and delays as plain numbers."""
    messages, delays = field.messages, field.delays
    content = content_bytes(messages, dim)
    late = not delays.is_none
    # What was rounded then has a part in who is chosen, and so in the rate at which it arrives.
    chosen_late = late and messages.choose == "best"
    return Rules(
        seed=np.uint64(field.seed),
        plain=messages.is_plain and not late,
        every=messages.every,
        probability=messages.probability,
        partners=UNLIMITED if messages.partners is None else messages.partners,
        best=messages.choose == "best",
        budget=UNLIMITED if messages.budget is None else messages.budget,
        budget_bytes=UNLIMITED if messages.budget_bytes is None else messages.budget_bytes,
        bits=messages.bits or 0,
        power=kappa(messages, dim) ** 2 if chosen_late else power(messages, dim),
        kappa=kappa(messages, dim),
        silent=messages.silent,
        may_miss=delays.rows_may_miss,
        late=late,
        lost=delays.lost,
        row_constant=delays.rows.constant,
        row_mean=delays.rows.mean,
        row_bandwidth=_bandwidth(delays.rows.bandwidth),
        gradient_constant=delays.gradients.constant,
        gradient_mean=delays.gradients.mean,
        gradient_bandwidth=_bandwidth(delays.gradients.bandwidth),
        label_constant=delays.labels.constant,
        label_mean=delays.labels.mean,
        request_bytes=request_size(),
        answer_bytes=row_size(content),
        gradient_bytes=gradient_size(content),
    )


def _bandwidth(given: float | None) -> float:
    return math.inf if given is None else given


def are_uniform(weights: Floats, graph: Graph) -> bool:
    """Whether all agents listen to themselves and their neighbours alike."""
    sizes = graph.neighbourhood_sizes
    return np.array_equal(weights, np.repeat(1.0 / sizes, sizes))


def _agents(graph: Graph, places: int) -> NDArray[np.void]:
    everybody = np.zeros(max(graph.size, places), AGENT)
    agents = everybody[: graph.size]
    agents["first"] = graph.ptr[:-1]
    for field in ("count", "ever", "room"):
        agents[field] = graph.neighbourhood_sizes
    agents["present"] = 1
    names = name_sizes(graph.labels).astype(agents["name"].dtype)
    agents["name"] = names
    agents["around"] = np.add.reduceat(names[graph.idx], graph.ptr[:-1]) - names
    return everybody


def _cliques(peers: CliquePeers, graph: Graph, uniform: bool, places: int) -> NDArray[np.void]:
    sizes = graph.neighbourhood_sizes  # a clique has a row for each of its owner's neighbours
    everybody = np.zeros(max(graph.size, places), CLIQUE)
    cliques = everybody[: graph.size]
    cliques["slots"] = cliques["used"] = sizes
    cliques["first"] = np.cumsum(sizes) - sizes
    if uniform:  # an edge has two directions, and neighbours stand together
        cliques["bound"] = np.maximum.reduceat((1.0 / sizes)[graph.idx], graph.ptr[:-1])
    else:
        np.maximum.at(cliques["bound"], peers.clique, peers.weight)
    cliques["first_bound"] = cliques["bound"]
    return everybody


def _edges(
    peers: CliquePeers, field: FieldSettings, dim: int, rules: Rules, uniform: bool
) -> Edges:
    count = len(peers.clique)
    slow = bool(field.delays.rows.edges or field.delays.gradients.edges)
    none = np.zeros(0)
    return Edges(
        clique=peers.clique.astype(np.uint32),
        row=peers.row.astype(np.uint32),
        weight=none if uniform else peers.weight.copy(),
        score=np.full(count, np.inf) if rules.best else none,
        number=np.full(count, -1) if rules.may_miss else np.zeros(0, np.int64),
        stamp=np.zeros(count) if rules.may_miss else none,
        kept=np.zeros((count if rules.may_miss else 0, dim)),
        row_delay=np.zeros(count) if slow else none,
        gradient_delay=np.zeros(count) if slow else none,
    )


def _queue(dim: int) -> Queue:
    return Queue(
        first=np.full(BUCKETS, -1),
        last=np.full(BUCKETS, -1),
        places=np.zeros(0, np.int64),
        messages=np.zeros(0, MESSAGE),
        content=np.zeros((0, dim)),
        label_first=np.full(BUCKETS, -1),
        label_last=np.full(BUCKETS, -1),
        label_places=np.zeros(0, np.int64),
        labels=np.zeros(0, LABEL),
        gradients=np.zeros((0, dim)),
        targets=np.zeros(0, TARGET),
    )


def _round(most: int, dim: int) -> RoundScratch:
    return RoundScratch(
        asked=np.zeros(most, np.uint32),
        waits=np.zeros(most, np.int64),
        heard=np.zeros(most, np.uint32),
        weights=np.zeros(most),
        stamps=np.zeros(most),
        helps=np.zeros(most),
        others=np.zeros(most, np.int64),
        scores=np.zeros(most),
        keys=np.zeros(most),
        draws=np.zeros(most),
        order=np.zeros(most, np.int64),
        chosen=np.zeros(most, np.int64),
        own=np.zeros(dim),
        coded=np.zeros(dim),
        key=np.full(KEYS, -1),
    )


def _tables(settings: Settings, peers: CliquePeers) -> tuple[Integers, int]:
    """For every size of a clique it, where its experts are listed, and their number; all experts.

    A learner without experts has one entry, for all sizes.
    """
    if not isinstance(settings.learner, MTFTRL):
        return np.zeros((3, 1), np.int64), 0
    inner: State = getattr(peers.state, "inner", peers.state)
    sizes, which = np.unique(inner.plan["size"], return_index=True)
    plan = inner.plan[which]
    experts = int(inner.plan["experts"].sum())
    return np.stack((sizes, plan["table"], plan["experts"])).astype(np.int64), experts
