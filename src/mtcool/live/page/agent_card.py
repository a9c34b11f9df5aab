"""One agent on the page: how it is, its history, its neighbours."""

from __future__ import annotations

import json
from collections.abc import Callable

from nicegui import ui

from mtcool.live.page.formatting import number, percent
from mtcool.live.page.network_view import NetworkView
from mtcool.live.page.parts import card, chart, piece, text
from mtcool.types import Label

FACTS = {
    "host": "Host",
    "health": "Health",
    "activations": "Activations",
    "loss": "Mean loss",
    "alone": "Alone",
    "gain": "Gain",
    "left": "Privacy left",
}


class AgentCard:
    """Shows the agent that was clicked."""

    def __init__(self, network: NetworkView, select: Callable[[Label], None]) -> None:
        self._network, self._select = network, select
        self._label: Label | None = None
        self._chosen = False
        self._near: tuple[Label, ...] | None = None
        self._last = 0.0
        with card():
            with piece("mt-bar"):
                self._title = text("Agent", "mt-title", "agent-name")
            self._empty = text(
                "Click an agent of the graph to see its history and its neighbours.",
                "mt-soft",
                "agent-empty",
            )
            self._full = piece("")
            with self._full:
                with piece("mt-facts"):
                    self._facts = {name: self._fact(name, title) for name, title in FACTS.items()}
                self.chart = chart("mt-agent-chart", "agent")
                text("Neighbours", "mt-title")
                self._neighbours = piece("mt-near").props("data-testid=agent-neighbours")
            self._full.set_visibility(False)

    def _fact(self, name: str, title: str) -> tuple[ui.element, ui.label]:
        fact = piece("mt-fact")
        with fact:
            text(title, "mt-title")
            return fact, text("–", "", f"agent-{name}")

    def select(self, label: Label, index: int) -> None:
        """Show another agent."""
        self._label, self._chosen, self._near = label, True, None
        self._empty.set_visibility(False)
        self._full.set_visibility(True)
        rows = self._network.agents[label].history.rows
        self._last = rows[-1][0] if rows else 0.0
        ui.run_javascript(f"mtcool.select({index},{json.dumps(rows)})")
        self.refresh()

    def _button(self, other: Label) -> None:
        button = ui.button(str(other), on_click=lambda: self._select(other))
        button.props("flat dense no-caps")

    def refresh(self) -> None:
        """Show the newest numbers, and send new points."""
        if not self._chosen:
            return
        agent = self._network.agents[self._label]
        self._title.text = f"Agent {agent.name}"
        told = {
            "host": agent.host or "not watched here",
            "health": agent.health,
            "activations": f"{agent.activations:,}",
            "loss": number(agent.paid.mean),
            "alone": number(agent.paid.mean_alone),
            "gain": percent(agent.paid.gain),
            "left": "–" if agent.left is None else f"{100 * agent.left:.3g} %",
        }
        for name, words in told.items():
            self._facts[name][1].text = words
        self._facts["left"][0].set_visibility(agent.left is not None)
        if agent.neighbours != self._near:
            self._near = agent.neighbours
            self._neighbours.clear()
            with self._neighbours:
                for other in agent.neighbours:
                    self._button(other)
                if not agent.neighbours:
                    text("none" if agent.host is not None else "not known here", "mt-soft")
        rows = [row for row in agent.history.rows if row[0] > self._last]
        if rows:
            self._last = rows[-1][0]
            ui.run_javascript(f"mtcool.agent({json.dumps(rows)})")
