"""The graph with its agents coloured by what they gain."""

from pathlib import Path

import numpy as np

from mtcool.graphs import Graph
from mtcool.learn.report.axes import Axes, ticks_of
from mtcool.learn.report.canvas import Canvas, places
from mtcool.learn.report.pictures import WIDTH, agent_percents, name_of
from mtcool.learn.report.springs import places_of
from mtcool.learn.running.outcome import Outcome
from mtcool.types import Floats

LARGEST = 300
"""Agents above which a drawing of a graph is a cloud of dots."""
NAMED = 80
HEIGHT, BAR = 520.0, (606.0, 110.0, 16.0, 300.0)
SCALE = "67001f b2182b d6604d f4a582 fddbc7 f7f7f7 d1e5f0 92c5de 4393c3 2166ac 053061"
"""From losing to gaining, red to blue (RdBu of colorbrewer2.org)."""


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
    canvas, at = Canvas(WIDTH, HEIGHT), _on_canvas(_places(graph, outcome))
    owner = np.repeat(np.arange(graph.size), graph.neighbourhood_sizes)
    other = np.concatenate([graph.neighbours(node) for node in range(graph.size)])
    once = owner < other
    canvas.segments(at[owner[once]], at[other[once]], "#cccccc", 0.8)
    limit = max(float(np.nanquantile(np.abs(gain), 0.9)), 1e-9)
    radius = 9.0 if graph.size <= 40 else 6.5 if graph.size <= 120 else 4.0
    shown = np.nan_to_num(gain) / limit
    for (x, y), value, clear in zip(at.tolist(), shown.tolist(), sure.tolist(), strict=True):
        edge, width = ("black", 1.8) if clear else ("#bbbbbb", 0.8)
        canvas.circle(x, y, radius, colour_at(value), edge, width)
    if graph.size <= NAMED:
        for (x, y), label in zip(at.tolist(), graph.labels, strict=True):
            canvas.text(x, y - radius - 3, name_of(label, 16), size=8.5, anchor="middle")
    _draw_bar(canvas, limit)
    canvas.write(path)
    return True


def colour_at(value: float) -> str:
    """The colour of a gain between -1 and 1; of one beyond, that of the nearest end.

    Examples
    --------
    >>> colour_at(-1.0), colour_at(0.1), colour_at(7.0)
    ('#67001f', '#e4eef4', '#053061')
    """
    known = np.array([[int(one[k : k + 2], 16) for k in (0, 2, 4)] for one in SCALE.split()])
    at = np.linspace(-1.0, 1.0, len(known))
    mixed = [round(np.interp(value, at, known[:, k]).item()) for k in range(3)]
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _draw_bar(canvas: Canvas, limit: float) -> None:
    """The colours with the gains that they stand for."""
    left, top, width, height = BAR
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


def _on_canvas(found: Floats) -> Floats:
    """Places in the part of the canvas that is for the graph, in their true proportions."""
    room = np.array([BAR[0] - 80, HEIGHT - 70])
    low, span = found.min(axis=0), np.ptp(found, axis=0)
    scale = (room / np.maximum(span, 1e-9)).min()
    off = (room - span * scale) / 2 + [35, 40]
    moved = (found - low) * scale
    moved[:, 1] = span[1] * scale - moved[:, 1]  # north is up
    at: Floats = moved + off
    return at


def _places(graph: Graph, outcome: Outcome) -> Floats:
    """Where each agent is drawn: on the map, if that is known for all, else by who is near whom."""
    known = outcome.positions
    if all(str(label) in known for label in graph.labels):
        return np.array([known[str(label)] for label in graph.labels])
    return places_of(graph)
