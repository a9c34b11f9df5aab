"""Regret of private sharing against epsilon, and the epsilon from which on it pays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import mtcool
from mtcool import theory
from mtcool.graphs import own_weights
from mtcool.privacy import BLT, BinaryTree, SmoothTree
from mtcool.streams import Stream

from .drawing import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    YELLOW,
    Floats,
    canvas,
    crossing,
    plain,
    words_of,
)
from .tasks import leaning

PAGE = "what-epsilon-buys.md"
LEVELS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
VARIANCE = 0.05
DRIFT = 3.0
"""Over the root of the rounds: so weak that an agent alone needs the whole run to be sure of it."""
LEARNER = mtcool.learners.MTFTRL(experts=[VARIANCE])
PUBLISHED, TREE, SMOOTH, GAUSS = (
    "binary tree, the paper's noise",
    "binary tree, tight",
    "smooth tree",
    "BLT (Gaussian)",
)
MECHANISMS: dict[str, Callable[..., mtcool.Privacy]] = {
    PUBLISHED: partial(mtcool.Privacy, aggregator=BinaryTree(), calibration="paper"),
    TREE: partial(mtcool.Privacy, aggregator=BinaryTree()),
    SMOOTH: partial(mtcool.Privacy, aggregator=SmoothTree()),
    GAUSS: partial(mtcool.Privacy, aggregator=BLT(), delta=1e-6),
}
LOOKS = {PUBLISHED: (GREY, "v"), TREE: (YELLOW, "^"), SMOOTH: (BLUE, "o"), GAUSS: (GREEN, "D")}


class Measured(NamedTuple):
    """Means over the replicates; regrets are shares of that of learning alone."""

    levels: tuple[float, ...]
    private: dict[str, Floats]
    open: float
    """Regret of sharing without noise."""
    alone: float
    """Regret of learning alone, as it is."""
    agents: int
    rounds: int
    cutoffs: dict[int, Floats]
    """For so many agents, the epsilon at which private sharing meets learning alone."""
    promised: dict[int, Floats]
    """The same of the two bounds."""
    lengths: tuple[int, ...]


def measure(
    agents: int = 12,
    rounds: int = 1000,
    replicates: int = 12,
    levels: tuple[float, ...] = LEVELS,
    sizes: tuple[int, ...] = (4, 12, 24),
    lengths: tuple[int, ...] = (100, 300, 1000, 3000),
    seed: int = 11,
) -> Measured:
    """Play the same streams with every mechanism and level; `rounds` are those of each agent."""
    streams = _streams(agents, rounds, replicates, seed)
    alone = _mean(mtcool.i_ftrl, streams)
    private = {
        name: np.array([_private(streams, make, level) for level in levels]) / alone
        for name, make in MECHANISMS.items()
    }
    cutoffs, promised = {}, {}
    for size in sizes:
        found = [_cutoff(size, length, replicates, levels, seed) for length in lengths]
        cutoffs[size] = np.array(found)
        promised[size] = np.array([_promised(size, length) for length in lengths])
    sharing = partial(mtcool.mt_co2ol, learner=LEARNER)
    return Measured(
        levels,
        private,
        _mean(sharing, streams) / alone,
        alone,
        agents,
        rounds,
        cutoffs,
        promised,
        lengths,
    )


def _streams(agents: int, rounds: int, replicates: int, seed: int) -> list[Stream]:
    """Every agent's gradients lean the same way: nothing speaks against sharing but noise."""
    drift, directions = DRIFT / np.sqrt(rounds), np.ones((agents, 1))
    return [
        leaning(directions, rounds, drift, np.random.default_rng([seed, replicate]))
        for replicate in range(replicates)
    ]


def _mean(make: Callable[..., mtcool.Network], streams: list[Stream]) -> float:
    def regret(stream: Stream) -> float:
        net = make(mtcool.graphs.complete(len(stream.labels)), 1)
        return float(mtcool.simulate(net, stream, times=[len(stream)]).regret[-1])

    return float(np.mean([regret(stream) for stream in streams]))


def _private(streams: list[Stream], make: Callable[..., mtcool.Privacy], epsilon: float) -> float:
    horizon = len(streams[0]) // len(streams[0].labels)
    regrets = []
    for number, stream in enumerate(streams):
        graph, level = mtcool.graphs.complete(len(stream.labels)), make(epsilon, horizon)
        net = mtcool.dpmt_co2ol(graph, 1, level, learner=LEARNER, seed=number)
        regrets.append(mtcool.simulate(net, stream, times=[len(stream)]).regret[-1])
    return float(np.mean(regrets))


