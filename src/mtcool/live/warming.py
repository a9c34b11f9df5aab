"""Compile what agents of a network need before anybody waits for them.

Compiling takes seconds, in which a process answers nobody: neighbours would give it up.
"""

from __future__ import annotations

import msgspec
import numpy as np

from mtcool.live.agents import Feedback
from mtcool.live.config import Description, described, drivers_of
from mtcool.live.host import Host, HostLimits
from mtcool.live.resuming import resume
from mtcool.live.transactions import Checkpoint, Replied
from mtcool.streams import Loss, Quadratic
from mtcool.types import Floats, Plain

_warm: set[int] = set()


def warm(network: Description) -> None:
    """Let two agents of the same kind play a round with each other, once in a process."""
    if network.number not in _warm:
        small = _small(network)
        hosts = [_begin(small, name, None) for name in small.places]
        for me, other in (hosts, hosts[::-1]):
            _round(network, me, other)
        for host in hosts:
            changes = host.changes()
            lives = host.lives()
            kept = Checkpoint(changes.version, changes.rounds, changes.agents, {}, [], lives)
            _begin(small, host.share.host, kept)
        _warm.add(network.number)


def _small(network: Description) -> Description:
    table: dict[str, Plain] = msgspec.to_builtins(network.file)
    kept = ("name", "learn", "algorithm", "privacy")
    pair = {"kind": "edges", "edges": [[0, 1]]}
    small = {key: table[key] for key in kept if table.get(key) is not None}
    return described(small | {"graph": pair, "shards": {"count": 2}})


def _begin(small: Description, name: str, kept: Checkpoint | None) -> Host:
    make, limits = drivers_of(small), HostLimits()
    host = resume(small.share(name), small.change(name), make, kept, limits=limits, journal=False)
    for link in host.links.values():
        link.greeted = True  # private agents wait for it
    return host


def _round(network: Description, me: Host, other: Host) -> None:
    features, feedback = _row(network)
    asked = me.begin(next(iter(me.drivers)), features)
    replies = {name: _reply(other, me, content) for name, content in asked.questions.items()}
    me.predict(asked.number, replies)
    me.learn(asked.number, feedback, None)
    me.committed(me.changes())
    batch = me.batch(other.share.host)
    if batch is not None:
        me.delivered(other.share.host, _reply(other, me, batch))


def _reply(host: Host, asker: Host, content: bytes) -> bytes:
    host.receive(asker.share.host, content, None)
    said = host.committed(host.changes()) if host.urgent else host.ready()
    return next(effect.content for effect in said if isinstance(effect, Replied))


def _row(network: Description) -> tuple[Floats | None, Feedback]:
    learn, table = network.file.learn, network.file.algorithm
    if learn is not None:
        return np.ones(len(learn.features)), 1.0
    assert table is not None  # one of the two is given
    if table.loss is not None:
        return np.full(table.dim, 0.1), 1.0
    if table.algorithm == "st_ftrl":
        return None, Loss(Quadratic(), np.zeros(table.dim))
    return None, np.full(table.dim, 0.1 / table.dim)
