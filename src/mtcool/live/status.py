"""How a node is, in plain values that JSON can hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import mtcool
from mtcool.agents import PrivateAgent
from mtcool.graphs.labels import plain_name
from mtcool.live.agents import Driver
from mtcool.live.counts import Latency, PaidCounts, without_overhead
from mtcool.live.offset import START
from mtcool.types import Label, Plain

if TYPE_CHECKING:
    from mtcool.live.node import Node

MOST_REASONS = 20
"""Reasons of refusals that are told, the most frequent first."""


def status_of(node: Node) -> dict[str, Plain]:
    """The status of a node; losses and counts are those since its process began.

    What was learned and said is told as far as it is durable: a full disk cannot undo it.
    """
    host, counts, stopped = node.host, node.counts, node.stopped
    return {
        "host": node.name,
        "network": node.network.file.name,
        "release": mtcool.__version__,
        "revision": host.share.revision,
        "began": node.began,
        "version": max(0, host.durable),
        "rounds": host.rounds,
        "activations": sum(host.learned.values()),
        "publishes_losses": node.network.publishes_losses,
        "agents": [_agent(node, name) for name in host.drivers],
        "links": {other: _link(node, other, stopped) for other in host.links},
        "outbox": sum(len(link.outbox) for link in host.links.values()),
        "refused": sum(host.refused.values()),
        "reasons": [
            {"host": other, "reason": reason, "count": count}
            for (other, reason), count in host.refused.most_common(MOST_REASONS)
        ],
        "denied": [
            {"host": other, "reason": reason, "count": count}
            for (other, reason), count in host.denied.most_common(MOST_REASONS)
        ],
        "trouble": dict(host.trouble),
        "messages": {
            "sent": dict(counts.sent.messages),
            "received": dict(counts.received.messages),
        },
        "bytes": {"sent": dict(counts.sent.bytes), "received": dict(counts.received.bytes)},
        "old": counts.old,
        "missing": counts.missing,
        "unwritten": counts.unwritten,
        "latency": {"predict": _latency(counts.predict), "learn": _latency(counts.learn)},
    }


def _agent(node: Node, name: Label) -> dict[str, Plain]:
    paid = node.counts.paid.get(name, PaidCounts())
    known = paid.count > 0
    return {
        "agent": plain_name(name, "told"),
        "activations": node.host.learned[name],
        "offset": list(node.host.offsets.get(name, START)),
        "loss": paid.loss / paid.count if known else None,
        "alone": paid.alone / paid.count if known and paid.alone is not None else None,
        "counted": paid.count,
        "health": _health(node, name),
        "neighbours": [plain_name(other, "told") for other in node.host.drivers[name].neighbours],
        "privacy": privacy_of(node.host.drivers[name]),
    }


def privacy_of(driver: Driver) -> dict[str, Plain] | None:
    """What a private agent has spent of its budget, and what is left; None for others."""
    agent = getattr(driver, "agent", None)
    return agent.account()._asdict() if isinstance(agent, PrivateAgent) else None


def answers(node: Node, other: str) -> bool | None:
    """Whether another host is heard: it is not silent, and nobody has cut it off.

    None for one that is not asked any more, because no neighbours live there and nothing waits.
    """
    if other not in node.asked:
        return None
    return other not in node.silent and other not in node.cut


def _health(node: Node, name: Label) -> str:
    """ "well", "slow", "partly" or "cut off", "trouble".

    "partly" and "cut off" if some or all hosts of neighbours are silent, which those are, too, that
    have not agreed with us since this process began. With slow neighbours, predictions use their
    last rows.
    """
    home, here = node.host.share.home, node.name
    hosts = {home[other] for other in node.host.drivers[name].neighbours} - {here}
    if node.host.stopped_by(name) is not None:
        return "trouble"
    links = node.host.links
    silent = {other for other in hosts if not (answers(node, other) and links[other].greeted)}
    if not silent:
        return "slow" if hosts & node.slow else "well"
    return "cut off" if silent == hosts else "partly"


def _link(node: Node, other: str, stopped: Mapping[str, str]) -> dict[str, Plain]:
    link, traffic = node.host.links[other], node.counts.to.get(other)
    return {
        "outbox": len(link.outbox),
        "greeted": link.greeted,
        "answers": answers(node, other),
        "slow": other in node.slow,
        "sent": link.durable,
        "taken": link.taken_durable,
        "trouble": node.host.trouble.get(other),
        "messages": 0 if traffic is None else without_overhead(traffic.messages),
        "bytes": 0 if traffic is None else without_overhead(traffic.bytes),
        "stopped": stopped.get(other),
    }


def _latency(latency: Latency) -> dict[str, Plain]:
    return {
        "count": latency.count,
        "seconds": latency.total,
        "p50": latency.quantile(0.5),
        "p90": latency.quantile(0.9),
        "p99": latency.quantile(0.99),
        "steps": {str(k): count for k, count in enumerate(latency.steps) if count},
    }
