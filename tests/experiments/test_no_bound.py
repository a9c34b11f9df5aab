"""Experiments with `lipschitz = "adaptive"`: run, bounded by theory, refused where wrong."""

import pytest
import small

from mtcool.experiments.report.bound_curves import bound_curves
from mtcool.experiments.report.gradients import gradient_words
from mtcool.experiments.report.promises import promises
from mtcool.experiments.running.engines import Local
from mtcool.experiments.running.runner import run_tasks
from mtcool.experiments.running.suite import task_of

TEXT = """
name = "no-bound"
rounds = 300
replicates = 1

[graph]
kind = "ring"
agents = 5

[tasks]
kind = "gaussian"
smoothness = 1e6

[[algorithm]]
name = "shared"
algorithm = "mt_co2ol"
learner = "MTFTRLKT"
lipschitz = "adaptive"

[[algorithm]]
name = "alone"
algorithm = "i_ftrl"
lipschitz = "adaptive"

[[algorithm]]
name = "given"
algorithm = "i_ftrl"
lipschitz = 100.0
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("no-bound")
    (results,) = run_tasks([task_of(small.write(folder, TEXT))], folder, Local(1), progress=False)
    return results, promises(results.firsts[0], results.points[0])


def test_runs_record_the_longest_gradient_that_was_received(found):
    results, _ = found
    shared, alone, given = results.points[0].cells[0].runs
    assert 0.0 < shared.longest_gradient < 3.0
    assert 0.0 < alone.longest_gradient <= given.longest_gradient  # what the ball allows
    assert shared.clipped == alone.clipped == 0


def test_the_report_shows_the_bound_that_goes_with_it(found):
    results, promised = found
    for row in promised.rows[:2]:
        assert "unknown" in row.statement
        assert 0.0 < row.ratio <= 1.0
    ((_, curves),) = bound_curves(results, [promised])
    for curve in curves[:2]:
        assert (curve.measured <= curve.bound).all()


def test_only_the_bound_that_was_given_can_be_too_large(found):
    (words,) = gradient_words(found[0])
    assert "100 for given" in words


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('learner = "MTFTRLKT"', 'rates = "estimated"', "shared: rates must be 'adversarial'"),
        ('"mt_co2ol"', '"dpmt_co2ol"', "shared: lipschitz must be a number for dpmt_co2ol"),
        ('"adaptive"', '"unknown"', "lipschitz must be a number, or adaptive, got 'un"),
    ],
)
def test_a_file_that_needs_a_bound_is_refused_when_it_is_read(tmp_path, old, new, words):
    text = TEXT.replace(old, new, 1)
    if "dpmt" in new:
        text = text.replace('learner = "MTFTRLKT"\n', "")
    with pytest.raises(ValueError, match=words):
        task_of(small.write(tmp_path, text))
