"""Who gains, and the error over time."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mtcool.learn.metrics.evaluation import COMPARED
from mtcool.learn.report.findings import DRAWN
from mtcool.learn.report.percents import stretch_losses
from mtcool.learn.report.pictures import (
    COLOURS,
    GAINS,
    LOSES,
    OPEN,
    TITLES,
    WIDTH,
    agent_percents,
)
from mtcool.learn.running.outcome import LearnOutcome
from mtcool.reports.figures import (
    GRID,
    bars,
    legend,
    panels,
    save,
    styled,
    write_dates,
    write_plainly,
)
from mtcool.reports.numbers import short_name
from mtcool.types import AnyArray, Floats, Given, Integers

CURVE = {"regression": "error (RMSE)", "classification": "log loss"}
SHAPES = 2000
"""Agents above which a figure has their dots as an image inside: a shape for each takes long."""
DATES = (np.datetime64("0001-01-02"), np.datetime64("9999-12-30"))
"""Days that the calendar of matplotlib has."""


@styled
def draw_agents(outcome: LearnOutcome, path: Path) -> bool:
    """Draw the gain of every agent with its interval, the largest first."""
    share, margin = agent_percents(outcome)
    known = np.flatnonzero(np.isfinite(share) & np.isfinite(margin))
    if known.size == 0 or not outcome.shares:
        return False
    order = known[np.argsort(-share[known], kind="stable")]
    draw = _named if order.size <= DRAWN else _ranked
    figure = draw(outcome, order, share[order], margin[order])
    legend(figure, markerscale=1 if order.size <= DRAWN else 2)
    save(figure, path, ["svg"])
    return True


def _named(outcome: LearnOutcome, order: Integers, share: Floats, margin: Floats) -> Figure:
    """A line for each agent, from left to right."""
    figure, (axes,) = panels(WIDTH, 0.9 + 0.16 * order.size)
    rank = np.arange(1.0, order.size + 1)
    for colour, name, chosen in _kinds(share, margin):
        y, middle, reach = rank[chosen], share[chosen], margin[chosen]
        ends = (np.stack([middle + k * reach, y], axis=1) for k in (-1, 1))
        bars(axes, *ends, color=colour, linewidth=1.2)
        axes.plot(middle, y, "o", color=colour, markersize=4.5, label=name)
    names = [short_name(outcome.agents[k], 24) for k in order]
    axes.set_yticks(rank, names, fontsize=7, parse_math=False)
    axes.set(xlim=_limits(share, margin), ylim=(order.size + 0.5, 0.5))
    axes.set_xlabel("gain on learning alone, % (with 95 % interval)")
    write_plainly(axes.xaxis, 7)
    axes.axvline(0.0, color="black", linewidth=0.6)
    axes.grid(axis="x", color=GRID)
    return figure


def _ranked(outcome: LearnOutcome, order: Integers, share: Floats, margin: Floats) -> Figure:
    """The gains of many agents from the largest to the smallest."""
    figure, (axes,) = panels(WIDTH, 3.3)
    rank = np.arange(1.0, order.size + 1)
    for colour, name, chosen in _kinds(share, margin):
        x, middle, reach = rank[chosen], share[chosen], margin[chosen]
        ends = (np.stack([x, middle + k * reach], axis=1) for k in (-1, 1))
        opacity, size, layer = (0.35, 2.3, 2) if colour == OPEN else (0.8, 3.0, 3)
        look: dict[str, Given] = {
            "color": colour,
            "zorder": layer,
            "rasterized": order.size > SHAPES,
        }
        bars(axes, *ends, linewidth=0.75, alpha=opacity, **look)
        axes.plot(x, middle, "o", markersize=size, label=name, **look)
    axes.set(xlim=(0.0, order.size + 1.0), ylim=_limits(share, margin))
    axes.set_xlabel(f"agents by their gain, {order.size:,} of {len(outcome.agents):,}")
    axes.set_ylabel("gain on learning alone, %")
    write_plainly(axes.xaxis, 7)
    write_plainly(axes.yaxis, 7)
    axes.axhline(0.0, color="black", linewidth=0.6)
    axes.grid(color=GRID)
    return figure


def _kinds(share: Floats, margin: Floats) -> list[tuple[str, str, Integers]]:
    """Colour and name of what gains, loses and does neither for sure, and which agents do."""
    sure = np.abs(share) > margin
    kinds = [
        (GAINS, "gains", sure & (share > 0)),
        (LOSES, "loses", sure & (share <= 0)),
        (OPEN, "no clear difference", ~sure),
    ]
    return [(colour, name, np.flatnonzero(chosen)) for colour, name, chosen in kinds]


def _limits(share: Floats, margin: Floats) -> tuple[float, float]:
    """Room for all means and intervals; the few longest may be cut if the rest would be tiny."""
    ends = np.concatenate([share - margin, share + margin])
    low, high = np.quantile(ends, [0.1, 0.9])
    reach = high - low
    low = min(max(low - reach, ends.min()), share.min(), 0.0)
    high = max(min(high + reach, ends.max()), share.max(), 0.0)
    room = 0.06 * max(high - low, 1e-9)
    return low - room, high + room


@styled
def draw_over_time(outcome: LearnOutcome, path: Path) -> bool:
    """Draw the error over the stream, and below it the gain added up so far."""
    times, rows, metrics = outcome.evaluation.over_time(COMPARED)
    used = rows > 0
    if np.unique(times[used].mean(axis=1)).size < 2:
        return False
    # Stretches of one time, such as those of a day with many rows, are one point of a curve.
    x, point = np.unique(times[used].mean(axis=1), return_inverse=True)
    counts: Floats = np.bincount(point, rows[used]).astype(float)
    paid: dict[str, Floats] = {
        name: np.bincount(point, rows[used] * stretch_losses(metrics, name)[used]).astype(float)
        for name in ("pooled", "alone", "learned")
    }
    curves = {name: _smooth(losses, counts) for name, losses in paid.items()}
    if outcome.evaluation.task == "regression":
        curves = {name: np.sqrt(curve) for name, curve in curves.items()}
    gains = {name: _so_far(paid, name) for name in ("alone", "pooled")}
    figure, (above, below) = panels(WIDTH, 4.5, 2, sharex=True, height_ratios=[3, 2])
    moments = _moments(outcome, x)
    _curves(above, moments, curves, CURVE[outcome.evaluation.task])
    legend(figure)
    _curves(below, moments, gains, "gain so far, %")
    below.set_ylim(*_around(_settled(gains)))
    below.axhline(0.0, color="black", linewidth=0.6)
    if moments is x:
        write_plainly(below.xaxis, 7)
        below.set_xlabel("time")
    else:
        write_dates(below.xaxis)
    names = [f"on {TITLES[name]}" for name in gains]
    figure.legend(
        below.lines[:2], names, loc="outside lower center", ncols=2, frameon=False, fontsize=8
    )
    save(figure, path, ["svg"])
    return True


def _curves(axes: Axes, x: AnyArray, curves: dict[str, Floats], words: str) -> None:
    for name, curve in curves.items():
        axes.plot(x, curve, color=COLOURS[name], linewidth=1.2, label=TITLES[name])
    write_plainly(axes.yaxis, 6)
    axes.set_ylabel(words)
    axes.margins(x=0.01)
    axes.grid(color=GRID)


def _moments(outcome: LearnOutcome, seconds: Floats) -> AnyArray:
    """The same moments as dates, where they are dates that a figure can write."""
    if not outcome.dated:
        return seconds
    dates: AnyArray = np.round(1e3 * seconds).astype("datetime64[ms]")
    return dates if DATES[0] <= dates[0] and dates[-1] <= DATES[1] else seconds


def _so_far(paid: dict[str, Floats], other: str) -> Floats:
    """The gain on another over all rows up to each time, from losses of stretches."""
    with np.errstate(divide="ignore", invalid="ignore"):
        gain: Floats = 100 * (1 - np.cumsum(paid["learned"]) / np.cumsum(paid[other]))
    return gain


def _settled(gains: dict[str, Floats]) -> Floats:
    """Gains so far as an axis shows them: the first are those of a few rows, and may be huge."""
    later = np.concatenate([curve[curve.size // 2 :] for curve in gains.values()])
    known: Floats = later[np.isfinite(later)]  # where nobody has erred yet there is no gain
    if known.size == 0:
        return known
    low, high = float(known.min()), float(known.max())
    room = 1.5 * (high - low)
    shown: Floats = np.clip(np.concatenate([*gains.values()]), low - room, high + room)
    return shown


def _around(values: Floats) -> tuple[float, float]:
    """Limits of an axis that shows these values."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    room = 0.05 * (high - low) or 0.5 * max(abs(high), 1e-9)
    return low - room, high + room


def _smooth(paid: Floats, rows: Floats, span: int = 5) -> Floats:
    """Mean losses over five points, where there are many: single ones hide what is common."""
    weights = np.ones(span if paid.size >= 10 * span else 1)
    found: Floats = np.convolve(paid, weights, "same") / np.convolve(rows, weights, "same")
    return found
