"""Graphs of agents from files, coordinates and words; their labels are texts."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import mtcool
from mtcool.learn import graph_from

EDGES = {("a", "b"), ("b", "c")}


def edges(graph):
    pairs = ((i, int(j)) for i in range(graph.size) for j in graph.neighbours(i) if i < j)
    return {tuple(sorted((graph.labels[i], graph.labels[j]))) for i, j in pairs}


def write(path, text):
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.csv", "source,target\na,b\nb,c\n"),
        ("g.csv", "source;target;weight\na;b;0,5\nb;c;1,5\n"),
        ("g.csv", "# tabs\na\tb\nb\tc\n"),
        ("g.edgelist", "a b\nb c\n"),
        ("g.gal", "3\na 1\nb\nb 2\na c\nc 1\nb\n"),
        ("g.GAL", "0 3 map key\na 1\nb\nb 1\nc\nc 0\n\n"),
        ("g.gal", "3\r\nc 1\r\nb\r\na 0\r\nb 1\r\na\r\n"),
    ],
)
def test_files_in_several_formats_give_the_same_graph(name, text, tmp_path):
    assert edges(graph_from(write(tmp_path / name, text))) == EDGES


def test_graphml_and_graphs_in_memory_are_named_by_text(tmp_path):
    nx.write_graphml(nx.Graph([("a", "b"), ("b", "c")]), tmp_path / "g.graphml")
    assert edges(graph_from(str(tmp_path / "g.graphml"))) == EDGES
    assert graph_from(nx.path_graph(3)).labels == ("0", "1", "2")
    assert graph_from(mtcool.graphs.ring(3)).labels == ("0", "1", "2")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1 must say 0 agents"),
        ("2\na 1\nb\n", r"line 1 must say 1 agents, got \['2'\]"),
        ("1\na 1\nb\n", "b"),
        ("1\na x\n", "line 2 must begin with a new agent and the number.*got 'a x'"),
        ("1\na 0\na 0\n", "line 3 must begin with a new agent"),
        ("1\na 2\nb\n", "line 2 must begin"),
    ],
)
def test_a_damaged_gal_file_is_refused_by_line(text, words, tmp_path):
    with pytest.raises(ValueError, match=rf"path must be a GAL file, got .*g\.gal.*{words}"):
        graph_from(write(tmp_path / "g.gal", text))


def test_no_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"path must be a file, got .*none\.gal.*No such file"):
        graph_from(tmp_path / "none.gal")


def brute_nearest(places, count):
    """By the angle between two places, all pairs."""
    north, east = np.radians(places).T
    cosine = np.sin(north)[:, None] * np.sin(north)
    cosine += np.cos(north)[:, None] * np.cos(north) * np.cos(east[:, None] - east)
    np.fill_diagonal(cosine, -2)
    nearest = np.argsort(-cosine, axis=1)[:, :count]
    return {tuple(sorted((f"s{i}", f"s{j}"))) for i, row in enumerate(nearest) for j in row}


@pytest.mark.parametrize("count", [1, 3, 100])
def test_the_nearest_on_the_sphere_are_neighbours_also_across_the_date_line(count):
    rng = np.random.default_rng(0)
    places = np.stack([rng.uniform(-90, 90, 40), rng.uniform(-180, 180, 40)], axis=1)
    table = pd.DataFrame(places, columns=["lat", "lon"])
    table.insert(0, "who", [f"s{k}" for k in range(40)])
    graph = graph_from(table, near=("lat", "lon"), neighbours=count, agents="who")
    assert edges(graph) == brute_nearest(places, min(count, 39))


def test_an_agent_is_at_its_first_place_and_without_one_it_is_not_in_the_graph(tmp_path):
    text = "who,lat,lon\na,,5\nb,10,10\na,1,1\nc,91,1\na,80,80\n,3,3\nd,x,2\ne,2,2\nf,11,9\n"
    path = write(tmp_path / "data.csv", text)
    graph = graph_from(path, near=("lat", "lon"), neighbours=1, agents="who")
    assert graph.labels == ("b", "a", "e", "f")
    assert edges(graph) == {("a", "e"), ("b", "f")}


def test_agents_at_one_place_are_not_their_own_neighbours():
    table = pd.DataFrame({"who": list("abcd"), "lat": [1.0] * 4, "lon": [2.0] * 4})
    graph = graph_from(table, near=("lat", "lon"), neighbours=2, agents="who")
    assert (graph.neighbourhood_sizes >= 3).all()


def test_of_many_agents_at_one_place_the_first_are_neighbours():
    names = [f"s{k:02}" for k in range(40)]
    table = pd.DataFrame({"who": names, "lat": [1.0] * 40, "lon": [2.0] * 40})
    graph = graph_from(table, near=("lat", "lon"), neighbours=2, agents="who")
    first, second, *rest = names
    assert edges(graph) == {(first, second), *((one, k) for one in (first, second) for k in rest)}


TABLE = pd.DataFrame({"who": ["a"], "lat": [1.0], "lon": [2.0], "day": ["x"]})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"near": "lat,lon", "agents": "who"}, "near must be two columns"),
        ({"near": ("lat", "lon")}, "agents must be the column that names the agents, got None"),
        ({"near": ("lat", "x"), "agents": "who"}, "must name one column of the frame, got 'x'"),
        ({"near": ("lat", "lon"), "agents": "who"}, "at least two agents, got 1"),
        ({"near": ("lat", "lon"), "agents": "who", "neighbours": 0}, "neighbours must be"),
    ],
)
def test_coordinates_that_are_not_there_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        graph_from(TABLE, **given)


def test_coordinates_cannot_come_from_a_stream():
    with pytest.raises(ValueError, match="can be read twice with near, got '-'"):
        graph_from("-", near=("lat", "lon"), agents="who")
