"""What was measured for the statements: small runs, and the tables of the full experiments."""

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import mtcool
from mtcool import Privacy, graphs, privacy, streams, theory
from mtcool.algorithms.published_noise import published_noise
from mtcool.learners import MTFTRL, MTFTRLKT
from mtcool.peers.algorithm import Question

DATA = Path(__file__).parents[1] / "docs" / "data"
SEEDS, ROUNDS = 10, 2_000
GRAPHS = {
    "ring": graphs.ring(8),
    "star": graphs.star(8),
    "cliques": graphs.cliques([4, 4]),
    "random graph": graphs.erdos_renyi(12, 0.5, seed=0),
}


def tightest_alone() -> str:
    """i-FTRL against its bound."""
    return _tightest(mtcool.i_ftrl, lambda graph, tasks, counts: theory.independent(counts))


def tightest_hedge() -> str:
    """MT-CO2OL with Hedge against the first claim."""
    learner = MTFTRL(free_last=True)
    return _tightest(lambda g, d: mtcool.mt_co2ol(g, d, learner=learner), theory.any_graph)


def tightest_kt() -> str:
    """MT-CO2OL with KT against its bound."""
    return _tightest(lambda g, d: mtcool.mt_co2ol(g, d, learner=MTFTRLKT()), theory.kt)


def _tightest(make: Callable[..., Any], bound: Callable[..., theory.Bound]) -> str:
    best, where = 0.0, ""
    for name, graph in GRAPHS.items():
        for seed in range(SEEDS):
            for stream in (
                streams.linear_stream(graph, 1, ROUNDS, seed, drift=0.0),
                streams.linear_stream(graph, 1, ROUNDS, seed, drift=1.0, smoothness=5.0),
                streams.multitask_adversary(graph, 0.5, ROUNDS, seed),
            ):
                counts = np.bincount(stream.agents, minlength=graph.size)
                measured = mtcool.simulate(make(graph, 1), stream).regret[-1]
                ratio = measured / bound(graph, stream.comparator, counts).value
                if ratio > best:
                    best, where = ratio, name
    runs = 3 * SEEDS * len(GRAPHS)
    return f"at most {best:.2f} of the bound in {runs} runs ({where})"


def over_the_floor() -> str:
    """Mean regret of MT-CO2OL with Hedge on the adversaries, over the stated bound."""
    ring, clique = graphs.ring(12), graphs.complete(6)
    twice = _mean(ring, lambda seed: streams.twice_independent(ring, ROUNDS, seed))
    many = _mean(clique, lambda seed: streams.multitask_adversary(clique, 0.5, ROUNDS, seed))
    family = [streams.regular_family(4, 3, 0.5, ROUNDS, seed) for seed in range(SEEDS)]
    graph = family[0][0]
    regular = _mean(graph, lambda seed: family[seed][1])
    floors = (
        theory.any_algorithm(ring, 0.0, ROUNDS).value,
        theory.any_algorithm(clique, 0.5, ROUNDS).value,
        np.mean([theory.regular_graphs(graph, s.comparator, ROUNDS).value for _, s in family]),
    )
    ratios = [f"{m / f:.1f}" for m, f in zip((twice, many, regular), floors, strict=True)]
    return f"{ratios[0]}, {ratios[1]} and {ratios[2]} times the bound (Hedge, means of {SEEDS})"


def _mean(graph: mtcool.Graph, stream_of: Callable[[int], mtcool.Stream]) -> float:
    finals = [
        mtcool.simulate(mtcool.mt_co2ol(graph, 1), stream_of(seed)).regret[-1]
        for seed in range(SEEDS)
    ]
    return float(np.mean(finals))


def states() -> str:
    """The parameters of a grid and of a random graph."""
    grid, random = graphs.grid(6, 8), graphs.erdos_renyi(60, 0.1, seed=0)
    words = []
    for name, graph in (("grid of 6 x 8", grid), ("G(60, .1)", random)):
        alpha, gamma = graphs.independence_number(graph), graphs.domination_number(graph)
        twice = graphs.k_independence_number(graph, 2)
        words.append(f"{name}: {twice} <= {gamma} <= {alpha}")
    return "; ".join(words)


def figure_1() -> str:
    """Regret after the last round at lambda = 6."""
    rows = [row for row in _rows("figures") if row["tasks.smoothness"] == "6"]
    return ", ".join(f"{row['algorithm']} {_estimate(row)}" for row in rows)


def figure_2() -> str:
    """Who has the least regret from the smallest to the largest deviation."""
    return f"KT: {_winners('figures')}; Hedge and plain: {_winners('hedge')}"


def pairwise() -> str:
    """Regrets where all tasks are equal, and the bound."""
    rows = [row for row in _rows("pairwise") if row["tasks.smoothness"] == "1e+10"]
    equal = ", ".join(f"{row['algorithm']} {_estimate(row)}" for row in rows)
    learner = MTFTRL(free_last=True)
    close = _tightest(lambda g, d: mtcool.pairwise(g, d, learner=learner), theory.pairwise)
    return f"equal tasks: {equal}; {close}"


