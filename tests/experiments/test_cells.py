"""The numbers of a cell: those of an independent slow run, and the same wherever it is run."""

import dataclasses

import msgspec
import networkx as nx
import numpy as np
import pytest
import small

import mtcool
import oracle
from mtcool.config import schema
from mtcool.config.graphs import build_graph
from mtcool.experiments.files import spec
from mtcool.experiments.running import cells
from mtcool.experiments.running.build import build_stream
from mtcool.experiments.running.cells import Job, code_digest, marks, run_cell
from mtcool.experiments.running.runner import jobs_of
from mtcool.experiments.running.suite import paper_tasks, task_of
from mtcool.kernels import package_files

SLOW = {"KT": oracle.KT, "FTRL": oracle.FTRL}


def slow_regret(job, algorithm, graph, stream):
    """Regret of one algorithm, with the obvious implementation of the tests."""
    network, dim, lipschitz = nx.Graph(graph.to_networkx()), stream.dim, algorithm.lipschitz
    if algorithm.algorithm == "st_ftrl":
        play = oracle.SingleTaskNetwork(network, SLOW[algorithm.learner or "FTRL"], dim, lipschitz)
    elif algorithm.algorithm == "i_ftrl":
        play = oracle.i_ftrl(network, SLOW[algorithm.learner or "FTRL"], dim, lipschitz)
    else:
        learner = oracle.HedgeFreeKT if algorithm.learner == "MTFTRLKT" else oracle.Hedge
        weights = oracle.uniform(network)
        play = oracle.mt_co2ol(network, weights, learner, dim, lipschitz=lipschitz)
    regret = 0.0
    for agent, loss in stream:
        x = play.predict(agent)

        def clipped(y, loss=loss):
            return lipschitz * oracle.project(loss.subgradient(y) / lipschitz)

        regret += loss.value(x) - loss.value(stream.comparator[agent])
        play.update(agent, clipped if algorithm.algorithm == "st_ftrl" else clipped(x))
    return regret


@pytest.mark.parametrize("replicate", [0, 1])
@pytest.mark.parametrize(
    ("name", "rounds", "accuracy"), [("figures", 400, 1e-9), ("hedge", 12, 1e-5)]
)
def test_regrets_are_those_of_the_oracle(name, rounds, accuracy, replicate):
    """Hedge's oracle is a convex solver, whose own accuracy is the limit."""
    task = next(t for t in paper_tasks() if t.experiment.head.name == name)
    point = msgspec.structs.replace(
        task.experiment.points[5], rounds=rounds, graph=schema.ErdosRenyi(agents=7, p=0.6)
    )
    job = Job(point, seed=3, replicate=replicate)
    cell = run_cell(job)
    for_graph, for_stream = np.random.SeedSequence(3, spawn_key=(replicate,)).spawn(2)
    graph = build_graph(point.graph, np.random.default_rng(for_graph))
    stream = build_stream(point, graph, for_stream)
    for run, algorithm in zip(cell.runs, point.algorithm, strict=True):
        want = slow_regret(job, algorithm, graph, stream)
        np.testing.assert_allclose(run.regret[-1], want, rtol=accuracy, atol=accuracy)


def test_a_regret_that_is_not_finite_is_refused(monkeypatch, tmp_path):
    job = jobs_of(task_of(small.write(tmp_path)))[0][0]
    simulate = mtcool.simulate

    def overflow(*arguments, **settings):
        trace = simulate(*arguments, **settings)
        return dataclasses.replace(trace, regret=trace.regret + np.inf)

    monkeypatch.setattr(mtcool, "simulate", overflow)
    with pytest.raises(
        ValueError, match=r"algorithm 'MT-CO2OL' must have a finite regret, got inf"
    ):
        run_cell(job)


def test_points_of_a_sweep_see_the_same_random_numbers(tmp_path):
    """Same graph and same activations: the messages are the same, the tasks are not."""
    one, other = (run_cell(point[0]) for point in jobs_of(task_of(small.write(tmp_path))))
    assert [run.messages for run in one.runs] == [run.messages for run in other.runs]
    assert one.sigma > other.sigma


