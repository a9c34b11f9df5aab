"""An experiment file is checked before anything runs, and what is wrong is one sentence."""

import copy
import tomllib
from pathlib import Path

import networkx as nx
import pytest
import small

from mtcool.experiments.files.loading import load_experiment, make_experiment
from mtcool.experiments.report.results import Results
from mtcool.experiments.running.cells import Job, run_cell
from mtcool.experiments.running.runner import jobs_of
from mtcool.experiments.running.suite import (
    EXPERIMENTS,
    FEW,
    paper_lead,
    paper_sections,
    paper_tasks,
    task_of,
)
from mtcool.graphs.files import READERS

ROOT = Path(__file__).parents[2]
GOOD = tomllib.loads(small.TEXT)


def changed(**changes):
    """The small experiment with keys set by dotted path; None removes one."""
    table = copy.deepcopy(GOOD)
    for path, value in changes.items():
        place = table
        *parents, last = path.split("__")
        for name in parents:
            place = place[int(name)] if name.isdigit() else place.setdefault(name, {})
        if value is None:
            del place[last]
        else:
            place[last] = value
    return table


BAD = {
    "unknown key": (changed(replicats=3), "unknown key replicats; did you mean replicates?"),
    "unknown key in a table": (changed(graph__agent=3), "unknown key graph.agent; did you mean ag"),
    "unknown key of an algorithm": (
        changed(algorithm__1__lipshitz=1.0),
        "unknown key algorithm 2.lipshitz; did you mean lipschitz?",
    ),
    "unknown key of another kind": (
        changed(graph={"kind": "grid", "p": 0.5}),
        "unknown key graph.p; known are rows, columns",
    ),
    "missing key": (changed(graph={"kind": "grid", "rows": 2}), "graph.columns is missing"),
    "no name": (changed(name=None), "name is missing"),
    "no algorithm": (changed(algorithm=None), "algorithm is missing"),
    "name with a slash": (changed(name="a/b"), "name must be small letters, digits"),
    "wrong kind": (
        changed(graph__kind="tree"),
        "graph.kind must be one of erdos_renyi, regular, ring, cliques, stars, grid, file, got 'tr",
    ),
    "wrong loss": (
        changed(stream={"loss": "cubic"}),
        "stream.loss must be one of absolute, hinge, linear, logistic, quadratic, squared, got 'c",
    ),
    "wrong algorithm": (
        changed(algorithm__0__algorithm="mtcool"),
        "algorithm 1.algorithm must be one of dpmt_co2ol, i_ftrl, mt_co2ol, pairwise, st_ftrl, ",
    ),
    "text for a number": (changed(rounds="many"), "rounds must be a whole number, got 'many'"),
    "no rounds": (changed(rounds=0), "rounds must be a whole number at least 1, got 0"),
    "negative replicates": (
        changed(replicates=-1),
        "replicates must be a whole number at least 1, got -1",
    ),
    "probability": (changed(graph__p=1.5), "graph.p must be a number at most 1, got 1.5"),
    "bound 0": (
        changed(algorithm__0__lipschitz=0.0),
        "algorithm 1.lipschitz must be a number above 0, got 0.0",
    ),
    "a table for a list": (
        changed(algorithm={"name": "x"}),
        "algorithm must be a list, got {'name",
    ),
    "names twice": (changed(algorithm__1__name="MT-CO2OL"), "algorithm must have distinct names"),
    "sweep of nothing": (
        changed(sweep__0__values=[]),
        "sweep 1.values must be a list with at least 1 in it",
    ),
    "sweep of an unknown key": (
        changed(sweep__0__parameter="tasks.smothness"),
        "unknown key tasks.smothness; did you mean smoothness?",
    ),
    "sweep with a wrong value": (
        changed(sweep__0__values=[1, -1]),
        "tasks.smoothness must be a number at least 0, got -1",
    ),
    "sweep through a number": (
        changed(sweep__0__parameter="rounds.long"),
        "sweep: parameter must be a path through tables, got 'rounds.long'",
    ),
    "labels": (
        changed(sweep__0__labels=["one"]),
        "sweep of tasks.smoothness: labels must be 2 dis",
    ),
    "figure of an unknown axis": (
        changed(figure=[{"x": "graph.p"}]),
        "figure: x must be one of tasks.smoothness, time, sigma, bytes, messages, got 'graph.p'",
    ),
    "panels of an unknown parameter": (
        changed(figure=[{"x": "sigma", "panels": "graph.p"}]),
        "figure: panels must be one of tasks.smoothness, got 'graph.p'",
    ),
    "figure of several points": (
        changed(figure=[{"x": "time"}]),
        "figure: at must fix every sweep that is neither x nor panels",
    ),
    "figure among strangers": (
        changed(figure=[{"x": "sigma", "among": ["nobody"]}]),
        "figure: among must name algorithms, each once, got 'nobody'",
    ),
    "figure at no point": (
        changed(figure=[{"x": "time", "at": {"tasks.smoothness": 7}}]),
        "figure: at must choose a value of a sweep, got tasks.smoothness = 7",
    ),
    "figure with x twice": (
        changed(figure=[{"x": "tasks.smoothness", "panels": "tasks.smoothness"}]),
        "figure: panels must not be x as well, got 'tasks.smoothness'",
    ),
    "values that look alike": (
        changed(sweep__0__values=[1, 1.0]),
        "sweep of tasks.smoothness: labels must be 2 distinct names, got ['1', '1']",
    ),
    "sweep of names": (
        changed(sweep__0__parameter="algorithm.name"),
        "sweep: parameter must leave the names of the algorithms alone",
    ),
    "sweep of one algorithm's name": (
        changed(sweep__0__parameter="algorithm.MT-CO2OL.name"),
        "sweep: parameter must leave the names of the algorithms alone",
    ),
    "sweep of a stranger": (
        changed(sweep__0__parameter="algorithm.nobody.lipschitz"),
        "sweep: parameter must name an algorithm (MT-CO2OL, i-FTRL, ST-FTRL), got 'algorithm.nobod",
    ),
    "sweep of an unknown key of one algorithm": (
        changed(sweep__0__parameter="algorithm.i-FTRL.lipshitz"),
        "unknown key algorithm 2.lipshitz; did you mean lipschitz?",
    ),
    "sweeps that undo each other": (
        changed(
            sweep=[
                {"parameter": "algorithm.i-FTRL.lipschitz", "values": [1.0]},
                {"parameter": "algorithm.lipschitz", "values": [1.0]},
            ]
        ),
        "sweep: parameter must be for all algorithms or for one, got algorithm.lipschitz and algo",
    ),
    "half a round": (changed(rounds=2.5), "rounds must be a whole number, got 2.5"),
    "the name of the store": (changed(name="cells"), "name must be small letters, digits"),
    "drift without use": (
        changed(stream={"drift": 1.0}),
        "stream.drift applies only to linear losses, got 1.0",
    ),
    "noise without use": (
        changed(stream={"loss": "linear", "noise": 1.0}),
        "stream.noise has no meaning for linear losses, got 1.0",
    ),
    "weights without use": (
        changed(algorithm__1__weights="delegation"),
        "i-FTRL: weights have no meaning for i_ftrl, got 'delegation'",
    ),
    "experts without use": (
        changed(algorithm__0__experts="geometric"),
        "MT-CO2OL: experts apply only to MTFTRL, got 'geometric'",
    ),
    "claim of a stranger": (
        changed(claim=[{"text": "so it is", "best": "nobody"}]),
        "claim: best must be the name of an algorithm, got 'nobody'",
    ),
}


