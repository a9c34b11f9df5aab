"""What zenoh turns away before anything of ours sees it, counted.

zenoh tells nobody but its log, which Rust writes to descriptor 1, standard output. A process that
is all ours can listen there: our own output moves to another descriptor first.

While a connection is being opened, zenoh does not know yet what the other host answers. It then
tries to send it all questions, also those for others, and the rules of this very host hold them
back. The log says the same of these as of what came in, but on another thread: what we ask is held
back on the thread that asks, what came in is turned away on a thread of zenoh's own.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections import Counter

from mtcool.live.extra import told_if_missing

_OWN_THREAD = rb"\b(?:acc|app|net|rx|tx)-\d+ ThreadId\("
"""In a line of the log: a thread of zenoh's, which bear these names."""
REASONS = {
    re.compile(_OWN_THREAD + rb".*Msg intercepted!"): "its certificate does not allow this message",
    re.compile(rb"did not match any configured ACL subject"): (
        "its certificate is not that of a neighbour"
    ),
    re.compile(rb"zenoh_link_tls::unicast"): "it has no certificate of this network's authority",
}
"""Why something was turned away, by what zenoh's log says then."""
RULES = "zenoh::net::routing::interceptor"
EVENTS = f"off,{RULES}=trace,{RULES}::access_control=info,zenoh_link_tls::unicast=warn"
"""The events that zenoh is to log: these and no others."""

_COUNTED: Counter[str] = Counter()
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


def turned_away() -> Counter[str]:
    """What was turned away since the last call, by reason."""
    with _LOCK:
        found = Counter(_COUNTED)
        _COUNTED.clear()
    return found


def _read(descriptor: int) -> None:
    with os.fdopen(descriptor, "rb") as log:
        for line in log:
            reason = next((why for words, why in REASONS.items() if words.search(line)), None)
            if reason is not None:
                with _LOCK:
                    _COUNTED[reason] += 1
