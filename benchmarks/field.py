"""Networks as they are: what changing weights, delays and changes of the graph cost.

Against the loop on a graph that stands still, with the same learner and stream: the paper's graph
(Erdos-Renyi, N = 30, p = 0.9) and a sparse one (N = 100, p = 0.06), quadratic losses, d = 2,
adaptive rates. Then a million agents of degree 10, d = 8, with one event in a hundred activations,
each in a process of its own.
"""

import functools
import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from benchmarks.result import Result, at_most
from benchmarks.timing import Run, fastest
from mtcool import Delay, Delays, Graph, Messages, Stream, graphs, mt_co2ol, simulate, streams
from mtcool.learners import MTFTRL, MTFTRLKT, Learner

RULES: Mapping[str, dict[str, Any]] = {
    "nothing asked for": {"messages": Messages()},
    "every second round": {"messages": Messages(every=2)},
    "four partners at random": {"messages": Messages(partners=4)},
    "the four best": {"messages": Messages(partners=4, choose="best")},
    "a budget": {"messages": Messages(budget=10**9)},
    "gradients 20 rounds late": {"delays": Delays(gradients=20)},
    "rows 20 rounds late": {"delays": Delays(rows=20)},
    "labels 20 rounds late": {"delays": Delays(labels=20)},
    "gradients late at random": {"delays": Delays(gradients=Delay(mean=20))},
    "a tenth lost": {"delays": Delays(lost=0.1)},
}
LEARNERS: Mapping[str, Learner] = {"Hedge": MTFTRL(), "KT": MTFTRLKT()}


def run(quick: bool) -> list[Result]:
    """Rounds with each rule over plain ones; a million agents with changes over one without."""
    return [*_rounds(quick), *_million(quick)]


def _rounds(quick: bool) -> list[Result]:
    shapes = {
        "paper's graph": graphs.erdos_renyi(30, 0.9, seed=0),
        "sparse graph": graphs.erdos_renyi(100, 0.06, seed=0),
    }
    return [
        result
        for name, graph in shapes.items()
        for learner in LEARNERS
        for result in _on(graph, f"{learner}, {name}", LEARNERS[learner], quick)
    ]


def _on(graph: Graph, where: str, learner: Learner, quick: bool) -> list[Result]:
    tasks = streams.gaussian_tasks(graph, 2, smoothness=10.0, seed=0)
    rounds = 2_000 if quick else 20_000
    stream = streams.quadratic_stream(graph, tasks, rounds=rounds, seed=1)
    contestants = {
        rule: functools.partial(_prepared, graph, learner, stream, options)
        for rule, options in {"still": {}, **RULES}.items()
    }
    best = fastest(contestants, 3 if quick else 7)
    still = best.pop("still")
    return [
        Result(
            f"{where}: {rule}",
            f"{1e6 * still / rounds:.2f} µs a round on a graph that stands still",
            seconds / still,
            target=at_most(2.0 if "delays" in RULES[rule] else 1.5),
        )
        for rule, seconds in best.items()
    ]


def _prepared(graph: Graph, learner: Learner, stream: Stream, options: dict[str, Any]) -> Run:
    lipschitz = stream.lipschitz(radius=1.0)
    net = mt_co2ol(
        graph,
        2,
        learner=learner,
        lipschitz=lipschitz,
        on_excess="clip",
        rates="adaptive",
        **options,
    )
    return lambda: simulate(net, stream, times=[len(stream)])


def _million(quick: bool) -> list[Result]:
    size, rounds = (20_000, 20_000) if quick else (1_000_000, 1_000_000)
    still = _measured("nothing", size, rounds)
    results = []
    for kind in ("edges", "agents"):
        changing = _measured(kind, size, rounds)
        name = f"KT, {size:,} agents, {changing['events']:,} changes of {kind}"
        results += [
            Result(
                f"{name}: time",
                f"{1e6 * still['seconds'] / rounds:.2f} µs an activation without changes",
                changing["seconds"] / still["seconds"],
                target=at_most(1.5),
            ),
            Result(
                f"{name}: peak memory",
                f"{still['peak'] / 1e9:.2f} GB without changes",
                changing["peak"] / still["peak"],
                target=at_most(1.5),
            ),
        ]
    return results


def _measured(kind: str, size: int, rounds: int) -> dict[str, float]:
    """The better of two runs, in time."""
    command = [sys.executable, "-m", "benchmarks.field_million", kind, "KT", str(size), str(rounds)]
    runs = [
        json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in range(2)
    ]
    return min(runs, key=lambda taken: taken["seconds"])
