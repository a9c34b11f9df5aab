"""Who talks to whom in a run: what was asked for, and how many that may be."""

import os

from mtcool import validation
from mtcool.graphs import Graph
from mtcool.learn.neighbourhoods import MOST_COMPLETE
from mtcool.learn.reading.graphs import WORDS as GRAPH_WORDS
from mtcool.learn.reading.graphs import graph_from, graph_of_places, places_of
from mtcool.learn.reading.tables import Batch
from mtcool.learn.running.built_in import places_in
from mtcool.learn.running.current import RunningPass
from mtcool.learn.running.feed import STANDARD_INPUT, Feed
from mtcool.learn.running.options import LearnOptions
from mtcool.learn.running.outcome import Network
from mtcool.streams.table import Table

NEIGHBOURS = 5
"""Nearest agents that each agent is joined to, if nothing else is said."""


def network_of(asked: LearnOptions, feed: Feed) -> tuple[Network, dict[str, tuple[float, float]]]:
    """Who talks to whom, and where they are if coordinates tell."""
    if asked.near is not None and asked.graph is not None:
        raise ValueError(f"graph must be left out with near, got {asked.graph!r}")
    if asked.near is not None:
        if isinstance(feed.source, Table):
            raise ValueError(f"near must be left out with a built-in stream, got {asked.near!r}")
        if feed.source == STANDARD_INPUT:
            raise ValueError("data must be a file with near, which reads it twice, got '-'")
        neighbours = NEIGHBOURS if asked.neighbours is None else asked.neighbours
        places = places_of(feed.source, str(asked.agent), asked.near)
        graph = graph_of_places(places, validation.count("neighbours", neighbours))
        return graph, {name: (east, north) for name, (north, east) in places.items()}
    if asked.neighbours is not None:
        raise ValueError(f"neighbours must be left out without near, got {asked.neighbours!r}")
    if asked.graph is not None:
        if asked.graph not in GRAPH_WORDS:
            os.stat(asked.graph)  # whose complaint names the file
        return graph_from(asked.graph), {}
    if isinstance(feed.source, Table):
        return graph_from(feed.source.graph), places_in(feed.source)
    return "complete", {}


def check_size(run: RunningPass, batch: Batch) -> None:
    """Refuse more agents than everybody can talk to, unless that was asked for."""
    if run.settings.implied:
        known = {*run.play.learned.agents, *batch.agents}
        if len(known) > MOST_COMPLETE:
            raise ValueError(
                f"graph must be given for more than {MOST_COMPLETE} agents, got none: --graph "
                "FILE, --near LAT,LON, --graph complete or --graph none"
            )


def check_names(run: RunningPass, batch: Batch) -> None:
    """Refuse a graph that has none of the first rows' agents: the names are not those meant."""
    graph = run.play.network
    if run.settings.rows or run.settings.graph is None or not isinstance(graph, Graph):
        return
    if graph.size and set(batch.agents).isdisjoint(graph.labels):
        raise ValueError(
            f"graph must have agents of {run.feed.name}, got none of them: an agent of the data is "
            f"{batch.agents[0]!r}, one of the graph is {graph.labels[0]!r}"
        )
