"""Rounds and channels of private peers: what an exchange asks, whether agents may be silent or not.

An agent publishes its sums on a channel, or on two: one for rounds in which it talks, and one for
silent rounds.
"""

import functools
from typing import TypeAlias

import numpy as np

from mtcool.peers.private import PrivatePeers
from mtcool.peers.quiet import QuietPeers, look_ahead
from mtcool.privacy.sanitiser import Account, Sanitiser
from mtcool.privacy.settings import PrivacySettings
from mtcool.types import Integers

Publishing: TypeAlias = PrivatePeers | QuietPeers


@functools.singledispatch
def rounds_of(peers: Publishing, agents: Integers) -> Integers:
    """How many rounds each of these agents has had."""
    raise TypeError(f"{type(peers).__name__} are not private")


@rounds_of.register
def _(peers: PrivatePeers, agents: Integers) -> Integers:
    return np.asarray(peers.state.aggregator.activations[agents])


@rounds_of.register
def _(peers: QuietPeers, agents: Integers) -> Integers:
    return _both(peers, peers.state.aggregator.activations, agents)


def rounds_in(peers: QuietPeers, count: Integers) -> Integers:
    """How many rounds each agent has had, if the channels have had so many."""
    return _both(peers, count, np.arange(len(peers.silent)))


def _both(peers: QuietPeers, count: Integers, agents: Integers) -> Integers:
    silent = peers.silent[agents]
    return np.asarray(count[agents] + np.where(silent == agents, 0, count[silent]))


@functools.singledispatch
def channels_ahead(peers: Publishing, agents: Integers) -> Integers:
    """The channels of the next rounds, if these agents are active in this order."""
    raise TypeError(f"{type(peers).__name__} are not private")


@channels_ahead.register
def _(peers: PrivatePeers, agents: Integers) -> Integers:
    return agents


@channels_ahead.register
def _(peers: QuietPeers, agents: Integers) -> Integers:
    channels = np.empty(len(agents), np.int64)
    look_ahead(peers, agents, channels)
    return channels


@functools.singledispatch
def channels_of(peers: Publishing, agent: int) -> list[int]:
    """The channels of an agent: for talking, and if it may be silent for silence."""
    raise TypeError(f"{type(peers).__name__} are not private")


@channels_of.register
def _(peers: PrivatePeers, agent: int) -> list[int]:
    return [agent]


@channels_of.register
def _(peers: QuietPeers, agent: int) -> list[int]:
    silent = int(peers.silent[agent])
    return [agent] if silent == agent else [agent, silent]


def levels_of(peers: Publishing, privacy: PrivacySettings) -> PrivacySettings:
    """Levels and horizons of channels, from those of agents."""
    if isinstance(peers, PrivatePeers):
        return privacy
    agents = np.arange(len(peers.silent))
    owner = np.concatenate((agents, np.flatnonzero(peers.silent != agents)))
    return privacy.chosen(owner.tolist(), peers.limit.tolist())


def account_of(
    sanitiser: Sanitiser, channels: list[int], released: list[int], horizon: int
) -> Account:
    """The ledger of an agent with these channels, on which it has released so many sums.

    A loss is in the sums of one channel only, so levels do not add up: the worse one counts.
    """
    each = [sanitiser.account(*pair) for pair in zip(channels, released, strict=True)]
    promised, spent = max(one.promised for one in each), max(one.spent for one in each)
    left = promised - spent if np.isfinite(promised) else promised
    total = sum(released)
    return Account(each[0].budget, promised, spent, left, total, horizon - total)
