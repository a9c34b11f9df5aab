"""The result says when the gradient bound L does not fit, and which number does."""

import re

import msgspec
import pytest
import small

from mtcool.experiments.files.loading import make_experiment
from mtcool.experiments.report.gradients import gradient_words
from mtcool.experiments.report.results import PointResults, Results
from mtcool.experiments.running.cells import Cell, Job, Run, run_cell

ALONE = {"name": "alone", "algorithm": "i_ftrl"}


def results_with(*algorithms, clipped=None, longest=None, **more):
    """One replicate of every point; `clipped` and `longest` replace what the runs recorded."""
    table = {
        "name": "small",
        "rounds": 100,
        "graph": {"kind": "ring", "agents": 5},
        "algorithm": list(algorithms),
        **more,
    }
    experiment = make_experiment(table)
    points = []
    for point, values in zip(experiment.points, experiment.values, strict=True):
        cell = run_cell(Job(point, 5, 0))
        changes = {"clipped": clipped, "longest_gradient": longest}
        made_up = {key: value for key, value in changes.items() if value is not None}
        runs = [msgspec.structs.replace(run, **made_up) for run in cell.runs]
        points.append(PointResults.of(values, [msgspec.structs.replace(cell, runs=runs)]))
    return Results(experiment, 1, points, [])


def advice(words):
    return float(re.search(r"lipschitz = ([\d.]+)\.$", words)[1])


@pytest.mark.parametrize(("bound", "start"), [(0.01, "L is too small"), (50.0, "L is larger")])
def test_with_the_number_that_is_told_there_is_nothing_to_tell(bound, start):
    (told,) = gradient_words(results_with({**ALONE, "lipschitz": bound}))
    assert told.startswith(start)
    mended = results_with({**ALONE, "lipschitz": advice(told)})
    assert not mended.points[0].cells[0].runs[0].clipped
    assert list(gradient_words(mended)) == []


def test_the_default_bound_below_the_gradients_of_the_default_loss_is_told():
    """Small components have large tasks, here above 1."""
    graph = {"kind": "cliques", "sizes": [1] * 20}
    (told,) = gradient_words(results_with(ALONE, graph=graph))
    share = re.search(r"in up to ([\d.]+) % of the rounds, ", told)
    assert told.replace(share[0], "").startswith(
        "L is too small: gradients were longer and were clipped in 1 of 1 runs, most of all with "
        "alone, where L = 1. On the ball of radius 1 no gradient is longer than "
    )
    assert 0.0 < float(share[1]) < 100.0
    assert advice(told) > 2.0


def test_one_line_speaks_of_all_points_and_names_the_worst():
    sweep = [{"parameter": "algorithm.lipschitz", "title": "L", "values": [0.01, 0.1, 9.0]}]
    (told,) = gradient_words(results_with(ALONE, sweep=sweep))
    assert "clipped in 2 of 3 runs" in told
    assert "% of the rounds, most of all with alone at L = 0.01" in told


def test_the_ball_is_no_limit_for_kt():
    kt = {**ALONE, "learner": "KT", "lipschitz": 50.0}
    (told,) = gradient_words(results_with(kt, longest=2.0))
    assert told.endswith(
        "50 for alone. On the ball of radius 1, which KT may leave, no gradient is longer than "
        "2.00: use lipschitz = 2."
    )
    (left,) = gradient_words(results_with(kt, longest=2.0, clipped=1))
    assert left.endswith(
        "Predictions left the ball of radius 1, on which no gradient is longer "
        "than 2.00: try lipschitz = 100."
    )


def test_private_runs_are_told_of_as_others_are():
    private = {"name": "private", "algorithm": "dpmt_co2ol"}
    experiment = make_experiment({"name": "small", "algorithm": [private]})
    run = Run("private", [1.0], 1.0, 1.0, 1, 8, 600, 3.0)
    cell = Cell(0.1, [1], [run], small.instance())
    (told,) = gradient_words(Results(experiment, 1, [PointResults.of({}, [cell])], []))
    assert "were clipped in 1 of 1 runs, in up to 0.40 % of the rounds, most" in told
    assert advice(told) == 3.0


def test_of_losses_without_gradients_nothing_is_said():
    assert list(gradient_words(results_with(ALONE, longest=0.0))) == []
