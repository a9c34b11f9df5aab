"""The orderings that the notes on the paper state come out, and regret grows as declared."""

import dataclasses

import msgspec
import numpy as np
import pytest

from mtcool.experiments.report.results import PointResults
from mtcool.experiments.running.cells import run_cell
from mtcool.experiments.running.runner import jobs_of
from mtcool.experiments.running.suite import paper_tasks

MT, ALONE, ONE = "MT-CO2OL (KT)", "i-FTRL (KT)", "ST-FTRL (KT)"


def point_of(name, replicates, change=None, **values):
    """One point of an experiment of the paper, at full length on fewer graphs."""
    task = next(t for t in paper_tasks() if t.experiment.head.name == name)
    experiment = task.experiment
    k = next(i for i, found in enumerate(experiment.values) if values.items() <= found.items())
    point = change(experiment.points[k]) if change else experiment.points[k]
    one = msgspec.structs.replace(experiment, points=[point], values=[experiment.values[k]])
    jobs = jobs_of(dataclasses.replace(task, experiment=one, replicates=replicates))[0]
    return PointResults.of(experiment.values[k], [run_cell(job) for job in jobs])


def with_bound(bound):
    def change(point):
        algorithms = [msgspec.structs.replace(a, lipschitz=bound) for a in point.algorithm]
        return msgspec.structs.replace(point, algorithm=algorithms)

    return change


@pytest.mark.parametrize(
    ("smoothness", "sigma", "best"), [("1e+10", 0.0, ONE), ("6", 0.078, MT), ("2", 0.13, ALONE)]
)
def test_with_bound_4_each_algorithm_has_its_range(smoothness, sigma, best):
    point = point_of("figures", 12, **{"tasks.smoothness": smoothness})
    assert point.sigma.mean() == pytest.approx(sigma, abs=0.012)
    assert point.ranking()[0] == best
    assert point.difference(point.ranking()[1], best).clear()


def test_with_bound_1_learning_alone_is_best_at_the_papers_deviation():
    point = point_of("figures", 12, with_bound(1.0), **{"tasks.smoothness": "6"})
    assert point.ranking() == [ALONE, MT, ONE]
    assert point.difference(MT, ALONE).clear()


def test_regret_grows_as_the_square_root_of_the_rounds_on_adversarial_losses():
    horizons = ["1000", "3000", "10000"]

    def fast(point):
        kept = [a for a in point.algorithm if "Hedge" not in a.name]
        return msgspec.structs.replace(point, algorithm=kept)

    points = [point_of("growth", 12, fast, rounds=rounds) for rounds in horizons]
    finals = np.array([point.final for point in points])
    for k, name in enumerate(points[0].names):
        slopes = np.polyfit(np.log(list(map(float, horizons))), np.log(finals[:, :, k]), 1)[0]
        error = slopes.std(ddof=1) / np.sqrt(len(slopes))
        assert abs(slopes.mean() - 0.5) < 0.05 + 3 * error, name