def _cutoff(
    agents: int, rounds: int, replicates: int, levels: tuple[float, ...], seed: int
) -> float:
    """Where the regret of the smooth tree meets that of learning alone, on straight lines."""
    more = max(1, min(10, 12_000 // (agents * rounds)))  # short runs vary more, and cost less
    streams = _streams(agents, rounds, more * replicates, seed)
    alone = _mean(mtcool.i_ftrl, streams)
    ratios = [_private(streams, MECHANISMS[SMOOTH], level) / alone for level in levels]
    return float(np.exp(crossing(np.log(levels), np.log(ratios))))


def _promised(agents: int, rounds: int) -> float:
    graph, tasks, counts = mtcool.graphs.complete(agents), [[1.0]] * agents, [rounds] * agents

    def sharing(epsilon: float) -> theory.Bound:
        level = MECHANISMS[SMOOTH](epsilon, rounds)
        noise = mtcool.published_noise(graph, 1, level, learner=LEARNER).gradients
        return theory.private_known_variances(graph, tasks, counts, noise, variance=VARIANCE)

    alone = theory.known_variances(graph, tasks, counts, weights=own_weights(graph))
    return theory.sharing_cutoff(sharing, alone)


def words(found: Measured) -> list[str]:
    """The curves and the cut-offs as tables."""
    head = "".join(f"{level:>7g}" for level in found.levels)
    lines = [
        f"{found.agents} agents, {found.rounds:,} rounds each; regret alone {found.alone:.0f}, "
        f"sharing without noise {found.open:.2f} of it",
        f"{'regret over that of learning alone, at ε =':<42}{head}",
    ]
    for name, ratios in found.private.items():
        lines.append(f"{name:<42}" + "".join(f"{ratio:7.2f}" for ratio in ratios))
    head = "".join(f"{length:>7,}" for length in found.lengths)
    lines.append(f"{'ε from which on it pays, rounds each:':<42}{head}")
    for size, cutoffs in found.cutoffs.items():
        for name, row in (("measured", cutoffs), ("by the bounds", found.promised[size])):
            cells = "".join(f"{one:7.2f}" for one in row)
            lines.append(f"{f'{size} agents, {name}':<42}{cells}")
    return lines


def draw(found: Measured) -> Figure:
    """Left the price of privacy, right where it is worth paying."""
    figure = canvas(4.2)
    left, right = figure.subplots(1, 2)
    left.axhline(1.0, color=ORANGE, linewidth=1.8, linestyle="--")
    left.axhline(found.open, color=BLACK, linewidth=1.8, linestyle="--")
    for name, ratios in found.private.items():
        colour, marker = LOOKS[name]
        left.plot(found.levels, ratios, marker=marker, color=colour, markersize=4.5, label=name)
    low = found.levels[0]
    left.text(found.levels[-1], 1.05, "learning alone", color=ORANGE, ha="right", fontsize=8.5)
    left.text(low, found.open * 1.05, "sharing, not private", color=BLACK, fontsize=8.5)
    left.set_xscale("log")
    left.set_yscale("log")
    left.set_ylim(found.open * 0.7, None)
    left.set_yticks([0.2, 0.5, 1.0, 2.0, 5.0])
    left.minorticks_off()
    plain(left, "ε (smaller is more private)", "regret, alone = 1", "what ε buys")
    below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.2), "frameon": False}
    left.legend(fontsize=8.5, **below)
    looks = ((SKY, "s"), (BLUE, "o"), (PURPLE, "^"))
    for (size, cutoffs), (colour, marker) in zip(found.cutoffs.items(), looks, strict=False):
        right.plot(found.lengths, cutoffs, marker=marker, color=colour, label=f"{size} agents")
        right.plot(found.lengths, found.promised[size], ":", color=colour, linewidth=1.8)
    right.plot([], [], ":", color=GREY, label="where the bounds meet")
    right.set_xscale("log")
    right.set_yscale("log")
    right.set_xticks(found.lengths)
    plain(right, "rounds of each agent", "ε from which on sharing pays", "when it is worth it")
    right.minorticks_off()
    right.set_yticks([0.3, 0.5, 1.0, 2.0, 3.0])
    right.legend(fontsize=8.5, **below)
    for axis in (left.xaxis, left.yaxis, right.xaxis, right.yaxis):
        axis.set_major_formatter(words_of)
    return figure
