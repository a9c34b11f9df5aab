"""Ask and tell: `predict` and `update` called from Python, one agent at a time.

On the instance of the paper's experiments. The floor is two calls of compiled functions that take
the same peers and do nothing: numba looks at every array of the state at every call.
"""

from typing import Any

import numpy as np

from benchmarks.instance import Instance, papers_instance
from benchmarks.result import Result
from benchmarks.timing import Run, fastest
from mtcool import simulate
from mtcool.kernels import kernel
from mtcool.learners import MTFTRL, MTFTRLKT, Learner


def run(quick: bool) -> list[Result]:
    """Rounds in a second, for both learners."""
    instance = papers_instance(1_000 if quick else 5_000)
    return [_for_learner(instance, MTFTRLKT(), "KT"), _for_learner(instance, MTFTRL(), "Hedge")]


def _for_learner(instance: Instance, learner: Learner, name: str) -> Result:
    best = fastest(
        {
            "ask and tell": lambda: _ask_and_tell(instance, learner),
            "simulate": lambda: _simulation(instance, learner),
            "empty calls": lambda: _empty_calls(instance, learner),
        },
        repetitions=5,
    )
    each = {contestant: seconds / len(instance.stream) for contestant, seconds in best.items()}
    return Result(
        f"Ask and tell, {name}: {1.0 / each['ask and tell']:,.0f} rounds a second; over the floor",
        f"{1e6 * each['ask and tell']:.1f} µs a round; two empty calls with the same state: "
        f"{1e6 * each['empty calls']:.1f} µs; simulate: {1e6 * each['simulate']:.1f} µs",
        each["ask and tell"] / (each["empty calls"] + each["simulate"]),
    )


def _ask_and_tell(instance: Instance, learner: Learner) -> Run:
    network = instance.network(learner)
    agents, targets = instance.stream.agents.tolist(), instance.stream.losses.rows

    def play() -> None:
        for agent, target in zip(agents, targets, strict=True):
            x = network.predict(agent)
            network.update(agent, x - target)

    return play


def _simulation(instance: Instance, learner: Learner) -> Run:
    network = instance.network(learner)
    return lambda: simulate(network, instance.stream)


def _empty_calls(instance: Instance, learner: Learner) -> Run:
    peers, x = instance.network(learner).peers, np.zeros(instance.stream.dim)

    def call() -> None:
        for agent in instance.stream.agents.tolist():
            _nothing(peers, agent, x)
            _nothing(peers, agent, x)

    return call


@kernel
def _nothing(peers: Any, agent: int, x: Any) -> None:
    x[0] = agent
