"""How ask and tell reach private peers: noise is drawn ahead, and horizons are kept."""

from __future__ import annotations

import numpy as np

from mtcool.graphs import Graph
from mtcool.kernels import kernel
from mtcool.peers.exchange import Exchange, one_gradient
from mtcool.peers.private import PrivatePeers, begin_publication
from mtcool.peers.protocol import fetch, send
from mtcool.peers.settings import Settings
from mtcool.privacy.calibration import make_channels
from mtcool.privacy.noise import Noise, make_noise
from mtcool.privacy.sanitiser import Account, Sanitiser
from mtcool.types import Floats, GradientLike, Integers, Label, PeersBlock


class PrivateExchange(Exchange):
    """Noise, horizons and ledger of private peers."""

    sanitiser: Sanitiser

    def __init__(
        self, peers: PrivatePeers, settings: Settings, graph: Graph, sanitiser: Sanitiser
    ) -> None:
        self.peers = peers
        self.sanitiser = sanitiser
        self.pace = 2**62  # a release is told to all neighbours at once, without a look at Ctrl-C
        self._settings, self._graph = settings, graph

    def update(self, agent: int, gradient: GradientLike) -> None:
        """Publish the agent's next noisy sums, and tell them to its neighbours."""
        g = one_gradient(gradient, self._settings)
        agents = np.array([agent])
        self.check(agents)
        try:
            self.provide(agents)
            accepted = _fetch_and_send(self.peers, agent, g[None].copy())
        finally:
            self.settle()
        assert accepted  # it is finite, and there is noise for it

    def begin(self) -> None:
        """Publish pure noise, before anything is learned."""
        self.sanitiser.begin(self.peers.state.aggregator)
        begin_publication(self.peers)

    def finish(self) -> None:
        """Give noise that an interrupt left unused back to its source."""
        self.settle()

    def provide(self, agents: Integers) -> int:
        """Draw the noise for the next rounds of `agents`; returns how many may be played now."""
        self.settle()  # what an interrupt left open
        scratch, count = self.peers.work, self.peers.state.aggregator.activations
        draws, rounds = self.sanitiser.draws(count, agents)
        scratch.draws[: len(draws)] = draws
        scratch.cursor[:] = 0, len(draws)
        return rounds

    def settle(self) -> None:
        """Give noise that was not used back to its source."""
        self.sanitiser.keep(int(self.peers.work.cursor[0]))
        self.peers.work.cursor[:] = 0

    def check(self, agents: Integers) -> None:
        """Refuse rounds in which an agent would be active beyond its horizon."""
        active, more = np.unique(agents, return_counts=True)
        count = self.peers.state.aggregator.activations[active]
        horizon = self.peers.horizon[active]
        over = np.flatnonzero(count + more > horizon)
        if over.size:
            k = int(over[0])
            raise ValueError(
                f"horizon of agent {self._graph.labels[int(active[k])]!r} is {horizon[k]} "
                f"activations, of which {count[k]} are spent, got {more[k]} more; "
                "nothing was released"
            )

    @property
    def released(self) -> int:
        """Noisy sums that were published since the agents' first losses."""
        return int(self.peers.state.aggregator.activations.sum())

    def ledger(self) -> dict[Label, Account]:
        """What each agent has spent, has released and has left."""
        released = self.peers.state.aggregator.activations.tolist()
        return {
            label: self.sanitiser.account(i, released[i])
            for i, label in enumerate(self._graph.labels)
        }


def private_exchange(
    peers: PrivatePeers, settings: Settings, graph: Graph, noise: Noise | None
) -> PrivateExchange:
    """For peers that learn from noisy sums; noise that is not given is drawn as settings say."""
    (privacy, _), plan = settings.published, peers.state.learner.base.plan
    source = make_noise(privacy.noise) if noise is None else noise
    if source.grid != peers.grid:
        raise ValueError(f"noise must be {privacy.noise}, got {source!r}")
    channels = make_channels(
        settings.dim, peers.ptr, peers.clique, peers.weight, plan["experts"], plan["size"]
    )
    sanitiser = Sanitiser(privacy, channels, source)
    return PrivateExchange(peers, settings, graph, sanitiser)


@kernel
def _fetch_and_send(peers: PeersBlock, agent: int, gradients: Floats) -> bool:
    fetch(peers, agent)
    return send(peers, agent, gradients)
