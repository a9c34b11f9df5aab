"""What a viewer has seen of a network, from the statuses of its hosts.

Counts of a host begin again with its process; here they go on. Nothing in this file waits, asks or
draws: `watching.py` asks, and `page.py` draws.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from mtcool.graphs.labels import label_of
from mtcool.live.counts import STEPS, Latency, without_overhead
from mtcool.live.page.history import History
from mtcool.types import Label, Plain

Status: TypeAlias = Mapping[str, Plain]
"""What `Node.status` says."""
WINDOW = 10.0
"""Seconds over which rates, recent losses and quantiles are taken."""


@dataclass(frozen=True)
class LossSums:
    """Losses of some activations: how many, their sum, and that of learning alone."""

    count: int = 0
    loss: float = 0.0
    alone: float | None = None

    def plus(self, more: LossSums, sign: int = 1) -> LossSums:
        """These and others, or these without others."""
        alone = self.alone if more.alone is None else (self.alone or 0.0) + sign * more.alone
        return LossSums(self.count + sign * more.count, self.loss + sign * more.loss, alone)

    @property
    def mean(self) -> float | None:
        """The mean loss."""
        return self.loss / self.count if self.count else None

    @property
    def mean_alone(self) -> float | None:
        """The mean loss of learning alone, where it is known."""
        return self.alone / self.count if self.count and self.alone is not None else None

    @property
    def gain(self) -> float | None:
        """By how much the loss is smaller than alone, as a share of the latter."""
        mean, alone = self.mean, self.mean_alone
        return None if mean is None or not alone else 1.0 - mean / alone


NOTHING = LossSums()


@dataclass
class AgentView:
    """An agent as it was last seen."""

    name: Label
    host: str | None = None
    """None if it lives where nobody looks."""
    neighbours: tuple[Label, ...] = ()
    health: str = "elsewhere"
    activations: int = 0
    left: float | None = None
    """Share of its activations that a private agent may still have."""
    paid: LossSums = NOTHING
    """Since the viewer began."""
    history: History[tuple[float, float | None, float | None, int]] = field(default_factory=History)
    """Time, mean loss, mean loss alone, activations."""


@dataclass
class Seen:
    """A host as it was last seen."""

    status: Status
    up: bool = True
    before: dict[str, int] = field(default_factory=dict)
    """Counts of processes that have ended."""
    paid: dict[Label, LossSums] = field(default_factory=dict)
    """Losses of each agent in the process that was seen last."""


class Total(NamedTuple):
    """Counts of all hosts together, at one time."""

    time: float
    activations: int
    messages: int
    bytes: int
    stale: int
    paid: LossSums
    pooled: LossSums
    predict: Latency
    learn: Latency
    links: dict[tuple[str, str], int]
    """Bytes from one host to another."""


class ChartPoint(NamedTuple):
    """One row of the charts; rates, recent losses and quantiles are those of the last seconds."""

    time: float
    loss: float | None
    alone: float | None
    pooled: float | None
    all_loss: float | None
    """Since the viewer began, as the next two."""
    all_alone: float | None
    all_pooled: float | None
    activations: float
    """A second, as the next ones; not a number at the first look."""
    messages: float
    bytes: float
    outbox: int
    stale: float
    """Rows of neighbours that were old or missing."""
    predict50: float | None
    predict90: float | None
    predict99: float | None
    learn50: float | None
    learn90: float | None
    learn99: float | None
    left: float | None
    """Share of its activations that the private agent with the least of them may still have."""


class NetworkView:
    """What a viewer knows of a network.

    Examples
    --------
    >>> network = NetworkView()
    >>> network.take(0.0, {"rome": None})
    >>> network.hosts_up, network.agents
    (0, {})
    """

    def __init__(self) -> None:
        self.name = ""
        self.hosts: dict[str, Seen | None] = {}
        """None for a host that has never answered."""
        self.agents: dict[Label, AgentView] = {}
        self.points: History[ChartPoint] = History()
        self.total: Total | None = None
        self.shape = 0
        """Grows when agents or their neighbours change."""
        self._recent: deque[Total] = deque()

    @property
    def hosts_up(self) -> int:
        """Hosts that answered at the last look."""
        return sum(seen is not None and seen.up for seen in self.hosts.values())

    @property
    def publishes_losses(self) -> bool:
        """Whether any host tells what its agents have lost; hosts of version 0.2.0 all do."""
        told = [seen.status for seen in self.hosts.values() if seen is not None]
        return not told or any(status.get("publishes_losses", True) for status in told)

    @property
    def outbox(self) -> int:
        """Messages that wait, at all hosts."""
        return sum(seen.status["outbox"] for seen in self.hosts.values() if seen is not None)

    def take(
        self, now: float, statuses: Mapping[str, Status | None], pooled: LossSums | None = None
    ) -> None:
        """Take the statuses of all hosts; None for those that do not answer.

        `pooled` is what one model for all agents has paid, where somebody knows that.
        """
        shape = self.shape
        for host, status in statuses.items():
            seen = self.hosts.setdefault(host, None)
            if status is not None:
                self._take_host(host, status)
            elif seen is not None:
                seen.up = False
                for agent in self.agents.values():
                    if agent.host == host:
                        agent.health = "down"
        if self.shape != shape:
            self._find_others()
        self.total = self._totals(now, pooled or LossSums())
        self._recent.append(self.total)
        while len(self._recent) > 2 and self._recent[1].time <= now - WINDOW:
            self._recent.popleft()
        self.points.add(self._point())
        for agent in self.agents.values():
            paid = agent.paid
            agent.history.add((now, paid.mean, paid.mean_alone, agent.activations))

    # --- hosts ------------------------------------------------------------------------------------

    def _take_host(self, host: str, status: Status) -> None:
        self.name = status["network"]
        seen = self.hosts[host]
        if seen is None:
            seen = self.hosts[host] = Seen(status)
        elif seen.status["began"] != status["began"]:  # it is another process
            for what, value in _counts_in(seen.status).items():
                seen.before[what] = seen.before.get(what, 0) + value
            seen.paid.clear()
        seen.status, seen.up = status, True
        for told in status["agents"]:
            self._take_agent(host, seen, told)
        there = {label_of(told["agent"]) for told in status["agents"]}
        here = [agent for agent, one in self.agents.items() if one.host == host]
        for agent in here:
            if agent in there:
                continue
            del self.agents[agent]
            seen.paid.pop(agent, None)
            self.shape += 1

    def _take_agent(self, host: str, seen: Seen, told: Status) -> None:
        name = label_of(told["agent"])
        agent = self.agents.get(name)
        if agent is None:
            agent = self.agents[name] = AgentView(name)
            self.shape += 1
        neighbours = tuple(label_of(other) for other in told["neighbours"])
        if (host, neighbours) != (agent.host, agent.neighbours):
            agent.host, agent.neighbours = host, neighbours
            self.shape += 1
        count, alone = told["counted"], told["alone"]
        paid = LossSums(
            count, (told["loss"] or 0.0) * count, None if alone is None else alone * count
        )
        agent.paid = agent.paid.plus(paid).plus(seen.paid.get(name, LossSums()), -1)
        seen.paid[name] = paid
        agent.activations, agent.health = told["activations"], told["health"]
        privacy = told["privacy"]
        if privacy is not None:
            all_of_them = privacy["released"] + privacy["remaining"]
            agent.left = privacy["remaining"] / all_of_them

    def _find_others(self) -> None:
        """Neighbours that live where nobody looks come last."""
        watched = {name: agent for name, agent in self.agents.items() if agent.host is not None}
        others = dict.fromkeys(other for one in watched.values() for other in one.neighbours)
        elsewhere = {name: AgentView(name) for name in others if name not in watched}
        self.agents = watched | elsewhere

    # --- all together -----------------------------------------------------------------------------

    def _totals(self, now: float, pooled: LossSums) -> Total:
        counts = {"messages": 0, "bytes": 0, "stale": 0}
        predict, learn = Latency(), Latency()
        links: dict[tuple[str, str], int] = {}
        for host, seen in self.hosts.items():
            if seen is None:
                continue
            for name, value in _counts_in(seen.status).items():
                value += seen.before.get(name, 0)
                kind, _, place = name.partition(" ")
                if kind in counts:
                    counts[kind] += value
                elif kind == "link":
                    links[host, place] = value
                else:
                    latency = predict if kind == "predict" else learn
                    latency.steps[int(place)] += value
                    latency.count += value
        paid = LossSums()
        for agent in self.agents.values():
            paid = paid.plus(agent.paid)
        activations = sum(agent.activations for agent in self.agents.values())
        messages, size, stale = counts.values()
        return Total(now, activations, messages, size, stale, paid, pooled, predict, learn, links)

    def _point(self) -> ChartPoint:
        first, last = self._recent[0], self._recent[-1]
        seconds = last.time - first.time or math.nan
        paid, pooled = last.paid.plus(first.paid, -1), last.pooled.plus(first.pooled, -1)
        left = [agent.left for agent in self.agents.values() if agent.left is not None]
        return ChartPoint(
            last.time,
            paid.mean,
            paid.mean_alone,
            pooled.mean,
            last.paid.mean,
            last.paid.mean_alone,
            last.pooled.mean,
            (last.activations - first.activations) / seconds,
            (last.messages - first.messages) / seconds,
            (last.bytes - first.bytes) / seconds,
            self.outbox,
            (last.stale - first.stale) / seconds,
            *_quantiles(first.predict, last.predict),
            *_quantiles(first.learn, last.learn),
            min(left, default=None),
        )

    def traffic(self, host: str, other: str) -> float:
        """Bytes a second between two hosts, in both directions."""
        if len(self._recent) < 2:
            return 0.0
        first, last = self._recent[0], self._recent[-1]
        ways = (host, other), (other, host)
        sent = sum(last.links.get(way, 0) - first.links.get(way, 0) for way in ways)
        return sent / max(last.time - first.time, 1e-9)


def _counts_in(status: Status) -> dict[str, int]:
    """What a process has counted since it began, by name."""
    counts = {
        "messages": without_overhead(status["messages"]["sent"]),
        "bytes": without_overhead(status["bytes"]["sent"]),
        "stale": status["old"] + status["missing"],
    }
    for other, link in status["links"].items():
        counts[f"link {other}"] = link["bytes"]
    for kind in ("predict", "learn"):
        for step, count in status["latency"][kind]["steps"].items():
            counts[f"{kind} {step}"] = count
    return counts


def _quantiles(first: Latency, last: Latency) -> tuple[float | None, float | None, float | None]:
    """The median, and two quantiles of what was slowest, of calls between two times."""
    steps = [last.steps[k] - first.steps[k] for k in range(STEPS)]
    between = Latency(last.count - first.count, 0.0, steps)
    return between.quantile(0.5), between.quantile(0.9), between.quantile(0.99)
