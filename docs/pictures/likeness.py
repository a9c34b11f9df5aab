"""What the learner for tables gains or loses by sharing, against how alike the tasks are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from mtcool.graphs import circulant
from mtcool.learn import Model

from .drawing import BLUE, GREEN, GREY, OWN, PURPLE, YELLOW, Floats, canvas, plain
from .tasks import partly_own

PAGE = "when-sharing-pays.md"
FEATURES, NEIGHBOURS = 4, 8
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
LOOKS = ((YELLOW, "^"), (BLUE, "o"), (PURPLE, "s"), (GREEN, "D"))


class Measured(NamedTuple):
    """Squared error of sharing over that of learning alone, minus one."""

    shares: tuple[float, ...]
    rows: tuple[int, ...]
    change: Floats
    """(rows, shares)."""
    error: Floats
    """Standard errors of the mean over the replicates."""
    agents: int
    noise: float


def measure(
    agents: int = 30,
    rows: tuple[int, ...] = (10, 30, 100, 300),
    shares: tuple[float, ...] = SHARES,
    replicates: int = 10,
    noise: float = 0.5,
    seed: int = 17,
) -> Measured:
    """Play tables whose target is a sum of features, with weights of each agent."""
    changes = np.array(
        [
            [
                [_change(agents, count, share, noise, [seed, k]) for k in range(replicates)]
                for share in shares
            ]
            for count in rows
        ]
    )
    errors = changes.std(axis=2, ddof=1) / np.sqrt(replicates)
    return Measured(shares, rows, changes.mean(axis=2), errors, agents, noise)


def _change(agents: int, rows: int, share: float, noise: float, seed: list[int]) -> float:
    rng = np.random.default_rng(seed)
    weights = partly_own(agents, FEATURES, share, 1.0, rng)
    who = np.tile(np.arange(agents), rows)
    features = rng.standard_normal((who.size, FEATURES))
    target = np.einsum("rf,rf->r", features, weights[who])
    target += noise * rng.standard_normal(who.size)
    order = np.arange(who.size)
    model = Model(circulant(agents, NEIGHBOURS))
    # Predict each row, then learn from it.
    played = model.play(who, features, target, np.stack([order, ~order], axis=1).ravel())
    later = slice(agents, None)  # an agent alone has nothing to go by in its first row
    shared = ((played.prediction - target)[later] ** 2).sum()
    alone = ((played.alone - target)[later] ** 2).sum()
    return float(shared / alone - 1.0)


def words(found: Measured) -> list[str]:
    """The curves as a table."""
    head = "".join(f"{share:>7g}" for share in found.shares)
    lines = [f"{'own part of a task:':<22}{head}"]
    for count, changes in zip(found.rows, found.change, strict=True):
        cells = "".join(f"{change:+7.0%}" for change in changes)
        lines.append(f"{f'{count} rows an agent':<22}{cells}")
    return [*lines, f"largest standard error {found.error.max():.1%}"]


def draw(found: Measured) -> Figure:
    """A curve for each number of rows."""
    figure = canvas(3.3)
    axes = figure.subplots()
    axes.axhline(0.0, color=GREY, linewidth=1.2)
    for count, changes, errors, (colour, marker) in zip(
        found.rows, found.change, found.error, LOOKS, strict=False
    ):
        look = {"color": colour, "marker": marker, "markersize": 5, "capsize": 2}
        axes.errorbar(found.shares, changes, errors, label=f"{count} rows an agent", **look)
    low, high = axes.get_ylim()
    axes.set_ylim(low, max(high, 0.22))
    axes.text(0.0, 0.02, "above: sharing costs", fontsize=8.5, color=GREY)
    axes.text(0.0, -0.02, "below: sharing pays", fontsize=8.5, color=GREY, va="top")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:+.0%}".replace("-", "−"))
    plain(axes, OWN, "squared error against alone", "mtcool.learn.Model, eight neighbours")
    axes.legend(fontsize=8.5, frameon=False, ncols=2, loc="upper left")
    return figure
