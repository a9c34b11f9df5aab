"""An experiment file may bring a loss along: loss = "module:Class", with parameters."""

from pathlib import Path

import numpy as np
import pytest
import small

import huber
from mtcool.config.graphs import build_graph
from mtcool.experiments.files.inputs import keep_inputs
from mtcool.experiments.files.named import code_digest
from mtcool.experiments.running.build import build_stream
from mtcool.experiments.running.cells import Job, run_cell
from mtcool.experiments.running.engines import Local
from mtcool.experiments.running.runner import jobs_of, run_tasks
from mtcool.experiments.running.suite import task_of
from mtcool.streams import best_in_hindsight, name_of

STREAM = """
[stream]
loss = "huber:Huber"
parameters = { delta = 0.1 }
"""


def text(stream: str = STREAM) -> str:
    alone = """
name = "own"
rounds = 60
replicates = 2

[graph]
kind = "ring"
agents = 4

[[algorithm]]
name = "alone"
algorithm = "i_ftrl"
learner = "FTRL"
"""
    return alone + stream


def first_job(folder: Path, stream: str = STREAM) -> Job:
    return jobs_of(task_of(small.write(folder, text(stream))))[0][0]


def stream_of(job: Job):
    for_graph, for_stream, _ = job.seeds()
    graph = build_graph(job.point.graph, np.random.default_rng(for_graph))
    return build_stream(job.point, graph, for_stream)


def test_rows_are_made_as_for_a_regression(tmp_path):
    own = stream_of(first_job(tmp_path))
    like = stream_of(first_job(tmp_path, '[stream]\nloss = "squared"\n'))
    assert own.losses.kind == huber.Huber(0.1)
    assert (own.losses.rows == like.losses.rows).all()
    assert (own.comparator == like.comparator).all()


def test_rows_are_made_as_for_quadratic_losses_where_they_are_points(tmp_path):
    table = '[stream]\nloss = "huber:Distance"\nparameters = { scale = 2 }\n'
    own = stream_of(first_job(tmp_path, table))
    like = stream_of(first_job(tmp_path, '[stream]\nloss = "quadratic"\n'))
    assert (name_of(own.losses.kind), own.losses.kind.scale) == ("huber:Distance", 2.0)
    assert (own.losses.rows == like.losses.rows).all()


def test_targets_can_be_labels(tmp_path):
    own = stream_of(first_job(tmp_path, STREAM + 'data = "hinge"\n'))
    assert set(own.losses.rows[:, -1]) == {-1.0, 1.0}


@pytest.mark.parametrize("loss", ["absolute", "huber:Huber", "linear"])
def test_regret_can_be_against_the_best_in_hindsight(tmp_path, loss):
    table = f'[stream]\nloss = "{loss}"\ncomparator = "hindsight"\n'
    stream = stream_of(first_job(tmp_path, table))
    assert (stream.comparator == best_in_hindsight(stream, 1.0)).all()


def test_parameters_can_be_swept_and_reach_the_numbers(tmp_path):
    sweep = '[[sweep]]\nparameter = "stream.parameters.delta"\nvalues = [0.01, 1.0]\n'
    (small_one,), (large_one,) = (
        [run_cell(job) for job in point[:1]]
        for point in jobs_of(task_of(small.write(tmp_path, text(STREAM + sweep))))
    )
    assert small_one.runs[0].loss < large_one.runs[0].loss
    assert small_one.runs[0].longest_gradient == pytest.approx(0.01)


MODULE = Path(huber.__file__).read_text()


def test_a_module_next_to_the_file_is_found_by_the_workers_and_kept_with_the_results(tmp_path):
    (tmp_path / "next_to_it.py").write_text(MODULE)
    path = small.write(tmp_path, text(STREAM.replace("huber:", "next_to_it:")))
    (results,) = run_tasks([task_of(path)], tmp_path / "out", Local(2), progress=False)
    assert np.isfinite(results.points[0].cells[1].runs[0].loss)
    keep_inputs(task_of(path), tmp_path / "kept")
    assert (tmp_path / "kept" / "next_to_it.py").read_text() == MODULE


