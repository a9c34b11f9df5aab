"""The private algorithm DPMT-CO2OL: its noise against the published one, its time against MT-CO2OL.

Noise is the standard deviation of a published sum of gradients on the paper's graphs (N = 30,
p = .9) with d = 10, epsilon = 1 and T = 150 000 activations of each agent. Times are for a whole
round on the paper's instance with the binary tree and NumPy's noise. With epsilon = 1 the noise
pushes the rows of nearly all experts onto the ball, where the solver runs for each of them, as it
would without privacy; with a large epsilon rows stay inside, and what is left is the cost of
privacy itself. A single `update` is timed on two rings, which differ in nothing but their size.
"""

from benchmarks.instance import Instance, papers_instance
from benchmarks.result import Result, at_least, at_most
from benchmarks.timing import Run, fastest
from mtcool import Network, Privacy, dpmt_co2ol, simulate
from mtcool.algorithms.published_noise import compare_mechanisms
from mtcool.graphs import ring
from mtcool.learners import MTFTRL

HORIZON = 150_000
FEW, MANY = 100, 100_000
SINGLE = MTFTRL(experts=(0.05,))


def run(quick: bool) -> list[Result]:
    """Noise of three mechanisms, and five ratios of times."""
    return [*_noise(), *_times(papers_instance(2_000 if quick else 20_000)), _update()]


def _noise() -> list[Result]:
    rows = list(compare_mechanisms(papers_instance(1).graph, 10, 1.0, HORIZON, delta=1e-6))
    published = rows[0].gradients
    found = {(row.mechanism, row.experts, row.law): row for row in rows}
    targets = {
        ("binary tree", "paper", "Laplace"): at_least(200),
        ("smooth tree", "geometric", "Laplace"): at_least(1_000),
        ("BLT", "geometric", "Gauss"): at_least(20_000),
    }
    return [
        Result(
            f"Noise: {mechanism}, {experts} experts, less than published by",
            f"standard deviations {published:,.0f} and {found[key].gradients:,.0f}",
            found[key].gain,
            target=target,
        )
        for key, target in targets.items()
        for mechanism, experts, _ in [key]
    ]


def _times(instance: Instance) -> list[Result]:
    all_experts = _over_plain(instance, "all experts", MTFTRL(), 10.0)
    return [*all_experts, *_over_plain(instance, "a single expert", SINGLE, 3.0)]


def _over_plain(instance: Instance, name: str, learner: MTFTRL, limit: float) -> list[Result]:
    best = fastest(
        {
            "plain": lambda: _simulation(instance, instance.network(learner)),
            "on the ball": lambda: _simulation(instance, _private(instance, learner, 1.0)),
            "inside": lambda: _simulation(instance, _private(instance, learner, 1e6)),
        },
        repetitions=3,
    )
    micro = {place: 1e6 * seconds / len(instance.stream) for place, seconds in best.items()}
    return [
        Result(
            f"Private simulation, {name}, epsilon = {epsilon} (rows {place}): over MT-CO2OL",
            f"{micro[place]:.1f} µs a round over {micro['plain']:.1f} µs",
            best[place] / best["plain"],
            target=at_most(limit),
        )
        for place, epsilon in (("on the ball", "1"), ("inside", "1e6"))
    ]


def _update() -> Result:
    networks = {
        size: dpmt_co2ol(ring(size), 1, Privacy(1.0, HORIZON), learner=SINGLE, seed=0)
        for size in (FEW, MANY)
    }
    best = fastest(
        {size: lambda net=net: lambda: _tell(net) for size, net in networks.items()},
        repetitions=20,
    )
    micro = {size: 1e6 * seconds / FEW for size, seconds in best.items()}
    return Result(
        f"Private update among {MANY:,} agents: over one among {FEW}",
        f"{micro[MANY]:.1f} µs over {micro[FEW]:.1f} µs",
        best[MANY] / best[FEW],
        target=at_most(2.0),
    )


def _tell(network: Network) -> None:
    for agent in range(FEW):
        network.update(agent, [0.5])


def _private(instance: Instance, learner: MTFTRL, epsilon: float) -> Network:
    return dpmt_co2ol(
        instance.graph,
        instance.stream.dim,
        Privacy(epsilon, HORIZON),
        learner=learner,
        lipschitz=instance.lipschitz,
        seed=0,
    )


def _simulation(instance: Instance, network: Network) -> Run:
    return lambda: simulate(network, instance.stream)