def test_replicates_and_seeds_are_independent(tmp_path):
    job = jobs_of(task_of(small.write(tmp_path)))[0][0]
    cells = [run_cell(Job(job.point, *pair)) for pair in ((5, 0), (5, 1), (6, 0), (5, 0))]
    assert len({cell.sigma for cell in cells}) == 3
    assert cells[0] == cells[3]


def test_the_key_changes_with_everything_that_changes_the_numbers():
    graph = mtcool.graphs.ring(5)
    algorithms = [schema.AlgorithmSpec(name="a", algorithm="i_ftrl")]
    point = spec.Point(algorithm=algorithms)
    longer = spec.Point(algorithm=algorithms, rounds=7)
    jobs = [Job(point, 0, 0), Job(point, 0, 1), Job(point, 1, 0), Job(longer, 0, 0)]
    jobs += [Job(point, 0, 0, graph), Job(point, 0, 0, mtcool.graphs.ring(6))]
    assert len({job.key for job in jobs}) == len(jobs)
    assert Job(point, 0, 0).key == jobs[0].key


@pytest.mark.parametrize("rounds", [1, 2, 50, 150_000])
def test_marks_ascend_to_the_last_round(rounds):
    times = marks(rounds)
    assert times[0] == 1
    assert times[-1] == rounds
    assert (np.diff(times) > 0).all()


@pytest.mark.parametrize(
    "loss", ["quadratic", "linear", "squared", "absolute", "logistic", "hinge"]
)
def test_every_loss_can_be_run(loss):
    algorithm = schema.AlgorithmSpec(name="a", algorithm="i_ftrl")
    point = spec.Point(rounds=20, stream=spec.StreamSpec(loss=loss), algorithm=[algorithm])
    assert np.isfinite(run_cell(Job(point, 0, 0)).runs[0].regret).all()


@pytest.mark.parametrize(
    "graph",
    [
        schema.Regular(agents=6, degree=3),
        schema.Ring(agents=6, reach=2),
        schema.CliquesGraph(sizes=[2, 3]),
        schema.Stars(sizes=[3, 1]),
        schema.Grid(rows=2, columns=3),
    ],
    ids=lambda graph: type(graph).__name__,
)
def test_every_graph_can_be_run(graph):
    algorithm = schema.AlgorithmSpec(name="a", algorithm="i_ftrl")
    point = spec.Point(
        rounds=20, graph=graph, tasks=spec.Variance(sigma=0.1), algorithm=[algorithm]
    )
    assert run_cell(Job(point, 0, 0)).sigma == pytest.approx(0.1)


@pytest.mark.parametrize(
    "options",
    [{"weights": "proportional"}, {"rates": "stochastic"}, {"rates": "estimated"}],
    ids=repr,
)
def test_q_comes_from_the_activations(options):
    algorithm = schema.AlgorithmSpec(name="a", algorithm="mt_co2ol", learner="MTFTRLKT", **options)
    skewed = spec.StreamSpec(activations=spec.Stochastic(skew=1.0))
    run_cell(Job(spec.Point(rounds=20, stream=skewed, algorithm=[algorithm]), 0, 0))
    turns = spec.StreamSpec(activations=spec.RoundRobin())
    with pytest.raises(ValueError, match=r"stream\.activations\.kind must be stochastic"):
        run_cell(Job(spec.Point(rounds=20, stream=turns, algorithm=[algorithm]), 0, 0))


@pytest.mark.parametrize(
    ("file", "matters"),
    [
        ("axes.py", True),
        ("graphs/dominating.py", True),
        ("learners/ftrl.py", True),
        ("privacy/aggregators/blt.py", True),
        ("experiments/running/build.py", True),
        ("experiments/report/bound_curves.py", False),
        ("live/host.py", False),
        ("cli/advise.py", False),
    ],
)
def test_an_edit_of_what_makes_numbers_changes_the_key_of_a_cell(file, matters, monkeypatch):
    before, files = code_digest.__wrapped__(), package_files()
    assert file in files
    edited = files | {file: files[file] + b"# edited"}

    def of(folder=""):
        return {name: text for name, text in edited.items() if name.startswith(folder)}

    monkeypatch.setattr(cells, "package_files", of)
    assert (code_digest.__wrapped__() != before) == matters
