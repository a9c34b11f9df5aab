"""The numbers of a cell: those of an independent slow run, and the same wherever it is run."""

import dataclasses
from pathlib import Path

import msgspec
import networkx as nx
import numpy as np
import pytest
import small

import mtcool
import oracle
from mtcool.experiments.files import spec
from mtcool.experiments.running.build import build_graph, build_stream
from mtcool.experiments.running.cells import MAKERS, Job, marks, run_cell
from mtcool.experiments.running.runner import jobs_of
from mtcool.experiments.running.suite import paper_tasks, task_of
from mtcool.kernels import SOURCES

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
        task.experiment.points[5], rounds=rounds, graph=spec.ErdosRenyi(agents=7, p=0.6)
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
    algorithms = [spec.Algorithm(name="a", algorithm="i_ftrl")]
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
    algorithm = spec.Algorithm(name="a", algorithm="i_ftrl")
    point = spec.Point(rounds=20, stream=spec.Stream(loss=loss), algorithm=[algorithm])
    assert np.isfinite(run_cell(Job(point, 0, 0)).runs[0].regret).all()


@pytest.mark.parametrize(
    "graph",
    [
        spec.Regular(agents=6, degree=3),
        spec.Ring(agents=6, reach=2),
        spec.Cliques(sizes=[2, 3]),
        spec.Stars(sizes=[3, 1]),
        spec.Grid(rows=2, columns=3),
    ],
    ids=lambda graph: type(graph).__name__,
)
def test_every_graph_can_be_run(graph):
    algorithm = spec.Algorithm(name="a", algorithm="i_ftrl")
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
    algorithm = spec.Algorithm(name="a", algorithm="mt_co2ol", learner="MTFTRLKT", **options)
    skewed = spec.Stream(activations=spec.Stochastic(skew=1.0))
    run_cell(Job(spec.Point(rounds=20, stream=skewed, algorithm=[algorithm]), 0, 0))
    turns = spec.Stream(activations=spec.RoundRobin())
    with pytest.raises(ValueError, match=r"stream\.activations\.kind must be stochastic"):
        run_cell(Job(spec.Point(rounds=20, stream=turns, algorithm=[algorithm]), 0, 0))


def test_every_file_that_makes_numbers_is_in_the_key_of_a_cell():
    package = Path(mtcool.__file__).parent
    rooms = [
        "agents",
        "algorithms",
        "changes",
        "field",
        "graphs",
        "learners",
        "peers",
        "privacy",
        "simulation",
        "streams",
    ]
    files = {
        file.relative_to(package).as_posix()
        for room in rooms
        for file in (package / room).rglob("*.py")
        if file.name != "__init__.py"
    }
    without_numbers = {
        "agents/agent.py",
        "agents/cliques.py",
        "agents/cutting/cliques.py",
        "agents/cutting/field.py",
        "agents/cutting/field_joining.py",
        "agents/cutting/kinds.py",
        "agents/cutting/order.py",
        "agents/cutting/private.py",
        "agents/cutting/settings.py",
        "agents/cutting/single_task.py",
        "agents/parts.py",
        "agents/private.py",
        "agents/received.py",
        "agents/single_task.py",
        "field/packing.py",
        "graphs/files.py",
        "graphs/gal.py",
        "graphs/nearest.py",
        "graphs/parameters.py",
        "learners/panel/checks.py",
        "learners/panel/growth.py",
        "peers/field/accounts.py",
        "privacy/words.py",
        "simulation/bar.py",
        "simulation/frames.py",
        "simulation/progress.py",
        "simulation/replicate.py",
        "simulation/trace.py",
        "simulation/warm.py",
        "simulation/workers.py",
        "streams/checking.py",
        "streams/order.py",
        "streams/real/births.py",
        "streams/real/calendar.py",
        "streams/real/flights.py",
        "streams/real/outlines.py",
        "streams/real/packages.py",
        "streams/real/schools.py",
        "streams/table.py",
    }
    # Cells are played in one block, not by single agents.
    without_numbers |= {name for name in files if name.startswith("agents/field/")}
    assert files - {*SOURCES, *MAKERS} == without_numbers
    assert all((package / name).is_file() for name in (*SOURCES, *MAKERS))
