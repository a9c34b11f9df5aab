"""Whether sharing beats learning alone: tasks, rounds and neighbours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import mtcool
from mtcool import theory
from mtcool.graphs import Graph, circulant, complete, own_weights
from mtcool.streams import quadratic_stream

from .drawing import BLACK, GREEN, OWN, Floats, canvas, chart, crossing, words_of
from .tasks import partly_own

PAGE = "when-sharing-pays.md"
DIM, LENGTH = 4, 0.6
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
ROUNDS = (10, 30, 100, 300, 1000)


class Measured(NamedTuple):
    """Regret of sharing over regret of learning alone."""

    shares: tuple[float, ...]
    rounds: tuple[int, ...]
    ratios: dict[int, Floats]
    """For so many neighbours, (rounds, shares)."""
    borders: dict[int, float]
    """For so many neighbours, the share at which the bounds meet."""
    agents: int
    noise: float
    by_noise: dict[float, Floats]
    """With the third number of rounds and the middle one of neighbours: ratios for each share."""


def measure(
    agents: int = 30,
    neighbours: tuple[int, ...] = (2, 8, 29),
    shares: tuple[float, ...] = SHARES,
    rounds: tuple[int, ...] = ROUNDS,
    replicates: int = 6,
    noise: float = 0.3,
    others: tuple[float, ...] = (0.03, 0.1, 1.0),
    seed: int = 5,
) -> Measured:
    """Play the same losses shared and alone; `rounds` are those of each agent."""
    ratios, borders = {}, {}
    for degree in neighbours:
        graph = _graph(agents, degree)
        columns = [_ratios(graph, share, rounds, replicates, noise, seed) for share in shares]
        ratios[degree] = np.array(columns).T
        borders[degree] = _border(graph, replicates, seed)
    graph = _graph(agents, neighbours[len(neighbours) // 2])
    by_noise = {
        other: np.array(
            [_ratios(graph, share, rounds[:3], replicates, other, seed)[-1] for share in shares]
        )
        for other in others
    }
    return Measured(shares, rounds, ratios, borders, agents, noise, by_noise)


def _graph(agents: int, degree: int) -> Graph:
    return complete(agents) if degree == agents - 1 else circulant(agents, degree)


def _ratios(
    graph: Graph, share: float, rounds: tuple[int, ...], replicates: int, noise: float, seed: int
) -> Floats:
    times = [graph.size * length for length in rounds]
    totals = np.zeros((2, len(times)))
    for replicate in range(replicates):
        rng = np.random.default_rng([seed, replicate])
        tasks = partly_own(graph.size, DIM, share, LENGTH, rng)
        active = np.tile(np.arange(graph.size), rounds[-1])
        given = {"rounds": active.size, "seed": rng, "noise": noise, "agents": active}
        stream = quadratic_stream(graph, tasks, **given)
        lipschitz = stream.lipschitz(radius=1.0)
        for total, make in zip(totals, (mtcool.mt_co2ol, mtcool.i_ftrl), strict=True):
            net = make(graph, DIM, lipschitz=lipschitz)
            total += mtcool.simulate(net, stream, times=times).regret
    return np.asarray(totals[0] / totals[1])


def _border(graph: Graph, replicates: int, seed: int) -> float:
    """Where the bound of sharing, by cliques that know their variances, is that of being alone."""
    counts, shares = np.full(graph.size, 100), np.linspace(0.0, 1.0, 51)
    excess = np.zeros(shares.size)
    for replicate in range(replicates):
        for k, share in enumerate(shares):
            rng = np.random.default_rng([seed, replicate])
            tasks = partly_own(graph.size, DIM, share, LENGTH, rng)
            sharing = theory.known_variances(graph, tasks, counts)
            alone = theory.known_variances(graph, tasks, counts, weights=own_weights(graph))
            excess[k] += sharing.value - alone.value
    return crossing(shares, excess)


def words(found: Measured) -> list[str]:
    """What the charts do not say: where they cross 1, where the bounds meet, and other noise."""
    lines = [f"rounds of each agent: {', '.join(map(words_of, found.rounds))}"]
    for degree, ratios in found.ratios.items():
        pays = ", ".join(_until(found.shares, row) for row in ratios)
        border = found.borders[degree]
        lines.append(f"{degree} neighbours: pays up to {pays}; the bounds meet at {border:.2f}")
    for noise, row in found.by_noise.items():
        lines.append(
            f"noise {noise:g} in place of {found.noise:g}: {row[0]:.2f} for equal tasks, pays up "
            f"to {_until(found.shares, row)}"
        )
    return lines


def _until(shares: tuple[float, ...], ratios: Floats) -> str:
    border = crossing(shares, np.log(ratios))
    return "the end" if np.isnan(border) else f"{border:.2f}"


def draw(found: Measured) -> Figure:
    """A chart for each number of neighbours."""
    figure = canvas(3.5)
    panels = figure.subplots(1, len(found.ratios), sharey=True, squeeze=False)[0]
    places = np.arange(len(found.shares))
    for axes, (degree, ratios) in zip(panels, found.ratios.items(), strict=True):
        chart(axes, ratios, found.shares, found.rounds)
        axes.set_title(f"{degree} neighbours", fontsize=10.5)
        axes.tick_params(labelsize=8)
        border = found.borders[degree]
        if not np.isnan(border):
            place = float(np.interp(border, found.shares, places))
            axes.axvline(place, color=GREEN, linestyle="--", linewidth=2.0)
    panels[0].set_ylabel("rounds of each agent", fontsize=9.5)
    panels[len(panels) // 2].set_xlabel(OWN, fontsize=9.5)
    figure.suptitle(
        "regret of sharing over regret alone: blue, sharing pays; orange, it costs", fontsize=10.5
    )
    panels[0].plot([], [], color=BLACK, linewidth=2.0, label="no difference (measured)")
    panels[0].plot([], [], "--", color=GREEN, linewidth=2.0, label="where the bounds meet")
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    return figure