def test_results_of_other_code_of_the_loss_are_not_taken(tmp_path):
    modules = {"one": MODULE, "same": MODULE, "two": MODULE.replace("0.5 * error", "0.6 * error")}
    digests = {}
    for name, content in modules.items():
        (tmp_path / f"{name}_of_them.py").write_text(content)
        job = first_job(tmp_path, f'[stream]\nloss = "{name}_of_them:Huber"\n')
        digests[name] = code_digest(job.point)
        assert job.key == Job(job.point, job.seed, job.replicate).key  # within a run it stays
    assert digests["one"] == digests["same"] != digests["two"]


def test_a_loss_with_a_mistake_is_refused_before_anything_runs(tmp_path):
    table = '[stream]\nloss = "planted_loss:Planted"\nparameters = { mistake = 1 }\n'
    for more in ("", 'comparator = "hindsight"\n'):
        path = small.write(tmp_path, text(table + more))
        with pytest.raises(ValueError, match=r"^losses must .* got Planted\(mistake=1\) in round"):
            run_tasks([task_of(path)], tmp_path / "out", Local(2), progress=False)
    assert not list((tmp_path / "out" / "cells").glob("*"))


def test_the_ball_of_a_loss_is_the_largest_of_the_file(tmp_path):
    table = '[stream]\nloss = "planted_loss:Planted"\nparameters = { mistake = 7 }\n'
    radii = '[[sweep]]\nparameter = "algorithm.radius"\nvalues = [0.1, 9.0]\n'
    with pytest.raises(ValueError, match=r"^algorithm.radius = 9: losses must be convex"):
        first_job(tmp_path, table + radii)


def test_two_modules_of_one_name_are_not_mixed_up(tmp_path):
    (tmp_path / "huber.py").write_text(MODULE)
    with pytest.raises(ValueError, match=r"module that is there once.*huber is .*huber\.py and"):
        first_job(tmp_path)


def test_a_module_that_fails_is_one_sentence(tmp_path):
    (tmp_path / "broken_one.py").write_text("import math\nmath.nothing\n")
    with pytest.raises(ValueError, match=r"can be imported.*'broken_one:X'.*AttributeError"):
        first_job(tmp_path, '[stream]\nloss = "broken_one:X"\n')


@pytest.mark.parametrize(
    ("stream", "complaint"),
    [
        ('loss = "nowhere:Huber"', "module that can be imported, got 'nowhere:Huber'.*No module"),
        ('loss = "huber:Hubert"', "class of the module huber, got 'huber:Hubert'"),
        ('loss = "huber:"', "class of the module huber, got 'huber:'"),
        ('loss = ":Huber"', "module that can be imported, got ':Huber'"),
        ('loss = "huber:np"', "'huber:np': kind must be a NamedTuple class"),
        ('loss = "huber:Distance"', r"Distance\.scale is missing"),
        ('loss = "huber:Huber"\nparameters = { gamma = 1 }', "Huber has no parameter gamma"),
        ('loss = "huber:Huber"\nparameters = { delta = "x" }', r"Huber\.delta must be a number"),
        ('loss = "huber:Huber"\nparameters = { delta = -1 }', r"Huber\.delta must be positive"),
        ('loss = "hinge"\nparameters = { delta = 1 }', "Hinge has no parameter delta"),
        ('loss = "huber:Huber"\ndata = "quadratic"', r"stream\.data must not be quadratic"),
        (
            'loss = "huber:Distance"\nparameters = { scale = 1 }\ndata = "hinge"',
            r"stream\.data must be quadratic for rows of 1 numbers, got 'hinge'",
        ),
        ('loss = "hinge"\ndata = "squared"', r"stream\.data applies only to"),
        ('loss = "huber:Huber"\ndrift = 1.0', r"stream\.drift applies only to"),
        ('loss = "linear"\ncomparator = "tasks"', r"stream\.comparator must be hindsight"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(tmp_path, stream, complaint):
    with pytest.raises(ValueError, match=complaint):
        first_job(tmp_path, f"[stream]\n{stream}\n")
