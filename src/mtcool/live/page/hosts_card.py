"""Hosts and links on the page, with buttons where a network may be tried out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nicegui import ui

from mtcool.live.page.formatting import size
from mtcool.live.page.network_view import NetworkView, Seen
from mtcool.live.page.parts import card, piece, text
from mtcool.live.page.watching import Watch
from mtcool.live.status_schema import refused_in

Press = Callable[[], Awaitable[None]]


class _Line:
    """A line of a table: a name, how it is, and perhaps a button."""

    def __init__(self, name: str, key: str, press: Press | None) -> None:
        with piece("mt-row" if press else "mt-row mt-plain"):
            text(name)
            self._state = text("", "", f"state-{key}")
            self._button = None
            if press is not None:
                self._button = ui.button("", on_click=press).props(
                    f"outline dense no-caps data-testid=press-{key}"
                )

    def show(self, state: str, bad: bool, button: str) -> None:
        """Show how it is."""
        self._state.text = state
        self._state.classes(add="mt-bad") if bad else self._state.classes(remove="mt-bad")
        if self._button is not None:
            self._button.text = button


def versions_in(network: NetworkView) -> tuple[str, bool]:
    """Which revision and which release hosts have, and whether they have different revisions.

    Examples
    --------
    >>> network = NetworkView()
    >>> told = {"revision": 1, "release": "1.0"}
    >>> network.hosts = {"a": Seen(told), "b": Seen(told), "new": None}
    >>> versions_in(network)
    ('revision 1, release 1.0', False)
    >>> network.hosts["oslo"] = Seen({"revision": 0})
    >>> versions_in(network)
    ('revision 0 (oslo), 1 (a, b), release 1.0 (a, b), unknown (oslo)', True)
    """
    found: dict[str, dict[str, list[str]]] = {"revision": {}, "release": {}}
    statuses = {name: seen.status for name, seen in network.hosts.items() if seen is not None}
    for name, status in statuses.items():
        for what, hosts in found.items():
            hosts.setdefault(str(status.get(what, "unknown")), []).append(name)
    words = []
    for what, hosts in found.items():
        ones = sorted(hosts)
        told = [one if len(ones) == 1 else f"{one} ({', '.join(hosts[one])})" for one in ones]
        if told:
            words.append(f"{what} {', '.join(told)}")
    return ", ".join(words), len(found["revision"]) > 1


class HostsCard:
    """All hosts and the links between them, and what was refused."""

    def __init__(self, watch: Watch) -> None:
        self._watch, self._network = watch, watch.network
        self._hosts: dict[str, _Line] = {}
        self._links: dict[tuple[str, str], _Line] = {}
        self._told: list[tuple[str, str, str, int]] = []
        with card():
            text("Hosts", "mt-title")
            self._versions = text("", "mt-soft", "versions")
            self._host_rows = piece("mt-rows")
        self._link_card = card()
        with self._link_card:
            text("Links between hosts", "mt-title")
            self._link_rows = piece("mt-rows")
        self._refused_card = card()
        with self._refused_card:
            text("Refused messages", "mt-title")
            self._refused_rows = piece("mt-rows")

    def refresh(self) -> None:
        """Show how all are."""
        if list(self._hosts) != list(self._network.hosts):
            self._host_rows.clear()
            with self._host_rows:
                self._hosts = {name: self._host(name) for name in self._network.hosts}
        pairs = self._pairs()
        if list(self._links) != pairs:
            self._link_rows.clear()
            with self._link_rows:
                self._links = {pair: self._link(*pair) for pair in pairs}
        self._link_card.set_visibility(bool(pairs))
        words, mixed = versions_in(self._network)
        self._versions.text = words
        self._versions.classes(add="mt-bad") if mixed else self._versions.classes(remove="mt-bad")
        for name, line in self._hosts.items():
            line.show(*self._host_state(name))
        for pair, line in self._links.items():
            line.show(*self._link_state(*pair))
        self._refresh_refused()

    # --- hosts ------------------------------------------------------------------------------------

    def _host(self, name: str) -> _Line:
        controls = self._watch.controls
        if controls is None:
            return _Line(name, name, None)

        async def press() -> None:
            await (controls.restart(name) if name in controls.killed else controls.kill(name))
            self.refresh()

        return _Line(name, name, press)

    def _host_state(self, name: str) -> tuple[str, bool, str]:
        seen, controls = self._network.hosts[name], self._watch.controls
        killed = controls is not None and name in controls.killed
        button = "Restart" if killed else "Kill"
        if seen is None:
            return "has not answered yet", True, button
        if not seen.up or killed:
            return "killed" if killed else "does not answer", True, button
        agents, waiting = len(seen.status["agents"]), seen.status["outbox"]
        words = f"{agents} agent{'s' * (agents != 1)}"
        return (f"{words}, {waiting:,} waiting" if waiting else words), False, button

    # --- links ------------------------------------------------------------------------------------

    def _pairs(self) -> list[tuple[str, str]]:
        found = {
            (min(host, other), max(host, other))
            for host, seen in self._network.hosts.items()
            if seen is not None
            for other in seen.status["links"]
        }
        return sorted(found, key=lambda pair: [(len(name), name) for name in pair])

    def _link(self, one: str, other: str) -> _Line:
        controls, pair = self._watch.controls, frozenset((one, other))
        name = f"{one} – {other}"
        if controls is None:
            return _Line(name, f"{one}-{other}", None)

        async def press() -> None:
            cut = pair in controls.cut
            await (controls.heal_link(one, other) if cut else controls.cut_link(one, other))
            self.refresh()

        return _Line(name, f"{one}-{other}", press)

    def _link_state(self, one: str, other: str) -> tuple[str, bool, str]:
        controls = self._watch.controls
        cut = controls is not None and frozenset((one, other)) in controls.cut
        button = "Heal" if cut else "Cut"
        waiting = sum(
            seen.status["links"][there]["outbox"] for seen, there in self._ends(one, other)
        )
        words = f"{size(self._network.traffic(one, other))} a second"
        if waiting:
            words += f", {waiting:,} waiting"
        if cut:
            return f"cut, {waiting:,} waiting", True, button
        return words, self.is_broken(one, other), button

    def is_broken(self, one: str | None, other: str | None) -> bool:
        """Whether two hosts do not reach each other, as far as either of them knows."""
        if one is None or other is None or one == other:
            return False
        ends = self._ends(one, other)
        down = any(
            seen is not None and not seen.up
            for seen in (self._network.hosts.get(one), self._network.hosts.get(other))
        )
        links = [seen.status["links"][there] for seen, there in ends]
        return down or any(link["trouble"] or link["answers"] is False for link in links)

    def _ends(self, one: str, other: str) -> list[tuple[Seen, str]]:
        """Both ends of a link that are known, and what each calls the other."""
        hosts, found = self._network.hosts, []
        for here, there in ((one, other), (other, one)):
            seen = hosts.get(here)
            if seen is not None and there in seen.status["links"]:
                found.append((seen, there))
        return found

    # --- refused ----------------------------------------------------------------------------------

    def _refresh_refused(self) -> None:
        told = refused_in(
            {host: seen.status for host, seen in self._network.hosts.items() if seen is not None}
        )
        self._refused_card.set_visibility(bool(told))
        if told == self._told:
            return
        self._told = told
        self._refused_rows.clear()
        with self._refused_rows:
            for host, other, reason, count in told:
                with piece("mt-row mt-plain"):
                    text(f"{host}: {count:,} of {other}")
                    text(reason, "mt-soft mt-why")
