"""What the agents say to each other: messages and bytes, counted from the activations alone."""

import numpy as np

from mtcool.graphs.entries import one_for_each_pair
from mtcool.network.network import Network
from mtcool.peers.private import PrivatePeers
from mtcool.peers.single_task import SingleTaskPeers
from mtcool.streams import Stream
from mtcool.types import Integers

BYTES = 8  # of a number


def communication(network: Network, stream: Stream, times: Integers) -> tuple[Integers, Integers]:
    """Messages between different agents in the first `times` rounds, and the bytes they carry.

    A message is a model fetched, or a gradient (ST-FTRL: a loss) sent; what an agent tells itself
    is free. Requests, addresses and framing are not counted, nor is the noise that private agents
    publish once before they learn.
    """
    each = _messages_per_activation(network)
    numbers = each * network.settings.dim
    if isinstance(network.peers, SingleTaskPeers):
        numbers = each * sum(field[:1].size for field in stream.losses)
    elif isinstance(network.peers, PrivatePeers):
        numbers = numbers + _experts_of_others(network.peers) * (network.settings.dim + 1)
    messages, sent = (
        np.concatenate(([0], np.cumsum(part[stream.agents])))[times] for part in (each, numbers)
    )
    return messages, sent * BYTES


def _experts_of_others(peers: PrivatePeers) -> Integers:
    """Experts of an agent's neighbours: each one's row is fetched, and a sum of products sent."""
    agents = len(peers.ptr) - 1
    listener = np.repeat(np.arange(agents), np.diff(peers.ptr))
    count = np.diff(peers.state.learner.first)[peers.row]
    others = peers.clique != listener
    return np.bincount(listener[others], count[others], agents).astype(np.int64)


def _messages_per_activation(network: Network) -> Integers:
    peers, agents = network.peers, network.graph.size
    if isinstance(peers, SingleTaskPeers):
        return network.graph.neighbourhood_sizes - 1
    listener = np.repeat(np.arange(agents), np.diff(peers.ptr))
    others = np.bincount(listener[peers.clique != listener], minlength=agents)
    # Pairwise, both ends of an edge hold its models: gradients are sent, nothing is fetched.
    return others if network.settings.algorithm.cliques is one_for_each_pair else 2 * others
