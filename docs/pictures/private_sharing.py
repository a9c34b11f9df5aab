"""Whether private sharing beats learning alone: tasks and epsilon."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import mtcool
from mtcool import theory
from mtcool.graphs import complete, own_weights
from mtcool.learners import MTFTRL
from mtcool.privacy import SmoothTree
from mtcool.streams import Stream

from .drawing import BLACK, GREEN, OWN, Floats, canvas, chart, crossing, words_of
from .tasks import leaning, partly_own

PAGE = "when-sharing-pays.md"
DIM, DRIFT = 2, 3.0
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
LEVELS = (0.3, 1.0, 3.0, 10.0, 30.0)


class Measured(NamedTuple):
    """Regret of private sharing over regret of learning alone."""

    shares: tuple[float, ...]
    levels: tuple[float, ...]
    ratios: Floats
    """(levels and without privacy, shares)."""
    cutoffs: Floats
    """For each share `theory.sharing_cutoff`: the epsilon at which the bounds meet."""
    agents: int
    rounds: int


def measure(
    agents: int = 12,
    rounds: int = 300,
    shares: tuple[float, ...] = SHARES,
    levels: tuple[float, ...] = LEVELS,
    replicates: int = 6,
    seed: int = 13,
) -> Measured:
    """Play the same linear losses privately, openly and alone; `rounds` are those of each agent."""
    ratios = np.zeros((len(levels) + 1, len(shares)))
    for column, share in enumerate(shares):
        streams = [_stream(agents, rounds, share, [seed, k]) for k in range(replicates)]
        ratios[:, column] = _ratios(streams, _learner(share), levels, rounds)
    cutoffs = [_cutoff(agents, rounds, share, seed) for share in shares]
    return Measured(shares, levels, ratios, np.array(cutoffs), agents, rounds)


def _learner(share: float) -> MTFTRL:
    """One expert that knows how different the tasks are; agents' own noise adds a little."""
    return MTFTRL(experts=[min(1.0, share**2 + 0.05)])


def _stream(agents: int, rounds: int, share: float, seed: list[int]) -> Stream:
    rng = np.random.default_rng(seed)
    directions = partly_own(agents, DIM, share, 1.0, rng)
    return leaning(directions, rounds, DRIFT / np.sqrt(rounds), rng)


def _ratios(
    streams: list[Stream], learner: MTFTRL, levels: tuple[float, ...], rounds: int
) -> Floats:
    totals = np.zeros(len(levels) + 2)
    graph = complete(len(streams[0].labels))
    for number, stream in enumerate(streams):
        nets = [
            mtcool.dpmt_co2ol(
                graph,
                DIM,
                mtcool.Privacy(level, rounds, aggregator=SmoothTree()),
                learner=learner,
                seed=number,
            )
            for level in levels
        ]
        nets += [mtcool.mt_co2ol(graph, DIM, learner=learner), mtcool.i_ftrl(graph, DIM)]
        totals += [mtcool.simulate(net, stream, times=[len(stream)]).regret[-1] for net in nets]
    return np.asarray(totals[:-1] / totals[-1])


def _cutoff(agents: int, rounds: int, share: float, seed: int) -> float:
    graph, counts, learner = complete(agents), [rounds] * agents, _learner(share)
    tasks = partly_own(agents, DIM, share, 1.0, np.random.default_rng([seed, 0]))
    variance = learner.variances(agents)[0]

    def sharing(epsilon: float) -> theory.Bound:
        level = mtcool.Privacy(epsilon, rounds, aggregator=SmoothTree())
        noise = mtcool.published_noise(graph, DIM, level, learner=learner).gradients
        return theory.private_known_variances(graph, tasks, counts, noise, variance=variance)

    alone = theory.known_variances(graph, tasks, counts, weights=own_weights(graph))
    return theory.sharing_cutoff(sharing, alone)


def words(found: Measured) -> list[str]:
    """Where the chart crosses 1, and where the bounds meet."""
    lines = [f"{'own part of a task:':<28}" + "".join(f"{share:6g}" for share in found.shares)]
    logarithms = np.log(found.levels)
    meets = [np.exp(crossing(logarithms, np.log(column))) for column in found.ratios[:-1].T]
    borders = {"pays above ε, measured:": meets, "theory.sharing_cutoff:": found.cutoffs}
    for name, row in borders.items():
        cells = [f"{one:6.1f}" if np.isfinite(one) else f"{'none':>6}" for one in row]
        lines.append(f"{name:<28}" + "".join(cells))
    return lines


def draw(found: Measured) -> Figure:
    """One chart, with the cut-off of the bounds."""
    figure = canvas(3.5)
    axes = figure.subplots()
    rows = [*found.levels, 0.0]
    chart(axes, found.ratios, found.shares, rows)
    axes.set_yticks(range(len(rows)), [*map(words_of, found.levels), "not private"])
    known = np.isfinite(found.cutoffs)
    places = np.arange(len(found.shares))[known]
    # What is above the largest level lies between it and no privacy.
    levels, top = np.log([*found.levels, 1e4]), np.arange(len(rows))
    heights = np.interp(np.log(found.cutoffs[known]), levels, top)
    axes.plot(places, heights, "--", color=GREEN, linewidth=2.2, label="theory.sharing_cutoff")
    axes.plot([], [], color=BLACK, linewidth=2.0, label="no difference (measured)")
    axes.set_ylabel("ε of every agent", fontsize=9.5)
    axes.set_xlabel(OWN, fontsize=9.5)
    axes.set_title("regret of private sharing over regret alone", fontsize=10.5)
    axes.tick_params(labelsize=8.5)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    return figure
