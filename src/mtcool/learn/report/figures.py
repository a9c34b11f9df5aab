"""Who gains, and the error over time."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from mtcool.learn.metrics.evaluation import COMPARED
from mtcool.learn.metrics.tallies import Metrics
from mtcool.learn.report.pictures import (
    COLOURS,
    GAINS,
    LOSES,
    OPEN,
    TITLES,
    agent_percents,
    as_dates,
    colour_of,
    name_of,
    save,
)
from mtcool.learn.running.outcome import Outcome
from mtcool.types import Floats, Integers

NAMED = 60
"""Agents that a figure has room to name."""
CURVE = {"regression": ("rmse", "error (RMSE)"), "classification": ("logloss", "log loss")}


def draw_agents(outcome: Outcome, path: Path) -> bool:
    """Draw the gain of every agent with its interval, the largest first."""
    share, margin = agent_percents(outcome)
    known = np.flatnonzero(np.isfinite(share) & np.isfinite(margin))
    if known.size == 0 or not outcome.shares:
        return False
    order = known[np.argsort(-share[known], kind="stable")]
    if order.size <= NAMED:
        canvas = Figure(figsize=(7.5, 1.3 + 0.2 * order.size), layout="constrained")
        _named(canvas.add_subplot(), order, share, margin, outcome)
    else:
        canvas = Figure(figsize=(7.5, 4.0), layout="constrained")
        _ranked(canvas.add_subplot(), order, share, margin)
    looks = {"gains": GAINS, "loses": LOSES, "no clear difference": OPEN}
    marks = [
        Line2D([], [], marker="o", linestyle="none", color=colour, label=name)
        for name, colour in looks.items()
    ]
    canvas.legend(handles=marks, loc="outside upper center", ncols=3, frameon=False)
    save(canvas, path)
    return True


def _named(axes: Axes, order: Integers, share: Floats, margin: Floats, outcome: Outcome) -> None:
    places = np.arange(order.size)
    colours = [colour_of(share[k], margin[k]) for k in order]
    low, high = share[order] - margin[order], share[order] + margin[order]
    axes.hlines(places, low, high, colors=colours, linewidth=1.4)
    axes.scatter(share[order], places, c=colours, s=18, zorder=3)
    axes.set_yticks(range(order.size), [name_of(outcome.agents[k], 24) for k in order], fontsize=8)
    axes.set_ylim(order.size - 0.5, -0.5)
    axes.axvline(0.0, color="black", linewidth=0.8)
    axes.set_xlabel("gain on learning alone, % (with 95 % interval)")
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlim(*_limits(share[order], margin[order]))


def _ranked(axes: Axes, order: Integers, share: Floats, margin: Floats) -> None:
    rank = np.arange(1, order.size + 1)
    low, high = share[order] - margin[order], share[order] + margin[order]
    colours = [colour_of(share[k], margin[k]) for k in order]
    # Thousands of lines would make a heavy SVG.
    axes.vlines(rank, low, high, colors=colours, alpha=0.35, linewidth=1.0, rasterized=True)
    axes.scatter(rank, share[order], c=colours, s=6, zorder=3, rasterized=True)
    axes.axhline(0.0, color="black", linewidth=0.8)
    axes.set_xlabel(f"agents by their gain, {order.size:,} in all")
    axes.set_ylabel("gain on learning alone, %")
    axes.grid(axis="y", alpha=0.3)
    axes.margins(x=0.01)
    axes.set_ylim(*_limits(share[order], margin[order]))


def _limits(share: Floats, margin: Floats) -> tuple[float, float]:
    """Room for all means and intervals; the few longest may be cut if the rest would be tiny."""
    ends = np.concatenate([share - margin, share + margin])
    low, high = np.quantile(ends, [0.1, 0.9])
    reach = high - low
    low = min(max(low - reach, ends.min()), share.min(), 0.0)
    high = max(min(high + reach, ends.max()), share.max(), 0.0)
    room = 0.06 * max(high - low, 1e-9)
    return low - room, high + room


def draw_over_time(outcome: Outcome, path: Path) -> bool:
    """Draw the error over the stream, and below it the gain added up so far."""
    times, rows, metrics = outcome.evaluation.over_time(COMPARED)
    used = rows > 0
    if used.sum() < 2:
        return False
    key, title = CURVE[outcome.evaluation.task]
    canvas = Figure(figsize=(7.5, 5.4), layout="constrained")
    upper, lower = canvas.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    middle = times[used].mean(axis=1)
    x = as_dates(middle) if outcome.dated else middle
    for name in ("pooled", "alone", "learned"):
        curve = _smooth(metrics[name][key][used], rows[used])
        upper.plot(x, curve, color=COLOURS[name], label=TITLES[name])
    upper.set_ylabel(title)
    upper.grid(alpha=0.3)
    canvas.legend(loc="outside upper center", ncols=3, frameon=False)
    paid = {name: rows[used] * stretch_losses(metrics, name)[used] for name in metrics}
    _so_far(lower, x, paid)
    if outcome.dated:
        locator = AutoDateLocator()  # type: ignore[no-untyped-call]
        lower.xaxis.set_major_locator(locator)
        dates = ConciseDateFormatter(locator)  # type: ignore[no-untyped-call]
        lower.xaxis.set_major_formatter(dates)
    else:
        lower.xaxis.set_major_locator(MaxNLocator(6))
        lower.set_xlabel("time")
    upper.margins(x=0.01)
    save(canvas, path)
    return True


def _so_far(axes: Axes, x: object, paid: dict[str, Floats]) -> None:
    """Gains on alone and on pooled over all rows up to each time, from losses of stretches."""
    learned = np.cumsum(paid["learned"])
    for other in ("alone", "pooled"):
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = 100 * (1 - learned / np.cumsum(paid[other]))
        axes.plot(x, gain, color=COLOURS[other], label=f"on {TITLES[other]}")  # type: ignore[arg-type]
    axes.axhline(0.0, color="black", linewidth=0.8)
    axes.set_ylabel("gain so far, %")
    axes.legend(frameon=False, fontsize=8)
    axes.grid(alpha=0.3)


def stretch_losses(metrics: dict[str, Metrics], name: str) -> Floats:
    """The loss of each stretch in which gains are counted."""
    found = metrics[name]
    return found["rmse"] ** 2 if "rmse" in found else found["logloss"]


def _smooth(curve: Floats, rows: Integers, span: int = 5) -> Floats:
    """Means over five stretches, where there are many: single ones hide what is common."""
    if curve.size < 10 * span:
        return curve
    weights = np.ones(span)
    found: Floats = np.convolve(curve * rows, weights, "same") / np.convolve(rows, weights, "same")
    return found