def kt_stochastic() -> str:
    """Mean regret with skewed activations, over the bound for known probabilities."""
    graph, best = graphs.star(8), 0.0
    q = np.arange(8.0, 0.0, -1.0) / 36.0
    tasks = np.full((8, 1), 4.0)
    for share in (0.5, 0.52, 0.54, 0.56):
        finals = []
        for seed in range(SEEDS):
            rng = np.random.default_rng(seed)
            agents = streams.stochastic(ROUNDS, q, rng)
            gradients = np.where(rng.random((ROUNDS, 1)) < share, -1.0, 1.0)
            stream = mtcool.Stream(agents, streams.linear(gradients), comparator=tasks)
            net = mtcool.mt_co2ol(
                graph, 1, learner=MTFTRLKT(), weights="proportional", rates="stochastic", q=q
            )
            finals.append(mtcool.simulate(net, stream).regret[-1])
        bound = theory.kt_stochastic(graph, tasks, q, ROUNDS).value
        best = max(best, float(np.mean(finals)) / bound)
    return f"at most {best:.2f} of the bound (star, means of {SEEDS} runs)"


def known_variances() -> str:
    """Mean private regret with one expert on gradients that all point one way, over the bound."""
    ratios = [f"{_one_way(tree, epsilon):.2f}" for tree, epsilon in ONE_WAY]
    return f"binary tree {ratios[0]}, smooth tree {ratios[1]} of the bound (means of 50 cliques)"


def noise_on_every_gradient() -> str:
    """The same with noise on every gradient, where gradients are short enough to be drowned."""
    ratio = max(_one_way(privacy.PerGradient(), 3.0, size) for size in (0.02, 0.05, 1.0))
    return f"at most {ratio:.2f} of the bound (means of 50 cliques)"


ONE_WAY = ((privacy.BinaryTree(), 0.3), (privacy.SmoothTree(), 0.1))


def _one_way(aggregator: Any, epsilon: float, size: float = 1.0) -> float:
    """Regret over bound of 50 cliques of 4 agents, each with 600 gradients of this size."""
    graph = graphs.cliques([4] * 50)
    agents, tasks = np.tile(np.arange(200), 600), np.full((200, 1), -1.0)
    gradients = np.full((120_000, 1), size)
    stream = mtcool.Stream(agents, streams.linear(gradients), comparator=tasks)
    level = Privacy(epsilon, 600, aggregator=aggregator)
    net = mtcool.dpmt_co2ol(graph, 1, level, learner=MTFTRL(experts=(0.0,)), seed=1)
    counts = np.full(200, 600)
    question = Question(graph, net.settings, "uniform", None, tasks, counts)
    bound = net.settings.algorithm.bound(question)
    assert bound is not None
    return float(mtcool.simulate(net, stream, times=[120_000]).regret[-1]) / bound.value


def published_privacy() -> str:
    """True epsilon of the paper's noise, and the noise that is needed."""
    graph = graphs.complete(30)
    published = published_noise(graph, 10, Privacy(1.0, 150_000, calibration="paper"))
    needed = published_noise(graph, 10, Privacy(1.0, 150_000))
    ratio = published.gradients[0] / needed.gradients[0]
    return (
        f"N = 30, T = 150 000: the published noise is {published.promised[0]:.3f} of the epsilon "
        f"asked for, {ratio:.0f} times the noise that is needed"
    )


def private_regret() -> str:
    """Mean regret with the paper's noise on linear losses, over the bound where that says much."""
    graph, rounds, epsilon, rows = graphs.ring(6), 20_000, 60.0, []
    for seed in range(SEEDS):
        stream = streams.linear_stream(graph, 1, rounds, seed, drift=4.0, smoothness=10.0)
        privacy = Privacy(epsilon, rounds, calibration="paper")
        net = mtcool.dpmt_co2ol(graph, 1, privacy, learner=MTFTRL(free_last=True), seed=seed)
        trace = mtcool.simulate(net, stream)
        counts = np.bincount(stream.agents, minlength=graph.size)
        bound = theory.private(graph, stream.comparator, counts, epsilon).value
        # Predicting zero pays nothing: its regret is what the best tasks gain.
        rows.append((trace.regret[-1], bound, trace.regret[-1] - trace.loss[-1]))
    regret, bound, nothing = np.mean(rows, axis=0)
    return (
        f"{regret / bound:.2f} of the bound, itself {bound / nothing:.2f} of the regret of "
        f"predicting zero (ring, epsilon {epsilon:g}, T = 20 000, mean of {SEEDS} runs)"
    )


def _rows(name: str) -> list[dict[str, str]]:
    with open(DATA / f"{name}.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _estimate(row: dict[str, str]) -> str:
    mean, error = float(row["regret"]), float(row["regret_error"])
    decimals = max(0, 1 - math.floor(math.log10(error)))
    return f"{mean:.{decimals}f} ± {error:.{decimals}f}"


def _winners(name: str) -> str:
    points: dict[float, tuple[float, str]] = {}
    for row in _rows(name):
        found = (float(row["regret"]), row["algorithm"])
        sigma = round(float(row["sigma"]), 3)
        points[sigma] = min(points.get(sigma, (math.inf, "")), found)
    words, last = [], ""
    for sigma, (_, best) in sorted(points.items()):
        if best != last:
            words.append(f"{best} from {sigma:g}")
            last = best
    return ", ".join(words)
