"""The graph with its agents coloured by what they gain."""

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from mtcool.graphs import Graph
from mtcool.learn.report.pictures import agent_percents, name_of, save
from mtcool.learn.running.outcome import Outcome
from mtcool.types import Floats

LARGEST = 300
"""Agents above which a drawing of a graph is a cloud of dots."""
NAMED = 80
COLOURS = "RdBu"


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
    places = _places(graph, outcome)
    canvas = Figure(figsize=(7.5, 5.6), layout="constrained")
    axes = canvas.add_subplot()
    drawn: nx.Graph[Any] = nx.convert_node_labels_to_integers(graph.to_networkx())
    ends = [places[list(edge)] for edge in drawn.edges]
    axes.add_collection(LineCollection(ends, colors="#cccccc", linewidths=0.7, zorder=1))
    limit = max(float(np.nanquantile(np.abs(gain), 0.9)), 1e-9)
    scale = Normalize(-limit, limit, clip=True)
    spot = 260 if graph.size <= 40 else 120 if graph.size <= 120 else 50
    axes.scatter(
        places[:, 0],
        places[:, 1],
        c=np.nan_to_num(gain),
        cmap=COLOURS,
        norm=scale,
        s=spot,
        edgecolors=np.where(sure, "black", "#bbbbbb").tolist(),
        linewidths=np.where(sure, 1.6, 0.6).tolist(),
        zorder=2,
    )
    if graph.size <= NAMED:
        for place, label in zip(places, graph.labels, strict=True):
            axes.annotate(
                name_of(label, 16),
                place,
                (0, 0.55 * np.sqrt(spot) + 1),
                textcoords="offset points",
                fontsize=7,
                ha="center",
            )
    axes.set_axis_off()
    axes.margins(0.08)
    shown = ScalarMappable(scale, COLOURS)
    canvas.colorbar(shown, ax=axes, shrink=0.7, label="gain on learning alone, %", extend="both")
    save(canvas, path)
    return True


def _places(graph: Graph, outcome: Outcome) -> Floats:
    """Where each agent is drawn: on the map, if that is known for all, else by who is near whom."""
    known = outcome.positions
    if all(str(label) in known for label in graph.labels):
        return np.array([known[str(label)] for label in graph.labels])
    drawn = graph.to_networkx()
    if graph.size <= NAMED and nx.is_connected(drawn):
        layout = nx.kamada_kawai_layout(drawn)  # keeps distances, and takes long for large graphs
    else:
        layout = nx.spring_layout(drawn, seed=0)
    return np.array([layout[label] for label in graph.labels])
