"""From the table of a graph to the graph."""

from pathlib import Path

import numpy as np

from mtcool import graphs
from mtcool.config import schema
from mtcool.graphs import Graph


def graph_from_file(table: schema.GraphFile, folder: Path = Path()) -> Graph:
    """The graph of the file that a table names, relative to a folder."""
    try:
        return graphs.read_graph(folder / table.path)
    except ValueError as error:
        raise ValueError(f"graph.{error}") from error


def build_graph(table: schema.Graph, seed: np.random.Generator) -> Graph:
    """The graph that a table describes; one in a file is read with `graph_from_file` instead.

    Examples
    --------
    >>> build_graph(schema.Stars(sizes=[3, 4]), np.random.default_rng(0))
    Graph(7 agents, 5 edges)
    """
    match table:
        case schema.ErdosRenyi():
            return graphs.erdos_renyi(table.agents, table.p, seed)
        case schema.Regular():
            return graphs.regular(table.agents, table.degree, seed)
        case schema.Ring():
            if 2 * table.reach >= table.agents:
                raise ValueError(f"reach must be below agents / 2, got {table.reach}")
            return graphs.circulant(table.agents, 2 * table.reach)
        case schema.CliquesGraph():
            return graphs.cliques(table.sizes)
        case schema.Stars():
            return graphs.stars(table.sizes)
        case schema.Grid():
            return graphs.grid(table.rows, table.columns)
    raise ValueError(f"graph must be read before it is used, got {table.path!r}")
