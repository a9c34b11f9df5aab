"""The benchmarks of the live network by name, in the order in which they run."""

from benchmarks.live import activations, calls, memory, page, reading, restart
from benchmarks.suite import Suite

SUITE = Suite(
    benchmarks={
        "calls": calls,
        "activations": activations,
        "restart": restart,
        "memory": memory,
        "reading": reading,
        "page": page,
    },
    purpose="Measure the live network against bare zenoh, bare SQLite, and its targets.",
    document="live-benchmarks.md",
    title="Benchmarks of the live network",
    introduction=(
        "Written by `python -m benchmarks.live --write`. Everything runs in processes of their own "
        "on one machine, over loopback with TLS on both sides, and every transaction is "
        "synchronised to the disk; KT with d = 16. Floors are measured in the same run, in turns."
    ),
    packages=("mtcool", "eclipse-zenoh", "nicegui", "numpy", "numba"),
)
