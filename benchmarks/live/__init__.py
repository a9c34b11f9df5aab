"""The live network against bare zenoh, bare SQLite, and its own targets.

Everything runs in processes of their own on this machine, over loopback with TLS on both sides,
and every transaction is synchronised to the disk. The learner is KT with d = 16.
"""

from benchmarks.live.activations import ring, shards
from benchmarks.live.calls import learning, predicting
from benchmarks.result import Result


def run(quick: bool) -> list[Result]:
    """Calls over their floors; whole networks in activations a second."""
    return [*predicting(quick), *learning(quick), *ring(quick), *shards(quick)]
