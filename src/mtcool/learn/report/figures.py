"""Who gains, and the error over time."""

from pathlib import Path

import numpy as np

from mtcool.learn.metrics.evaluation import COMPARED
from mtcool.learn.metrics.tallies import Metrics
from mtcool.learn.report.axes import Axes, dates_of, ticks_of
from mtcool.learn.report.canvas import Canvas, places
from mtcool.learn.report.findings import DRAWN
from mtcool.learn.report.pictures import (
    COLOURS,
    GAINS,
    LOSES,
    OPEN,
    TITLES,
    WIDTH,
    agent_percents,
    colour_of,
    legend,
    name_of,
)
from mtcool.learn.running.outcome import Outcome
from mtcool.types import Floats, Integers

CURVE = {"regression": "error (RMSE)", "classification": "log loss"}


def draw_agents(outcome: Outcome, path: Path) -> bool:
    """Draw the gain of every agent with its interval, the largest first."""
    share, margin = agent_percents(outcome)
    known = np.flatnonzero(np.isfinite(share) & np.isfinite(margin))
    if known.size == 0 or not outcome.shares:
        return False
    order = known[np.argsort(-share[known], kind="stable")]
    looks = {"gains": GAINS, "loses": LOSES, "no clear difference": OPEN}
    draw = _named if order.size <= DRAWN else _ranked
    canvas = draw(outcome, order, share[order], margin[order])
    legend(canvas, looks, WIDTH / 2, 16)
    canvas.write(path)
    return True


def _named(outcome: Outcome, order: Integers, share: Floats, margin: Floats) -> Canvas:
    canvas = Canvas(WIDTH, 80 + 15 * order.size)
    names = [name_of(outcome.agents[k], 24) for k in order]
    left = 16 + 6.0 * max(map(len, names))
    axes = Axes(
        canvas,
        left,
        30,
        WIDTH - 12,
        canvas.height - 38,
        _limits(share, margin),
        (order.size - 0.5, -0.5),
    )
    axes.x_axis(ticks_of(*axes.x_limits))
    zero, rows = axes.x(np.zeros(1)).item(), np.arange(float(order.size))
    canvas.line(np.array([[zero, axes.top], [zero, axes.bottom]]), "black", 0.8)
    low, high = axes.x(share - margin), axes.x(share + margin)
    for colour, chosen in _by_colour(share, margin).items():
        y = axes.y(rows[chosen])
        canvas.segments(places(low[chosen], y), places(high[chosen], y), colour, 1.6)
        canvas.dots(places(axes.x(share[chosen]), y), colour, 3.0)
    for name, y in zip(names, axes.y(rows).tolist(), strict=True):
        canvas.text(left - 6, y + 3, name, size=9, anchor="end")
    axes.frame()
    middle = (axes.left + axes.right) / 2
    words = "gain on learning alone, % (with 95 % interval)"
    canvas.text(middle, canvas.height - 8, words, size=11, anchor="middle")
    return canvas


def _ranked(outcome: Outcome, order: Integers, share: Floats, margin: Floats) -> Canvas:
    canvas = Canvas(WIDTH, 320)
    limits = _limits(share, margin)
    axes = Axes(canvas, 66, 30, WIDTH - 12, 280, (0.0, order.size + 1.0), limits)
    axes.x_axis(ticks_of(*axes.x_limits))
    axes.y_axis(ticks_of(*limits))
    rank = np.arange(1.0, order.size + 1)
    low, high = axes.y(share - margin), axes.y(share + margin)
    for colour, chosen in _by_colour(share, margin).items():
        x = axes.x(rank[chosen])
        opacity, radius = (0.35, 1.5) if colour == OPEN else (0.8, 2.0)
        canvas.segments(places(x, low[chosen]), places(x, high[chosen]), colour, 1.0, opacity)
        canvas.dots(places(x, axes.y(share[chosen])), colour, radius)
    axes.frame()
    words = f"agents by their gain, {order.size:,} of {len(outcome.agents):,}"
    canvas.text((axes.left + axes.right) / 2, 312, words, size=11, anchor="middle")
    canvas.text(16, 155, "gain on learning alone, %", size=11, anchor="middle", upright=True)
    return canvas


def _by_colour(share: Floats, margin: Floats) -> dict[str, Integers]:
    """Which agents are drawn in which colour."""
    colours = np.array([colour_of(*pair) for pair in zip(share, margin, strict=True)])
    return {colour: np.flatnonzero(colours == colour) for colour in (OPEN, LOSES, GAINS)}


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
    canvas, wide = Canvas(WIDTH, 430), _around(x, 0.01)
    ticks = (dates_of if outcome.dated else ticks_of)(*wide)
    for top, bottom, drawn, words in (
        (30, 240, curves, CURVE[outcome.evaluation.task]),
        (255, 388, gains, "gain so far, %"),
    ):
        shown = _settled(gains) if drawn is gains else np.concatenate([*curves.values()])
        axes = Axes(canvas, 66, top, WIDTH - 12, bottom, wide, _around(shown))
        axes.x_axis(ticks, written=drawn is gains)
        axes.y_axis(ticks_of(*axes.y_limits, 6))
        for name, curve in drawn.items():
            axes.line(x, curve, COLOURS[name])
        axes.frame()
        canvas.text(16, (top + bottom) / 2, words, size=11, anchor="middle", upright=True)
    legend(canvas, {TITLES[name]: COLOURS[name] for name in curves}, WIDTH / 2, 16)
    legend(canvas, {f"on {TITLES[name]}": COLOURS[name] for name in gains}, WIDTH / 2, 424, size=9)
    if not outcome.dated:
        canvas.text(WIDTH - 12, 424, "time", size=11, anchor="end")
    canvas.write(path)
    return True


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


def _around(values: Floats, room: float = 0.05) -> tuple[float, float]:
    """Limits of an axis that shows these values."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    more = room * (high - low) or 0.5 * max(abs(high), 1e-9)
    return low - more, high + more


def stretch_losses(metrics: dict[str, Metrics], name: str) -> Floats:
    """The loss of each stretch in which gains are counted."""
    found = metrics[name]
    return found["rmse"] ** 2 if "rmse" in found else found["logloss"]


def _smooth(paid: Floats, rows: Floats, span: int = 5) -> Floats:
    """Mean losses over five points, where there are many: single ones hide what is common."""
    weights = np.ones(span if paid.size >= 10 * span else 1)
    found: Floats = np.convolve(paid, weights, "same") / np.convolve(rows, weights, "same")
    return found
