"""What is audited: a private network, before anything was released."""

from mtcool.network import Network
from mtcool.privacy.sanitiser import Sanitiser
from mtcool.private_peers import PrivatePeers


def private_parts(network: Network) -> tuple[PrivatePeers, Sanitiser]:
    """Peers and sanitiser of a private network; others are refused."""
    peers, sanitiser = network.peers, network.sanitiser
    if not isinstance(peers, PrivatePeers) or sanitiser is None:
        raise ValueError(f"network must be private, got {network!r}")
    return peers, sanitiser


def fresh_parts(network: Network) -> tuple[PrivatePeers, Sanitiser]:
    """The same of a network that has released nothing."""
    if network.released:
        raise ValueError(f"network must be fresh, got one with {network.released} releases")
    return private_parts(network)
