"""One large network in a process of its own: prints what it took as JSON (see `scale.py`)."""

import json
import sys
import time

from benchmarks.memory import peak_bytes, raw_bytes, state_bytes
from benchmarks.networks import kt_network, unit_gradients
from mtcool import graphs, simulate


def main(agents: int, rounds: int) -> None:
    """Build, run twice and report: the second run finds the memory mapped and the code compiled."""
    began = time.perf_counter()
    graph = graphs.regular(agents, 10, seed=0)
    network = kt_network(graph, 8)
    built = time.perf_counter() - began
    stream = unit_gradients(graph, 8, rounds)
    seconds = []
    for _ in range(2):
        began = time.perf_counter()
        simulate(network, stream)
        seconds.append(time.perf_counter() - began)
    report = {
        "build": built,
        "first": seconds[0],
        "again": seconds[1],
        "state": state_bytes(network),
        "raw": raw_bytes(network),
        "peak": peak_bytes(),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
