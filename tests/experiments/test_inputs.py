"""A result folder holds all that the experiment was made from, and runs from there."""

import re
import tomllib

import networkx as nx
import pytest
import small

from mtcool.experiments.files.inputs import relocated
from mtcool.experiments.report.report import Report
from mtcool.experiments.running.engines import Local
from mtcool.experiments.running.runner import run_tasks
from mtcool.experiments.running.suite import task_of
from mtcool.graphs import read_graph

SWEPT = (
    small.TEXT[: small.TEXT.index("[[sweep]]")].replace(
        'kind = "erdos_renyi"\nagents = 6\np = 0.5', 'kind = "file"'
    )
    + """
[[sweep]]
parameter = "graph.path"
values = [{values}]
labels = ["north/net.csv", "south", "table"]

[[figure]]
x = "graph.path"
"""
)


def write_graphs(folder):
    for place, size in (("north/net.csv", 3), ("south/net.csv", 4), ("runs.csv", 5)):
        (folder / place).parent.mkdir(exist_ok=True)
        edges = nx.star_graph(size).edges()
        (folder / place).write_text("".join(f"{u},{v}\n" for u, v in edges))


def run(path, folder):
    task = task_of(path)
    results = run_tasks([task], folder, Local(1), progress=False)
    Report("", "", [task], folder).write(results)


@pytest.mark.usefixtures("undrawn")
def test_graph_files_survive_whatever_their_names_and_the_experiment_runs_from_there(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    write_graphs(home)
    values = f'\'{home}/north/net.csv\', "south/net.csv", "../home/runs.csv"'
    path = small.write(home, SWEPT.replace("{values}", values))
    run(path, tmp_path / "first")
    kept = tmp_path / "first/small"
    assert sorted(p.name for p in (kept / "graphs").iterdir()) == [
        "net-2.csv",
        "net.csv",
        "runs.csv",
    ]
    assert (kept / "graphs/net-2.csv").read_bytes() == (home / "south/net.csv").read_bytes()
    assert (kept / "graphs/runs.csv").read_bytes() == (home / "runs.csv").read_bytes()
    assert (kept / "runs.csv").read_text().startswith("graph.path,replicate,")
    # Without the files that it was made from: elsewhere, and once more in the same place.
    home.rename(tmp_path / "gone")
    before = small.tables(tmp_path / "first")
    run(kept / "experiment.toml", tmp_path / "second")
    assert small.tables(tmp_path / "second") == before
    cells = {p: p.stat().st_mtime_ns for p in (tmp_path / "first/cells").iterdir()}
    run(kept / "experiment.toml", tmp_path / "first")
    assert small.tables(tmp_path / "first") == before
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "first/cells").iterdir()} == cells


def test_only_paths_are_changed_in_the_file_that_is_kept():
    source = """
title = "a.csv"  # not "a.csv" either
question = '''it's about "a.csv"'''
[graph]
kind = 'file'
"path" = 'a.csv'
[[sweep]]
parameter = "graph"
values = [{kind = "file", path = "a\\u002ecsv"}, {path = "b.csv", kind = "file"}]
labels = ["a.csv", "b.csv"]
[[claim]]
at = {"graph.path" = "a.csv"}
text = "a.csv"
"""
    found = relocated(source, {"a.csv": 'graphs/"a".csv', "b.csv": "graphs/b.csv"})
    want = tomllib.loads(source)
    want["graph"]["path"] = want["sweep"][0]["values"][0]["path"] = 'graphs/"a".csv'
    want["claim"][0]["at"]["graph.path"] = 'graphs/"a".csv'
    want["sweep"][0]["values"][1]["path"] = "graphs/b.csv"
    assert tomllib.loads(found) == want
    assert found.splitlines()[:4] == source.splitlines()[:4]


EDGES = "rome,milan\nmilan,turin\n"
HEADERS = {
    "known words": ("network.csv", "Source,Target\n" + EDGES, ["rome", "milan", "turin"]),
    "words above numbers": ("network.csv", "a,b\n0,1\n1,2\n", ["0", "1", "2"]),
    "a third column": ("network.csv", "a,b,km\nrome,milan,2.5\nmilan,turin,3\n", None),
    "spaces": ("network.txt", "node1 node2\nrome milan\nmilan turin\n", None),
    "a mark before the text": ("network.csv", "\ufefffrom,to\n" + EDGES, None),
    "a comment": ("network.csv", "# a,b\n" + EDGES, None),
    "no header": ("network.csv", EDGES, None),
    "spaces after commas": ("network.csv", "rome, milan\nmilan , turin\n", None),
    "quotes": ("network.csv", '"rome","milan"\n"milan","turin"\n', None),
    "one edge": ("network.csv", "rome,milan\n", ["rome", "milan"]),
    "pairs of numbers": ("network.edges", "0 1\n2 3\n", ["0", "1", "2", "3"]),
    "pairs below a comment": ("network.csv", "# edges\na,b\nc,d\n", ["a", "b", "c", "d"]),
}


@pytest.mark.parametrize("kind", HEADERS)
def test_the_header_of_an_edge_list_is_no_edge(kind, tmp_path):
    name, text, labels = HEADERS[kind]
    (tmp_path / name).write_text(text, encoding="utf-8")
    graph = read_graph(tmp_path / name)
    assert list(graph.labels) == (labels or ["rome", "milan", "turin"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n" + EDGES, "the first line may be a header or an edge, got 'a b', which no other"),
        (EDGES + "turin\n", "line 3 must name two agents, got 'turin'"),
    ],
)
def test_a_line_that_may_be_no_edge_is_refused(text, words, tmp_path):
    (tmp_path / "network.csv").write_text(text)
    with pytest.raises(
        ValueError, match="^path must be a list of edges, got .*" + re.escape(words)
    ):
        read_graph(tmp_path / "network.csv")