def test_the_small_experiment_is_good():
    experiment = make_experiment(GOOD)
    assert [point.tasks.smoothness for point in experiment.points] == [1, 10]
    assert experiment.values == [{"tasks.smoothness": "1"}, {"tasks.smoothness": "10"}]


@pytest.mark.parametrize("kind", BAD)
def test_what_is_wrong_is_one_sentence(kind):
    table, words = BAD[kind]
    with pytest.raises(ValueError) as refusal:  # noqa: PT011
        make_experiment(table)
    assert str(refusal.value).startswith(words)
    assert "\n" not in str(refusal.value)


def test_a_file_that_is_not_toml_is_refused_by_name(tmp_path):
    path = small.write(tmp_path, "name = ")
    with pytest.raises(ValueError, match=r"experiment\.toml must be TOML"):
        task_of(path)


def test_sweeps_multiply_and_reach_into_defaults_and_algorithms():
    table = changed(
        sweep=[
            {"parameter": "stream.activations.skew", "values": [0.0, 1.0]},
            {"parameter": "algorithm.lipschitz", "values": [1.0, 4.0]},
        ]
    )
    points = make_experiment(table).points
    found = [(p.stream.activations.skew, *(a.lipschitz for a in p.algorithm)) for p in points]
    assert found == [(0, 1, 1, 1), (0, 4, 4, 4), (1, 1, 1, 1), (1, 4, 4, 4)]


