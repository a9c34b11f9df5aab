"""What zenoh turns away before anything of ours sees it, counted.

zenoh tells nobody but its log, which Rust writes to descriptor 1, standard output. A process that
is all ours can listen there: our own output moves to another descriptor first.

While a connection is being opened, zenoh does not know yet what the other host answers. It then
tries to send it all questions, also those for others, and the rules of this very host hold them
back. The log says the same of these as of what came in, but on another thread: what we ask is held
back on the thread that asks, what came in is turned away on a thread of zenoh's own.

Connections also end before they are open because somebody dies, is cut off, or only looks whether a
port is open. The log says so in the same place, and nobody is turned away by that.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections import Counter
from typing import NamedTuple

from mtcool.live.extra import told_if_missing

_OWN_THREAD = rb"\b(?:acc|app|net|rx|tx)-\d+ ThreadId\("
"""In a line of the log: a thread of zenoh's, which bear these names."""
REASONS = {
    re.compile(_OWN_THREAD + rb".*Msg intercepted!"): "its certificate does not allow this message",
    re.compile(rb"did not match any configured ACL subject"): (
        "its certificate is not that of a neighbour"
    ),
    re.compile(rb"certificate expired"): "its certificate has expired",
    re.compile(rb"certificate not valid yet"): "its certificate is not valid yet",
    # Who has refused whom is told by both, so these words must not say whose certificate it is.
    re.compile(rb"received fatal alert: CertificateExpired"): (
        "the certificate that was shown has expired"
    ),
    re.compile(rb"Unable to connect.*received fatal alert"): (
        "the certificate that was shown is not accepted"
    ),
    # Who has another authority ends first what it has begun, because it does not know ours.
    re.compile(rb"peer sent no certificates|invalid peer certificate|received fatal alert"): (
        "it has no certificate of this network's authority"
    ),
    re.compile(rb"received corrupt message"): "it does not speak TLS",
}
"""Why something was turned away, by what zenoh's log says then; the first that fits."""
BY_THEM = re.compile(rb"received fatal alert: CertificateExpired|Unable to connect.*fatal alert")
"""In a line of the log: the other one has turned us away."""
ADDRESS = re.compile(rb"Unable to connect to (?:configured peer )?tls/(\S+)!")
"""In a line of the log: whom we tried to connect to."""
RULES = "zenoh::net::routing::interceptor"
EVENTS = (
    f"off,{RULES}=trace,{RULES}::access_control=info,zenoh_link_tls::unicast=warn,"
    "zenoh::net::runtime::orchestrator=debug"
)
"""The events that zenoh is to log: these and no others."""


class TurnedAway(NamedTuple):
    """What was turned away, and why."""

    reason: str
    address: str | None = None
    """Whom we tried to connect to, if it was we who did."""
    by_them: bool = False
    """Whether it was we who were turned away."""


_COUNTED: Counter[TurnedAway] = Counter()
_LOCK = threading.Lock()


def listen() -> None:
    """Count from now on what zenoh turns away; for a process that runs a node and nothing else."""
    with told_if_missing():
        import zenoh

    sys.stdout.flush()
    ours = os.dup(1)
    reading, writing = os.pipe()
    os.dup2(writing, 1)
    os.close(writing)
    sys.stdout = os.fdopen(ours, "w", encoding="utf-8")
    threading.Thread(target=_read, args=(reading,), daemon=True).start()
    zenoh.init_log_from_env_or(EVENTS)


def turned_away() -> Counter[TurnedAway]:
    """What was turned away since the last call."""
    with _LOCK:
        found = Counter(_COUNTED)
        _COUNTED.clear()
    return found


def _read(descriptor: int) -> None:
    with os.fdopen(descriptor, "rb") as log:
        for line in log:
            found = turned_away_in(line)
            if found is not None:
                with _LOCK:
                    _COUNTED[found] += 1


def turned_away_in(line: bytes) -> TurnedAway | None:
    """What was turned away by a line of the log; None if nothing was.

    Examples
    --------
    >>> turned_away_in(b"zenoh_link_tls::unicast: peer sent no certificates").reason
    "it has no certificate of this network's authority"
    >>> turned_away_in(b"zenoh_link_tls::unicast: tls handshake eof")
    """
    reason = next((why for words, why in REASONS.items() if words.search(line)), None)
    if reason is None:
        return None
    address = ADDRESS.search(line)
    whom = None if address is None else address[1].decode(errors="replace")
    return TurnedAway(reason, whom, BY_THEM.search(line) is not None)
