"""The graph with its agents coloured by what they gain."""

from pathlib import Path

import numpy as np

from mtcool.graphs import Graph
from mtcool.learn.report.axes import Axes, ticks_of
from mtcool.learn.report.canvas import Canvas, places
from mtcool.learn.report.labels import Labels
from mtcool.learn.report.pictures import GAINS, LOSES, OPEN, WIDTH, agent_percents, name_of
from mtcool.learn.report.springs import places_of
from mtcool.learn.running.outcome import Outcome
from mtcool.types import Floats

LARGEST = 300
"""Agents above which a drawing of a graph is a cloud of dots."""
NAMED = 80
LEAST, MOST, BAR = 360.0, 520.0, (606.0, 16.0, 280.0)
"""Heights of the drawing; left side, width and height of the bar with the colours."""
SCALE = (LOSES, "#d6604d", "#f4a582", "#fddbc7", "#f7f7f7", "#d1e5f0", "#92c5de", "#4393c3", GAINS)
"""From losing to gaining, red to blue (RdBu of colorbrewer2.org), light enough for a black ring."""


def draw_graph(outcome: Outcome, path: Path) -> bool:
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
    at, height = _on_canvas(_places(graph, outcome))
    canvas = Canvas(WIDTH, height)
    owner = np.repeat(np.arange(graph.size), graph.neighbourhood_sizes)
    other = np.concatenate([graph.neighbours(node) for node in range(graph.size)])
    once = owner < other
    canvas.segments(at[owner[once]], at[other[once]], "#cccccc", 0.8)
    limit = max(float(np.nanquantile(np.abs(gain), 0.9)), 1e-9)
    radius = 9.0 if graph.size <= 30 else 6.0 if graph.size <= 60 else 4.0
    canvas.dots(at[np.isnan(gain)], OPEN, radius / 2)
    for k in sorted(np.flatnonzero(np.isfinite(gain)).tolist(), key=sure.__getitem__):
        edge, width = ("black", 1.8) if sure[k] else ("#999999", 0.8)
        x, y = at[k].tolist()
        canvas.circle(x, y, radius, colour_at(gain[k] / limit), edge, width)
    if graph.size <= NAMED:
        labels = Labels(canvas, at, radius)
        for (x, y), label in zip(at.tolist(), graph.labels, strict=True):
            labels.write(x, y, name_of(label, 16))
    _draw_bar(canvas, limit)
    canvas.write(path)
    return True


def colour_at(value: float) -> str:
    """The colour of a gain between -1 and 1; of one beyond, that of the nearest end.

    Examples
    --------
    >>> colour_at(-1.0), colour_at(0.1), colour_at(7.0)
    ('#b2182b', '#e8f0f4', '#2166ac')
    """
    known = np.array([[int(one[k : k + 2], 16) for k in (1, 3, 5)] for one in SCALE])
    at = np.linspace(-1.0, 1.0, len(known))
    mixed = [round(np.interp(value, at, known[:, k]).item()) for k in range(3)]
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _draw_bar(canvas: Canvas, limit: float) -> None:
    """The colours with the gains that they stand for."""
    left, width, height = BAR
    top = (canvas.height - height) / 2
    steps = 60
    for k in range(steps):
        y = top + k * height / steps
        colour = colour_at(1.0 - 2.0 * (k + 0.5) / steps)
        canvas.rectangle(left, y, width, height / steps + 0.5, colour)
    axes = Axes(canvas, left, top, left + width, top + height, (0.0, 1.0), (-limit, limit))
    for value, words in ticks_of(-limit, limit, 9).items():
        y = axes.y(np.array(value)).item()
        canvas.line(places(np.array([left + width, left + width + 4]), np.array(y)), "black")
        canvas.text(left + width + 8, y + 3.5, words)
    canvas.rectangle(left, top, width, height, edge="#222222")
    middle = top + height / 2
    words = "gain on learning alone, %"
    canvas.text(WIDTH - 14, middle, words, size=11, anchor="middle", upright=True)


def _on_canvas(found: Floats) -> tuple[Floats, float]:
    """Places in the part of the canvas that is for the graph, and the height that it needs.

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


def _places(graph: Graph, outcome: Outcome) -> Floats:
    """Where each agent is drawn: on the map, if that is known for all, else by who is near whom."""
    known = outcome.positions
    if all(str(label) in known for label in graph.labels):
        east, north = np.array([known[str(label)] for label in graph.labels]).T
        # A degree of longitude is shorter than one of latitude, and more so towards the poles.
        shorter = np.cos(np.radians(north.mean()))
        return places(_pulled_in(east * shorter), _pulled_in(north))
    return places_of(graph)


def _pulled_in(found: Floats) -> Floats:
    """Coordinates, where one far from all others does not make the rest a cloud of dots."""
    low, high = np.quantile(found, [0.05, 0.95])
    room = (high - low) / 4
    near: Floats = np.clip(found, low - room, high + room)
    return near