def test_a_sweep_may_be_of_one_algorithm_alone():
    table = changed(
        algorithm__0__name="MT (L = 0.5)",
        sweep=[
            {"parameter": "algorithm.MT (L = 0.5).lipschitz", "values": [1.0, 4.0]},
            {"parameter": "algorithm.radius", "values": [1.0, 2.0]},
        ],
        figure=[{"x": "algorithm.MT (L = 0.5).lipschitz", "panels": "algorithm.radius"}],
    )
    points = make_experiment(table).points
    found = [[(a.lipschitz, a.radius) for a in p.algorithm] for p in points]
    alone = [(2.0, radius) for radius in (1.0, 2.0)]
    assert found == [[(L, r[1]), r, r] for L in (1.0, 4.0) for r in alone]


def test_the_other_algorithms_do_not_depend_on_it():
    table = changed(sweep=[{"parameter": "algorithm.MT-CO2OL.lipschitz", "values": [1.0, 4.0]}])
    results = Results(make_experiment(table), 1, [], [])
    names = ("MT-CO2OL", "i-FTRL", "ST-FTRL")
    told = [results.depends(name, "algorithm.MT-CO2OL.lipschitz") for name in names]
    assert told == [True, False, False]
    assert all(results.depends(name, "algorithm.lipschitz") for name in names)


def test_whole_numbers_may_be_written_with_an_exponent():
    experiment = make_experiment(changed(rounds=1e3, replicates=1e1, graph__agents=7.0))
    assert (experiment.points[0].rounds, experiment.head.replicates) == (1000, 10)
    assert experiment.points[0].graph.agents == 7


def from_file(name):
    """The small experiment on a graph from a file."""
    graph = 'kind = "erdos_renyi"\nagents = 6\np = 0.5'
    assert graph in small.TEXT
    return small.TEXT.replace(graph, f'kind = "file"\npath = "{name}"')


def write_csv(graph, path):
    path.write_text("\n".join(f"{u},{v},2.5" for u, v in graph.edges()))


def write_gal(graph, path):
    entries = [f"{agent} {len(graph[agent])}\n{' '.join(graph[agent])}" for agent in graph]
    path.write_text("\n".join([str(len(graph)), *entries]))


WRITERS = {
    ".graphml": nx.write_graphml,
    ".gml": nx.write_gml,
    ".adjlist": nx.write_adjlist,
    ".net": nx.write_pajek,
    ".g6": nx.write_graph6,
    ".gal": write_gal,
    ".edgelist": nx.write_edgelist,
    ".edges": lambda graph, path: nx.write_edgelist(graph, path, data=False),
    ".txt": nx.write_weighted_edgelist,
    ".csv": write_csv,
}


def test_there_is_a_writer_for_every_reader():
    assert set(WRITERS) == set(READERS)


@pytest.mark.parametrize("suffix", WRITERS)
def test_graphs_come_from_files_beside_the_experiment(suffix, tmp_path):
    star = nx.star_graph(3) if suffix == ".g6" else nx.relabel_nodes(nx.star_graph(3), str)
    WRITERS[suffix](star, tmp_path / f"network{suffix}")
    jobs = jobs_of(task_of(small.write(tmp_path, from_file(f"network{suffix}"))))
    graph = jobs[0][0].graph
    assert [str(label) for label in graph.labels] == ["0", "1", "2", "3"]
    assert graph.neighbourhood_sizes.tolist() == [4, 2, 2, 2]


