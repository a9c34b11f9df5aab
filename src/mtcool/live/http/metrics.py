"""The counts of a node as Prometheus reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

import mtcool
from mtcool.live.counts import GROWTH, SHORTEST, Latency
from mtcool.live.node import Node
from mtcool.live.status import answers, privacy_of

COARSE = 10
"""Steps of a latency that are told as one, so that there are fewer series."""


def metrics_of(node: Node) -> str:
    """The text of all metrics; every number is read from the node when it is asked for."""
    registry = CollectorRegistry()
    registry.register(_Counted(node))
    return generate_latest(registry).decode()


class _Counted(Collector):
    """Reads the counts of a node."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def collect(self) -> Iterator[Metric]:
        """All metrics."""
        yield from self._of_agents()
        yield from self._of_links()
        revision = self._node.host.share.revision
        yield GaugeMetricFamily("mtcool_revision", "Which revision it has.", value=revision)
        release = GaugeMetricFamily("mtcool_build_info", "Which release runs.", labels=["release"])
        release.add_metric([mtcool.__version__], 1.0)
        yield release
        counts, host = self._node.counts, self._node.host
        for name, what, total in (
            ("mtcool_old_rows", "Rows that were old when they were used.", counts.old),
            ("mtcool_missing_rows", "Rows that predictions went without.", counts.missing),
            ("mtcool_disk_errors", "Transactions that were not written.", counts.unwritten),
            ("mtcool_rounds", "Rounds that were begun.", host.rounds),
        ):
            yield CounterMetricFamily(name, what, value=total)
        yield _latencies("mtcool_predict_seconds", "How long predictions took.", counts.predict)
        yield _latencies("mtcool_learn_seconds", "How long learning took.", counts.learn)

    def _of_agents(self) -> Iterator[Metric]:
        node = self._node
        learned = CounterMetricFamily(
            "mtcool_activations", "Rounds that an agent has learned from.", labels=["agent"]
        )
        loss = CounterMetricFamily("mtcool_loss", "Sum of an agent's losses.", labels=["agent"])
        alone = CounterMetricFamily(
            "mtcool_loss_alone", "Sum of its losses if it learned alone.", labels=["agent"]
        )
        rated = CounterMetricFamily(
            "mtcool_losses", "How many losses these are sums of.", labels=["agent"]
        )
        left = GaugeMetricFamily(
            "mtcool_privacy_left", "Activations of a private agent that remain.", labels=["agent"]
        )
        for agent in node.host.drivers:
            name = [str(agent)]
            learned.add_metric(name, node.host.learned[agent])
            paid, rest = node.counts.paid.get(agent), privacy_of(node.host.drivers[agent])
            if paid is not None:
                loss.add_metric(name, paid.loss)
                rated.add_metric(name, paid.count)
                if paid.alone is not None:
                    alone.add_metric(name, paid.alone)
            if rest is not None:
                left.add_metric(name, rest["remaining"])
        yield from (learned, loss, alone, rated, left)

    def _of_links(self) -> Iterator[Metric]:
        node, labels = self._node, ["peer", "kind"]
        what = "Messages to a host; kind again: sent before, and not acknowledged."
        messages = CounterMetricFamily("mtcool_messages", what, labels=labels)
        size = CounterMetricFamily("mtcool_message_bytes", "Bytes of these.", labels=labels)
        for peer, traffic in node.counts.to.items():
            for kind, count in traffic.messages.items():
                messages.add_metric([peer, kind], count)
            for kind, count in traffic.bytes.items():
                size.add_metric([peer, kind], count)
        outbox = GaugeMetricFamily(
            "mtcool_outbox", "Messages that wait for a host.", labels=["peer"]
        )
        heard = GaugeMetricFamily("mtcool_answers", "Whether a host answers.", labels=["peer"])
        trouble = GaugeMetricFamily(
            "mtcool_trouble", "Whether its memory contradicts ours.", labels=["peer"]
        )
        stopped = GaugeMetricFamily(
            "mtcool_stopped", "Whether a host is not heard for what it has said.", labels=["peer"]
        )
        slow = GaugeMetricFamily(
            "mtcool_slow",
            "Whether a host answers later than predictions wait for.",
            labels=["peer"],
        )
        unheard = node.stopped
        for peer, link in node.host.links.items():
            answer = answers(node, peer)
            if answer is not None:
                heard.add_metric([peer], float(answer))
                slow.add_metric([peer], float(peer in node.slow))
            stopped.add_metric([peer], float(peer in unheard))
            outbox.add_metric([peer], len(link.outbox))
            trouble.add_metric([peer], float(peer in node.host.trouble))
        yield from (messages, size, outbox, heard, slow, trouble, stopped)
        for name, what, counted in (
            ("mtcool_refused", "Messages of a host that were refused.", node.host.refused),
            ("mtcool_denied", "Messages to a host that it has refused.", node.host.denied),
        ):
            found = CounterMetricFamily(name, what, labels=["peer"])
            totals: Counter[str] = Counter()
            for (peer, _), count in counted.items():
                totals[peer] += count
            for peer, total in totals.items():
                found.add_metric([peer], total)
            yield found


def _latencies(name: str, what: str, latency: Latency) -> Metric:
    """A histogram that is made of the finer steps."""
    buckets, found = [], 0
    for k in range(0, len(latency.steps), COARSE):
        found += sum(latency.steps[k : k + COARSE])
        end = SHORTEST * GROWTH ** (k + COARSE)
        buckets.append((f"{end:.3g}", found))
    buckets.append(("+Inf", latency.count))
    return HistogramMetricFamily(name, what, buckets=buckets, sum_value=latency.total)
