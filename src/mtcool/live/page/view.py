"""The page in one browser: its elements, and what it has been sent."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable

from nicegui import events, ui

from mtcool.live.page.agent_card import AgentCard
from mtcool.live.page.formatting import number, percent, seconds, size
from mtcool.live.page.hosts_card import HostsCard
from mtcool.live.page.layout import edges_of, places_of
from mtcool.live.page.network_view import ChartPoint, NetworkView
from mtcool.live.page.parts import card, chart, piece, text
from mtcool.live.page.watching import Watch
from mtcool.types import Label, Plain

CHARTS = {
    "loss": "Mean loss",
    "activations": "Activations a second",
    "messages": "Messages between hosts a second",
    "bytes": "Bytes between hosts a second",
    "outbox": "Messages that wait to be delivered",
    "stale": "Rows that were old or missing, a second",
    "predict": "How long predictions take",
    "learn": "How long learning takes",
}
PRIVACY = "Privacy budget left: the agent with the least"
NO_LOSSES = (
    "Not published, because targets follow from losses: publish_losses in the network file would "
    "show them."
)
MODES = {"gain": "Gain", "loss": "Loss", "health": "Health"}
THEMES = {"Auto": None, "Light": False, "Dark": True}


class View:
    """One page in one browser."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._shape = -1
        self._last = 0.0
        """Time of the last point that was sent."""
        self._labels: list[Label] = []
        self._edges: list[tuple[Label, Label]] = []
        with piece("mt-page"):
            self._head()
            self._banner = text("", "mt-banner", "alert")
            with piece("mt-tiles"):
                self._tiles = _Tiles()
            with piece("mt-main"):
                with card("mt-graph-card"):
                    self._graph_card()
                with piece("mt-side"):
                    self._agent = AgentCard(watch.network, self.select)
                    self._hosts = HostsCard(watch)
            self._chart_room = piece("mt-charts")
            with self._chart_room:
                self._charts = self._chart_cards()
        ids = {name: element.id for name, element in self._charts.items()}
        ids |= {"graph": self._graph.id, "agent": self._agent.chart.id}
        ui.run_javascript(f"mtcool.begin({json.dumps(ids)})")
        self.refresh()

    @property
    def _network(self) -> NetworkView:
        return self._watch.network

    # --- what it is made of -----------------------------------------------------------------------

    def _head(self) -> None:
        with piece("mt-head"):
            self._dot = piece("mt-dot")
            with ui.element("h1"):
                self._name = text("", name="network")
            self._state = text("", "mt-soft", "state")
            piece("mt-fill")
            dark = ui.dark_mode(None)

            def change(event: events.ValueChangeEventArguments[str]) -> None:
                dark.value = THEMES[event.value]

            toggle = ui.toggle(list(THEMES), value="Auto", on_change=change)
            toggle.props("flat dense data-testid=theme")

    def _graph_card(self) -> None:
        with piece("mt-bar"):
            text("Agents, and how much passes between them", "mt-title")
            toggle = ui.toggle(
                MODES,
                value="gain",
                on_change=lambda event: ui.run_javascript(f"mtcool.mode({event.value!r})"),
            )
            toggle.props("flat dense data-testid=mode")
        self._graph = chart("mt-graph", "graph")
        self._graph.on("componentClick", self._clicked, ["dataType", "dataIndex"])
        piece("mt-legend")

    def _chart_cards(self) -> dict[str, ui.echart]:
        found: dict[str, ui.echart] = {}
        for name, title in CHARTS.items():
            with card():
                self._chart_head(name, title)
                found[name] = chart("mt-chart", name)
        self._privacy = card()
        with self._privacy:
            self._chart_head("left", PRIVACY)
            found["left"] = chart("mt-chart", "left")
        self._privacy.set_visibility(False)
        return found

    def _chart_head(self, name: str, title: str) -> None:
        with piece("mt-bar"):
            text(title, "mt-title")
            if name == "loss":
                toggle = ui.toggle(
                    {True: "last 10 s", False: "since the start"},
                    value=True,
                    on_change=lambda event: ui.run_javascript(
                        f"mtcool.recent({json.dumps(event.value)})"
                    ),
                )
                toggle.props("flat dense data-testid=recent")
                self._no_losses = text(NO_LOSSES, "mt-soft", "no-losses")
                self._no_losses.set_visibility(False)

    # --- what changes -----------------------------------------------------------------------------

    def refresh(self) -> None:
        """Send what is new."""
        network = self._network
        up, hosts, agents = network.hosts_up, len(network.hosts), len(network.agents)
        self._dot.classes(add="mt-off") if up < hosts else self._dot.classes(remove="mt-off")
        self._name.text = network.name or "A network that has not answered yet"
        self._state.text = (
            f"{up} of {hosts} host{'s' * (hosts != 1)} answer, {agents} agent{'s' * (agents != 1)}"
        )
        self._warn()
        self._no_losses.set_visibility(not network.publishes_losses)
        self._tiles.refresh(network)
        self._hosts.refresh()
        self._draw()
        self._agent.refresh()

    def _warn(self) -> None:
        sentences = []
        for host, seen in self._network.hosts.items():
            if seen is not None:
                reasons = seen.status["trouble"].values()
                sentences += [f"Host {host}: {reason}." for reason in reasons]
                if seen.status["unwritten"]:
                    sentences.append(
                        f"Host {host}: its disk took nothing {seen.status['unwritten']} times."
                    )
        self._banner.text = " ".join(sentences)
        self._banner.set_visibility(bool(sentences))

    def _draw(self) -> None:
        network, calls = self._network, []
        rows = [point for point in network.points.rows if point.time > self._last]
        if network.shape != self._shape:
            self._shape = network.shape
            self._labels, self._edges = list(network.agents), edges_of(network.agents)
            calls.append(f"mtcool.shape({_json(self._drawn_shape())})")
        if rows:
            self._last = rows[-1].time
            calls.append(f"mtcool.points({_json([_plain(row) for row in rows])})")
            calls.append(f"mtcool.values({_json(self._drawn_values())})")
            if rows[-1].left is not None:
                self._privacy.set_visibility(True)
                self._chart_room.classes(add="mt-private")
        if calls:
            ui.run_javascript(";".join(calls))

    def _drawn_shape(self) -> dict[str, Plain]:
        agents, order = self._network.agents, {label: k for k, label in enumerate(self._labels)}
        places = places_of(agents)
        return {
            "nodes": [
                [_name(label), agents[label].host, *(round(one, 4) for one in place)]
                for label, place in zip(self._labels, places, strict=True)
            ],
            "edges": [[order[one], order[other]] for one, other in self._edges],
        }

    def _drawn_values(self) -> dict[str, Plain]:
        agents = [self._network.agents[label] for label in self._labels]
        traffic, broken = self._edge_values()
        return {
            "loss": _plain(agent.paid.mean for agent in agents),
            "gain": _plain(agent.paid.gain for agent in agents),
            "health": [agent.health for agent in agents],
            "traffic": _plain(traffic),
            "broken": broken,
        }

    def _edge_values(self) -> tuple[list[float], list[bool]]:
        """Bytes a second along each edge, and whether its hosts do not reach each other."""
        agents, network = self._network.agents, self._network
        pairs = [(agents[one].host, agents[other].host) for one, other in self._edges]
        counts: dict[frozenset[str | None], int] = {}
        for pair in pairs:
            counts[frozenset(pair)] = counts.get(frozenset(pair), 0) + 1
        traffic = [
            0.0
            if one is None or other is None or one == other
            else network.traffic(one, other) / counts[frozenset((one, other))]
            for one, other in pairs
        ]
        return traffic, [self._hosts.is_broken(one, other) for one, other in pairs]

    # --- an agent ---------------------------------------------------------------------------------

    def _clicked(self, event: events.GenericEventArguments) -> None:
        if event.args.get("dataType") == "node":
            self.select(self._labels[event.args["dataIndex"]])

    def select(self, label: Label) -> None:
        """Show an agent."""
        if label in self._network.agents:
            self._agent.select(label, self._labels.index(label))


