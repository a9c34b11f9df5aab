"""MT-CO2OL with Hedge over task variances, the algorithm that the paper analyses.

The authors fell back on KT "for practical reasons": in each of about 27 cliques of the active
agent an update moves about 27 experts, each of them the minimiser of a constrained quadratic
problem. The unit is one expert in one update. The floor is the least arithmetic for an expert in
closed form (`expert_floor.py`); it has no exponential, which each of Hedge's weights needs.
"""

import itertools

import numpy as np

from benchmarks import expert_floor
from benchmarks.instance import ROUNDS, Instance, papers_instance
from benchmarks.result import Result, at_least, at_most
from benchmarks.timing import Run, fastest
from mtcool import simulate, streams
from mtcool.learners import MTFTRL, Learner


def run(quick: bool) -> list[Result]:
    """Nanoseconds per expert, distance from the floor, share of the closed form."""
    instance = papers_instance(5_000 if quick else ROUNDS)
    state = instance.network(MTFTRL()).peers.state
    evaluations = _evaluations(instance, state.plan["experts"])
    experts = int(state.plan["experts"].mean())
    best = fastest(
        {
            "mtcool": lambda: _simulation(instance),
            "floor": lambda: expert_floor.floor_run(experts, evaluations),
        },
        repetitions=5 if quick else 7,
    )
    ours, floor = (1e9 * best[name] / evaluations for name in ("mtcool", "floor"))
    return [
        Result(
            f"Hedge, {len(instance.stream):,} rounds in {best['mtcool']:.2f} s: time per expert",
            f"{evaluations:,} experts, all that a round does included",
            ours,
            unit="ns",
            target=at_most(10.0),
        ),
        Result(
            "Hedge: time over the arithmetic floor",
            f"two multiplications, a minimum, three multiply-adds, in L1: {floor:.2f} ns",
            ours / floor,
        ),
        Result(
            "Hedge: experts in closed form",
            "all experts, sampled at 100 times during the run",
            100.0 * _share_in_closed_form(instance),
            unit="%",
            target=at_least(99.99),
        ),
        _on_the_ball(1_000 if quick else 3_000),
    ]


def _on_the_ball(rounds: int) -> Result:
    """Linear losses of full norm push the tasks to the boundary: most experts need the solver."""
    graph = papers_instance(1).graph
    instance = Instance(graph, streams.linear_stream(graph, 1, rounds, seed=3, smoothness=6.0))
    paper, few = MTFTRL(), MTFTRL(experts="geometric")
    best = fastest(
        {
            "paper": lambda: _simulation(instance),
            "geometric": lambda: _simulation(instance, few),
        },
        repetitions=3,
    )
    count = _evaluations(instance, instance.network(paper).peers.state.plan["experts"])
    share = 100.0 * (1.0 - _share_in_closed_form(instance))
    per_round = {name: 1e6 * seconds / rounds for name, seconds in best.items()}
    return Result(
        f"Hedge, rows on the ball ({share:.0f} % of the experts): time per expert",
        f"linear losses of norm one: {per_round['paper']:.0f} µs a round; "
        f"{per_round['geometric']:.0f} µs with geometric experts",
        1e9 * best["paper"] / count,
        unit="ns",
    )


def _evaluations(instance: Instance, experts: np.ndarray) -> int:
    """How many experts move in the whole run: those of all cliques of every active agent."""
    graph, agents = instance.graph, instance.stream.agents
    each = np.add.reduceat(experts[graph.idx], graph.ptr[:-1])
    return int(each[agents].sum())


def _simulation(instance: Instance, learner: Learner | None = None) -> Run:
    network = instance.network(learner or MTFTRL())
    return lambda: simulate(network, instance.stream)


def _share_in_closed_form(instance: Instance) -> float:
    network, stream = instance.network(MTFTRL()), instance.stream
    marks = np.linspace(0, len(stream), 101).astype(int)
    clipped = 0
    for first, last in itertools.pairwise(marks):
        simulate(network, stream[first:last], times=[last - first])
        clipped += int(network.peers.state.cliques["clipped"].sum())
    return 1.0 - clipped / (100 * network.peers.state.experts.shape[1])
