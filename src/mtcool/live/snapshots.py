"""What a journal begins with: how its host was in the beginning, or when it was pruned."""

from __future__ import annotations

from mtcool.graphs.labels import label_of, plain_name
from mtcool.live.journal import Snapshot, Started
from mtcool.live.residents import HEAD
from mtcool.live.transactions import Checkpoint


def snapshot_of(kept: Checkpoint, host: str, network: int) -> Snapshot:
    """What is kept of a host, as the first entry of a journal."""
    agents = [(plain_name(name, "kept"), state) for name, state in kept.agents.items()]
    links = list(kept.links.items())
    return Snapshot(host, network, kept.lives, agents, kept.version, kept.rounds, links)


def kept_in(first: Started | Snapshot) -> Checkpoint:
    """What is kept of a host whose journal begins so, but for messages that waited."""
    agents = {label_of(name): state for name, state in first.agents}
    file = f"the journal of {first.host}"
    if isinstance(first, Snapshot):
        numbers, links = (first.version, first.rounds), dict(first.links)
        return Checkpoint(*numbers, agents, links, [], first.lives, file)
    agents = {name: bytes(HEAD) + state for name, state in agents.items()}
    return Checkpoint(0, 0, agents, {}, [], first.lives, file)
