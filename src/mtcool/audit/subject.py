"""What is audited: a private network, before anything was released."""

import copy
from collections.abc import Callable

from mtcool.network.network import Network
from mtcool.peers.private import PrivatePeers
from mtcool.privacy.sanitiser import Sanitiser

Plant = Callable[[Network], None]
"""Puts a bug into a network, to see whether an audit finds it (`planted.py`)."""


def private_parts(network: Network) -> tuple[PrivatePeers, Sanitiser]:
    """Peers and sanitiser of a private network; others are refused."""
    peers, sanitiser = network.peers, network.sanitiser
    if not isinstance(peers, PrivatePeers) or sanitiser is None:
        raise ValueError(f"network must be private, got {network!r}")
    return peers, sanitiser


def fresh_copy(network: Network, plant: Plant | None = None) -> Network:
    """A copy to audit, with a bug if one is planted; networks that released are refused."""
    private_parts(network)
    if network.released:
        raise ValueError(f"network must be fresh, got one with {network.released} releases")
    twin = copy.deepcopy(network)
    if plant is not None:
        plant(twin)
    return twin


def swap(sanitiser: Sanitiser, name: str, value: object) -> None:
    """Replace an attribute of a sealed sanitiser: auditors choose noise, planted bugs spoil it."""
    object.__setattr__(sanitiser, name, value)