def test_a_graph_file_of_another_kind_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"graph\.path must end in one of \.graphml, .* got"):
        jobs_of(task_of(small.write(tmp_path, from_file("network.png"))))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("p = 0.5", "p = 0.5\n[stream]\nnoise = inf", "tasks.smoothness = 1: noise must be finite"),
        (
            "lipschitz = 2.0",
            "lipschitz = inf",
            "tasks.smoothness = 1: MT-CO2OL: lipschitz must be finite",
        ),
        (
            'kind = "erdos_renyi"\nagents = 6\np = 0.5',
            'kind = "regular"\nagents = 5\ndegree = 3',
            "tasks.smoothness = 1: graph: degree must be even when n = 5 is odd, got 3",
        ),
    ],
)
def test_what_cannot_be_built_is_refused_before_anything_runs(old, new, words, tmp_path):
    assert old in small.TEXT
    with pytest.raises(ValueError) as refusal:  # noqa: PT011
        jobs_of(task_of(small.write(tmp_path, small.TEXT.replace(old, new, 1))))
    assert str(refusal.value).startswith(words)


def test_a_graph_file_that_networkx_cannot_read_is_refused(tmp_path):
    (tmp_path / "network.graphml").write_text("<not xml")
    text = from_file("network.graphml")
    with pytest.raises(ValueError, match=r"graph\.path must be a graph that networkx reads"):
        jobs_of(task_of(small.write(tmp_path, text)))


def test_sweeps_with_too_many_points_are_refused_before_there_are_any():
    values = list(range(1, 1_501))
    table = {
        "name": "many",
        "algorithm": [{"name": "alone", "algorithm": "i_ftrl"}],
        "sweep": [
            {"parameter": "rounds", "values": values},
            {"parameter": "tasks.dim", "values": values},
        ],
    }
    with pytest.raises(ValueError, match="sweeps must have at most 100,000 points, got 2,250,000"):
        make_experiment(table)


def test_quick_scales_all_numbers_of_rounds_alike(tmp_path):
    text = small.TEXT.replace("rounds = 200", "rounds = 60_000").replace(
        'parameter = "tasks.smoothness"\nvalues = [1, 10]',
        'parameter = "rounds"\nvalues = [10_000, 100_000]',
    )
    task = task_of(small.write(tmp_path, text), quick=True)
    assert [point.rounds for point in task.experiment.points] == [300, 3000]
    assert [values["rounds"] for values in task.experiment.values] == ["300", "3000"]
    assert task.replicates == 2


def test_a_quick_look_at_the_paper_has_fewer_graphs_and_sections_of_full_length():
    sections = paper_sections(quick=True)
    figures, *others = paper_tasks(sections, quick=True)
    whole = {task.experiment.head.name: task for task in paper_tasks()}
    assert figures == whole["figures"]  # with fewer graphs a claim of the paper stays open
    assert len(others) < 3
    for task in others:
        full = whole[task.experiment.head.name]
        assert task.experiment == full.experiment
        assert task.replicates == FEW < full.replicates == task.quick.replicates
        assert task.needs is None  # so claims are judged
    with pytest.raises(ValueError, match="full must be left out with quick, got both"):
        paper_tasks(quick=True, full=True)


def test_sections_of_the_paper_are_chosen_by_name():
    assert paper_sections() == [*EXPERIMENTS, "learner"]
    chosen = paper_sections(["growth", "hedge"], quick=True)
    assert chosen == ["hedge", "growth"]
    assert [task.replicates for task in paper_tasks(chosen)] == [16, 6]
    assert "Left out of this report: figures, bound, " in paper_lead(chosen)
    with pytest.raises(ValueError, match=r"only must be one of figures, hedge, .*, got 'hedges'"):
        paper_sections(["hedge", "hedges"])


def test_the_papers_experiments_are_such_files():
    tasks = paper_tasks(full=True)
    assert [task.experiment.head.name for task in tasks] == list(EXPERIMENTS)
    assert all(task.replicates == 48 for task in tasks)
    figures = tasks[0].experiment
    assert len(figures.points) == 10
    assert {point.rounds for point in figures.points} == {150_000}


def test_the_example_of_the_documents_is_a_file_that_runs():
    page = (ROOT / "docs/experiments.md").read_text()
    example = (ROOT / "examples/ring.toml").read_text()
    assert f"```toml\n{example}```" in page
    experiment = load_experiment(
        (ROOT / "examples/ring.toml").read_text(), ROOT / "examples", "", most_rounds=20
    )
    for point in experiment.points:
        assert len(run_cell(Job(point, 0, 0)).runs) == 2


def test_the_papers_figures_are_among_the_examples():
    assert task_of(ROOT / "examples/paper.toml").experiment == paper_tasks()[0].experiment
