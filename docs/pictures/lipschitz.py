"""Regret against the L that an algorithm is given, with the same losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import mtcool
from mtcool.streams import Stream, quadratic

from .drawing import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, Floats, canvas, plain, words_of
from .tasks import partly_own

PAGE = "why-l-decides.md"
AGENTS, DIM = 12, 2
GIVEN = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
SHOWN = (0.1, 5.0, 100.0)
"""Of these the regret is drawn over the rounds."""


def _sharing(lipschitz: float | str, **settings: str) -> mtcool.Network:
    graph = mtcool.graphs.complete(AGENTS)
    return mtcool.mt_co2ol(graph, DIM, lipschitz=lipschitz, **settings)


def _alone(lipschitz: float | str, **settings: str) -> mtcool.Network:
    graph = mtcool.graphs.complete(AGENTS)
    return mtcool.i_ftrl(graph, DIM, lipschitz=lipschitz, **settings)


MAKERS: dict[str, Callable[..., mtcool.Network]] = {"sharing": _sharing, "alone": _alone}
LOOKS = {"sharing": (BLUE, "o", "sharing (MT-CO2OL)"), "alone": (ORANGE, "s", "alone (i-FTRL)")}


STYLES = ((PURPLE, "--"), (BLUE, "-"), (BLACK, "-."))


class Measured(NamedTuple):
    """Means over the replicates."""

    given: tuple[float, ...]
    regret: dict[str, Floats]
    """In the end, for each L."""
    adaptive: dict[str, float]
    clipped: Floats
    """Share of the rounds whose gradient was shortened, when sharing."""
    bound: float
    """`stream.lipschitz(radius=1.0)`."""
    longest: float
    """The longest gradient that sharing met with that L."""
    times: Floats
    curves: dict[str, Floats]
    """Regret of sharing over the rounds, for some L and for "adaptive"."""


def measure(
    rounds: int = 300, replicates: int = 8, given: tuple[float, ...] = GIVEN, seed: int = 7
) -> Measured:
    """Play the same streams with every L; `rounds` are those of each agent."""
    streams = [
        _stream(rounds, np.random.default_rng([seed, replicate])) for replicate in range(replicates)
    ]
    times = np.unique(np.geomspace(10, len(streams[0]), 40).astype(int))

    def play(name: str, lipschitz: float | str) -> tuple[Floats, float]:
        excess = {} if lipschitz == "adaptive" else {"on_excess": "clip"}
        traces = [
            mtcool.simulate(MAKERS[name](lipschitz, **excess), stream, times=times)
            for stream in streams
        ]
        curve = np.mean([trace.regret for trace in traces], axis=0)
        return curve, float(np.mean([trace.clipped[-1] for trace in traces]) / len(streams[0]))

    sharing = [play("sharing", lipschitz) for lipschitz in given]
    alone = [play("alone", lipschitz)[0][-1] for lipschitz in given]
    unknown = {name: play(name, "adaptive")[0] for name in MAKERS}
    curves = {
        f"{lipschitz:g}": curve
        for lipschitz, (curve, _) in zip(given, sharing, strict=True)
        if lipschitz in SHOWN
    }
    bounds = [stream.lipschitz(radius=1.0) for stream in streams]
    return Measured(
        given,
        {"sharing": np.array([curve[-1] for curve, _ in sharing]), "alone": np.array(alone)},
        {name: float(curve[-1]) for name, curve in unknown.items()},
        np.array([share for _, share in sharing]),
        float(np.mean(bounds)),
        float(np.mean([_longest(one, top) for one, top in zip(streams, bounds, strict=True)])),
        times.astype(np.float64),
        curves | {"adaptive": unknown["sharing"]},
    )


def _stream(rounds: int, rng: np.random.Generator) -> Stream:
    """Targets around the tasks, with a long tail: most errors are small, and a few are large."""
    tasks = partly_own(AGENTS, DIM, 0.2, 0.6, rng)
    active = rng.integers(AGENTS, size=AGENTS * rounds)
    errors = 0.5 * (rng.exponential(size=(active.size, DIM)) - 1.0)
    return Stream(active, quadratic(tasks[active] + errors), tasks)


def _longest(stream: Stream, lipschitz: float) -> float:
    trace = mtcool.simulate(_sharing(lipschitz), stream, per_round=True)
    assert trace.predictions is not None
    return float(np.linalg.norm(trace.predictions - stream.losses.rows, axis=1).max())


def words(found: Measured) -> list[str]:
    """A line for every L, and what is known about the gradients."""
    lines = [
        f"L = {lipschitz:>5g}: sharing {sharing:6.1f}, alone {alone:6.1f}, "
        f"{clipped:6.1%} of the gradients clipped"
        for lipschitz, sharing, alone, clipped in zip(
            found.given, *found.regret.values(), found.clipped, strict=True
        )
    ]
    unknown = found.adaptive
    return [
        *lines,
        f"adaptive : sharing {unknown['sharing']:6.1f}, alone {unknown['alone']:6.1f}",
        f"stream.lipschitz(radius=1.0): {found.bound:.1f}; longest gradient that was met: "
        f"{found.longest:.1f}",
    ]


def draw(found: Measured) -> Figure:
    """Left the regret in the end against L, right the regret over the rounds for some L."""
    figure = canvas(3.6)
    left, right = figure.subplots(1, 2, sharey=False, width_ratios=[1.15, 1.0])
    left.axvspan(found.longest, found.bound, color="#e4e4e4", linewidth=0)
    for name, regret in found.regret.items():
        colour, marker, label = LOOKS[name]
        left.plot(found.given, regret, color=colour, marker=marker, markersize=4.5, label=label)
        left.axhline(found.adaptive[name], color=colour, linestyle=":", linewidth=1.6, zorder=0)
    left.set_xscale("log")
    left.set_yscale("log")
    for axis in (left.xaxis, left.yaxis):
        axis.set_major_formatter(words_of)
    plain(left, "L that was given", "regret in the end", "too small, right, too large")
    left.plot([], [], ":", color=GREY, label='"adaptive": no L is given')
    left.legend(fontsize=8.5, frameon=False, loc="lower left")
    low, high = found.regret["sharing"].min() / 5.0, found.regret["alone"].max() * 1.3
    left.set_ylim(low, high)
    text = "from the longest gradient\nto stream.lipschitz"
    left.text(found.longest * 0.9, high, text, ha="right", va="top", fontsize=8.5, color=GREY)
    looks = {"adaptive": (GREEN, ":")} | dict(zip(map(words_of, SHOWN), STYLES, strict=True))
    for name, curve in found.curves.items():
        colour, style = looks[name]
        label = name if name == "adaptive" else f"L = {name}"
        right.plot(found.times, curve, style, color=colour, linewidth=2.0, label=label)
    plain(right, "round", "regret so far, sharing", "over the rounds")
    right.xaxis.set_major_formatter(words_of)
    right.legend(fontsize=8.5, frameon=False, loc="upper left")
    return figure