class _Tiles:
    """The most important numbers."""

    def __init__(self) -> None:
        self._tiles = {
            name: self._tile(name, title)
            for name, title in {
                "activations": "Activations",
                "loss": "Mean loss",
                "gain": "Gain over alone",
                "messages": "Messages",
                "bytes": "Bytes",
                "outbox": "Waiting",
                "refused": "Refused",
                "predict": "Prediction",
            }.items()
        }

    def _tile(self, name: str, title: str) -> tuple[ui.label, ui.label]:
        with card("mt-tile"):
            text(title, "mt-name")
            return text("–", "mt-value", name), text("", "mt-note", f"{name}-note")

    def refresh(self, network: NetworkView) -> None:
        """Show the newest numbers."""
        total = network.total
        if total is None:
            return
        point: ChartPoint = network.points.latest(1)[0]
        seen = [one for one in network.hosts.values() if one is not None]
        refused = sum(one.status["refused"] for one in seen)
        alone, pooled = total.paid.mean_alone, total.pooled.mean
        notes = [f"alone {number(alone)}"] * (alone is not None)
        notes += [f"pooled {number(pooled)}"] * (pooled is not None)
        notes += ["not published"] * (not network.publishes_losses)
        self._say(
            "activations", f"{total.activations:,}", f"{number(point.activations, 3)} a second"
        )
        self._say("loss", number(total.paid.mean), ", ".join(notes))
        recent = None if not point.alone or point.loss is None else 1.0 - point.loss / point.alone
        self._say("gain", percent(total.paid.gain), f"last 10 s: {percent(recent)}")
        self._say("messages", f"{total.messages:,}", f"{number(point.messages, 3)} a second")
        self._say("bytes", size(total.bytes), f"{size(point.bytes)} a second")
        self._say("outbox", f"{network.outbox:,}", "messages")
        self._say("refused", f"{refused:,}", "messages")
        self._say("predict", seconds(point.predict50), f"99 % within {seconds(point.predict99)}")

    def _say(self, name: str, value: str, note: str) -> None:
        for label, words in zip(self._tiles[name], (value, note), strict=True):
            label.text = words


def _name(label: Label) -> str:
    return " ".join(map(str, label)) if isinstance(label, tuple) else str(label)


def _plain(values: Iterable[Plain]) -> list[Plain]:
    """Numbers with five digits, as JSON can hold them; times keep theirs."""
    found: list[Plain] = []
    for value in values:
        if isinstance(value, float):
            digits = 14 if value > 1e8 else 5
            found.append(float(f"{value:.{digits}g}") if math.isfinite(value) else None)
        else:
            found.append(value)
    return found


def _json(value: Plain) -> str:
    return json.dumps(value, separators=(",", ":"))
