"""Private peers that are silent in some rounds: whoever is silent publishes on another channel.

An agent with neighbours has two channels, each with entries, an aggregator and noise of its own:

- talking, it listens to all neighbours, and they learn, as `PrivatePeers` do;
- silent, it listens to its own clique with weight one, and nobody else learns.

Its own clique is told both sums together. A loss enters the sum of one channel, which one a policy
says that looks at no data, so one loss costs what it would cost without the other channel. How many
rounds there were, and how many with messages, the channels count themselves.
"""

from typing import NamedTuple

import numpy as np

from mtcool.field.choosing import speaks
from mtcool.field.vectors import whole
from mtcool.kernels import inline, kernel, routine
from mtcool.learners.dp_mt_ftrl import DPMTFTRLState, tell_row
from mtcool.learners.mt_ftrl.clipped import solve_later, solve_waiting
from mtcool.peers.private import (
    PrivateState,
    ReleaseScratch,
    channel_of,
    fetch_on,
    publish_sums,
    tell,
)
from mtcool.peers.protocol import Units, fetch, observe, send
from mtcool.streams.losses import Kind, subgradient
from mtcool.types import Floats, Indices, Integers


class Policy(NamedTuple):
    """When agents talk: what `Messages` says of it, as plain numbers."""

    seed: np.uint64
    every: int
    probability: float
    budget: int
    budget_bytes: int


class QuietPeers(NamedTuple):
    """Agents in this process that learn from noisy sums, and are silent in some rounds.

    Channel i is agent i talking; the channels that follow are silent agents, one entry for each.
    Entries, `products` and the aggregator are those of channels.
    """

    ptr: Integers
    clique: Indices
    row: Indices
    weight: Floats
    state: PrivateState
    units: Units
    models: Floats
    gradients: Floats
    products: Integers
    horizon: Integers
    """Activations that each agent may have, talking and silent together."""
    grid: float
    work: ReleaseScratch
    policy: Policy
    silent: Integers
    """The channel of each agent's silent rounds; the agent itself if it has no neighbours."""
    limit: Integers
    """Rounds that each channel may have."""
    messages: Integers
    """What a round costs in which an agent talks, one number for each agent."""
    size: Integers
    """Its bytes."""
    own: Integers
    """Among the entries of each agent: that of its own clique."""
    place: Integers
    """Where that entry's products begin in what the agent publishes."""
    both: Floats
    """Scratch for what an agent's own clique is told, (most numbers,)."""
    ahead: Integers
    """Scratch for rounds to come, one number for each channel; zero between calls."""


@inline
def talks(
    policy: Policy, agent: int, begun: int, talked: int, limit: int, messages: int, size: int
) -> bool:
    """Whether an agent talks after `begun` rounds, if it talked in some, each at the same cost.

    It does not talk more than `limit` times, for which its noise is made.
    """
    more = talked + 1
    if more > limit or more * messages > policy.budget or more * size > policy.budget_bytes:
        return False
    return speaks(policy.every, policy.probability, policy.seed, agent, begun)


@inline
def channel_after(peers: QuietPeers, agent: int, talked: int, silent: int) -> int:
    """The channel of an agent's round after so many rounds of either kind."""
    limit, messages, size = peers.limit[agent], peers.messages[agent], peers.size[agent]
    silence = whole(peers.silent[agent])
    if silence == agent:  # who has no neighbours has nothing to be silent about
        return agent
    if talks(peers.policy, agent, talked + silent, talked, limit, messages, size):
        return agent
    return silence


@channel_of.register
def _(peers: QuietPeers, agent: int) -> int:
    count = peers.state.aggregator.activations
    return channel_after(peers, agent, count[agent], count[peers.silent[agent]])


@kernel
def look_ahead(peers: QuietPeers, agents: Integers, channels: Integers) -> None:
    """Write the channels of the next rounds, if these agents are active in this order."""
    count, ahead = peers.state.aggregator.activations, peers.ahead
    for t in range(agents.shape[0]):
        agent, silent = agents[t], peers.silent[agents[t]]
        talked = count[agent] + ahead[agent]
        channels[t] = channel_after(peers, agent, talked, count[silent] + ahead[silent])
        ahead[channels[t]] += 1
    for t in range(agents.shape[0]):
        ahead[channels[t]] = 0


@fetch.register
def _(peers: QuietPeers, agent: int) -> tuple[Floats, Floats]:
    return fetch_on(peers, channel_of(peers, agent))


@observe.register
def _(peers: QuietPeers, agent: int, kind: Kind, row: Floats, x: Floats) -> int:
    subgradient(kind, row, x, peers.gradients[0])
    return 1


@send.register
def _(peers: QuietPeers, agent: int, gradients: Floats) -> bool:
    return publish_on(peers, agent, channel_of(peers, agent), gradients[0])


@routine
def publish_on(peers: QuietPeers, agent: int, channel: int, gradient: Floats) -> bool:
    """Step 5: release the next noisy sums of this channel, and tell them; False if refused."""
    aggregator, silent = peers.state.aggregator, peers.silent[agent]
    count, has_two = aggregator.activations, silent != agent
    rounds = count[agent] + (count[silent] if has_two else 0)
    if rounds >= peers.horizon[agent]:
        return False
    first, last = peers.ptr[channel], peers.ptr[channel + 1]
    weights, products = peers.weight[first:last], peers.products[first:last]
    if not publish_sums(
        aggregator, peers.work, peers.units, weights, products, peers.grid, channel, gradient
    ):
        return False
    cliques, rows, learner = peers.clique[first:last], peers.row[first:last], peers.state.learner
    published = aggregator.published[aggregator.start[channel] : aggregator.start[channel + 1]]
    own = peers.own[agent]
    if has_two:
        talked = aggregator.published[aggregator.start[agent] : aggregator.start[agent + 1]]
        alone = aggregator.published[aggregator.start[silent] : aggregator.start[silent + 1]]
        weight = peers.weight[peers.ptr[agent] + own]
        add_up(talked, weight, peers.place[agent], alone, peers.gradients.shape[1], peers.both)
    if channel != agent:
        tell(learner, cliques, rows, weights, peers.both)
    elif has_two:
        tell_with_own(learner, cliques, rows, weights, published, own, peers.both)
    else:
        tell(learner, cliques, rows, weights, published)
    return True


@inline
def add_up(
    talked: Floats, weight: float, place: int, alone: Floats, dim: int, both: Floats
) -> None:
    """Write what an agent's own clique knows of it: both sums, that of talking by its weight.

    The products of that sum for the own clique, which have their weight already, are at `place`.
    """
    for k in range(dim):
        both[k] = weight * talked[k] + alone[k]
    for k in range(alone.shape[0] - dim):
        both[dim + k] = talked[place + k] + alone[dim + k]


@routine
def tell_with_own(
    learner: DPMTFTRLState,
    cliques: Indices,
    rows: Indices,
    weights: Floats,
    published: Floats,
    own: int,
    both: Floats,
) -> None:
    """`tell`, where the entry `own` is told both sums of the agent."""
    base, dim = learner.base, learner.base.gradients.shape[1]
    place, waiting = dim, 0
    for e in range(rows.shape[0]):
        clique, row = int(cliques[e]), int(rows[e])
        count = learner.first[row + 1] - learner.first[row]
        weight, total, products = weights[e], published, published[place : place + count]
        if e == own:
            weight, total, products = 1.0, both, both[dim : dim + count]
        if tell_row(learner, clique, row, weight, total, products):
            waiting = solve_later(base.work, base, clique, waiting)
        waiting = solve_waiting(base.work, base, waiting, e + 1 == rows.shape[0])
        place += count
