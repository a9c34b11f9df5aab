"""Figures of the experiments."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from mtcool.experiments.comparison import Comparison

# Okabe and Ito's colours, distinct for colour-blind readers; a family shares a colour.
COLOURS = {"MT-CO2OL": "#0072B2", "i-FTRL": "#D55E00", "ST-FTRL": "#009E73"}


def regret_over_time(comparisons: Sequence[Comparison], path: Path) -> None:
    """Regret against time, one panel for each gradient bound, bands of one standard error."""
    figure, panels = plt.subplots(
        1, len(comparisons), figsize=(5.2 * len(comparisons), 4.2), sharey=True, squeeze=False
    )
    for axes, comparison in zip(panels[0], comparisons, strict=True):
        _panel(axes, comparison)
    panels[0][0].set_ylabel("multitask regret")
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _panel(axes: Axes, comparison: Comparison) -> None:
    graphs = len(next(iter(comparison.regret.values())))
    for name, runs in comparison.regret.items():
        mean = runs.mean(axis=0)
        error = runs.std(axis=0, ddof=1) / np.sqrt(graphs) if graphs > 1 else np.zeros_like(mean)
        colour = COLOURS[name.split(" ")[0]]
        style = "-" if "(KT)" in name else "--"
        axes.plot(comparison.times, mean, style, color=colour, linewidth=1.6)
        axes.fill_between(
            comparison.times, mean - error, mean + error, color=colour, alpha=0.2, linewidth=0
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.05)
    axes.set_xlabel("rounds")
    axes.set_title(
        f"L = {comparison.bound:g}, $\\bar\\sigma$ = {comparison.deviation:.3f}, "
        f"{graphs} graph{'s' if graphs > 1 else ''}",
        fontsize=10,
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.0)
    label_ends(
        axes,
        {name: float(runs[:, -1].mean()) for name, runs in comparison.regret.items()},
        {name: COLOURS[name.split(" ")[0]] for name in comparison.regret},
    )


def label_ends(axes: Axes, ends: dict[str, float], colours: dict[str, str]) -> None:
    """Name the curves at their right ends, moved apart where they would overlap."""
    to_display, to_axes = axes.transData.transform, axes.transAxes.inverted().transform
    right = axes.get_xlim()[1]
    heights = {name: to_axes(to_display((right, end)))[1] for name, end in ends.items()}
    names = sorted(heights, key=heights.__getitem__)
    for name, height in zip(names, _apart([heights[name] for name in names]), strict=True):
        axes.annotate(
            f"{name}  {ends[name]:.3g}",
            (1.0, heights[name]),
            xycoords="axes fraction",
            xytext=(1.05, height),
            textcoords="axes fraction",
            va="center",
            color=colours[name],
            fontsize=8,
            arrowprops={
                "arrowstyle": "-",
                "color": colours[name],
                "linewidth": 0.6,
                "relpos": (0, 0.5),
            },
        )


def _apart(heights: Sequence[float], gap: float = 0.055) -> list[float]:
    """Ascending heights moved at least `gap` apart, by least squares: labels that touch pool."""
    pools: list[list[float]] = []  # of heights, each lowered by its rank times the gap
    for rank, height in enumerate(heights):
        pools.append([height - rank * gap])
        while len(pools) > 1 and np.mean(pools[-2]) > np.mean(pools[-1]):
            last = pools.pop()
            pools[-1].extend(last)
    lowered = [float(np.mean(pool)) for pool in pools for _ in pool]
    return [height + rank * gap for rank, height in enumerate(lowered)]
