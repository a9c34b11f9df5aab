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
        axes.annotate(
            f"{name}  {mean[-1]:.3g}",
            (comparison.times[-1], mean[-1]),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            fontsize=8,
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
