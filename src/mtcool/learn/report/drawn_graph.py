"""The graph with its agents coloured by what they gain."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from mtcool.graphs import Graph
from mtcool.learn.report.labels import Labels
from mtcool.learn.report.pictures import GAINS, LOSES, OPEN, WIDTH, agent_percents
from mtcool.learn.report.springs import places_of
from mtcool.learn.running.outcome import LearnOutcome
from mtcool.reports.figures import bars, save, styled, write_plainly
from mtcool.reports.numbers import short_name
from mtcool.types import Floats

LARGEST = 300
"""Agents above which a drawing of a graph is a cloud of dots."""
NAMED = 80
PIXELS = 96.0
"""Of an inch: places in the figure are in pixels, and y grows downwards."""
LEAST, MOST, BAR = 360.0, 520.0, (606.0, 16.0, 280.0)
"""Heights of the drawing; left side, width and height of the bar with the colours."""
SCALE = (LOSES, "#d6604d", "#f4a582", "#fddbc7", "#f7f7f7", "#d1e5f0", "#92c5de", "#4393c3", GAINS)
"""From losing to gaining, red to blue (RdBu of colorbrewer2.org), light enough for a black ring."""


@styled
def draw_graph(outcome: LearnOutcome, path: Path) -> bool:
    """Draw the graph: blue agents gain, red ones lose; a black ring stands for a sure one."""
    graph = outcome.network
    if not isinstance(graph, Graph) or not 1 < graph.size <= LARGEST or graph.edge_count == 0:
        return False
    share, margin = agent_percents(outcome)
    index = {agent: k for k, agent in enumerate(outcome.agents) if k < share.size}
    order = np.array([index.get(label, -1) for label in graph.labels])
    gain = np.where(order >= 0, share[order], np.nan)
    sure = np.where(order >= 0, np.abs(share[order]) > margin[order], False)
    if not np.isfinite(gain).any():
        return False
    at, height = _in_pixels(_places(graph, outcome))
    figure, axes = empty(height)
    owner = np.repeat(np.arange(graph.size), graph.neighbourhood_sizes)
    other = np.concatenate([graph.neighbours(node) for node in range(graph.size)])
    once = owner < other
    bars(axes, at[owner[once]], at[other[once]], color="#cccccc", linewidth=0.6)
    radius = 9.0 if graph.size <= 30 else 6.0 if graph.size <= 60 else 4.0
    axes.plot(*at[np.isnan(gain)].T, "o", color=OPEN, markersize=0.75 * radius)
    _dots(figure, axes, at, gain, sure, radius)
    if graph.size <= NAMED:
        labels = Labels(axes, at, radius)
        for (x, y), label in zip(at.tolist(), graph.labels, strict=True):
            labels.write(x, y, short_name(label, 16))
    save(figure, path, ["svg"])
    return True


def empty(height: float) -> tuple[Figure, Axes]:
    """A figure of so many pixels in height, and axes that fill it."""
    figure = Figure(figsize=(WIDTH, height / PIXELS))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0), xlim=(0.0, WIDTH * PIXELS), ylim=(height, 0.0))
    axes.set_axis_off()
    return figure, axes


def _dots(
    figure: Figure, axes: Axes, at: Floats, gain: Floats, sure: Floats, radius: float
) -> None:
    """Agents in the colours of their gains, those that are sure in front, and what colours mean."""
    limit = max(float(np.nanquantile(np.abs(gain), 0.9)), 1e-9)
    known = np.flatnonzero(np.isfinite(gain))
    known = known[np.argsort(sure[known], kind="stable")]
    dots = axes.scatter(
        at[known, 0],
        at[known, 1],
        c=gain[known],
        cmap=LinearSegmentedColormap.from_list("gains", SCALE, N=100),
        vmin=-limit,
        vmax=limit,
        s=(1.5 * radius) ** 2,
        edgecolors=np.where(sure[known], "black", "#999999").tolist(),
        linewidths=np.where(sure[known], 1.35, 0.6).tolist(),
        zorder=2.5,
        gid="agents",
    )
    (left, width, tall), high = BAR, figure.get_figheight() * PIXELS
    box = (left, (high - tall) / 2, width, tall) / np.array([WIDTH * PIXELS, high] * 2)
    bar = figure.colorbar(dots, cax=figure.add_axes(tuple(box)), label="gain on learning alone, %")
    if bar.solids is not None:
        bar.solids.set_edgecolor("face")  # else viewers show white lines between the colours
    write_plainly(bar.ax.yaxis, 9)


def _in_pixels(found: Floats) -> tuple[Floats, float]:
    """Places in the part of the figure that is for the graph, and the height that it needs.

    Proportions are the true ones, and north is up.
    """
    low, span = found.min(axis=0), np.ptp(found, axis=0)
    most = np.array([BAR[0] - 80, MOST - 70])
    scale = (most / np.maximum(span, 1e-9)).min()
    height = max(span[1] * scale + 70, LEAST)
    room = np.array([most[0], height - 70])
    moved = (found - low) * scale
    moved[:, 1] = span[1] * scale - moved[:, 1]
    at: Floats = moved + (room - span * scale) / 2 + [35, 40]
    return at, height


def _places(graph: Graph, outcome: LearnOutcome) -> Floats:
    """Where each agent is drawn: on the map, if that is known for all, else by who is near whom."""
    known = outcome.positions
    if all(str(label) in known for label in graph.labels):
        east, north = np.array([known[str(label)] for label in graph.labels]).T
        # A degree of longitude is shorter than one of latitude, and more so towards the poles.
        shorter = np.cos(np.radians(north.mean()))
        return np.column_stack([_pulled_in(east * shorter), _pulled_in(north)])
    return places_of(graph)


def _pulled_in(found: Floats) -> Floats:
    """Coordinates, where one far from all others does not make the rest a cloud of dots."""
    low, high = np.quantile(found, [0.05, 0.95])
    room = (high - low) / 4
    near: Floats = np.clip(found, low - room, high + room)
    return near
