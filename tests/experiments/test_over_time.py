"""What a run looks like along its rounds: agent by agent, and under the bound of its theorem."""

import csv

import numpy as np
import pytest
import small
from matplotlib.figure import Figure as Canvas

import mtcool
from mtcool.experiments.report.bound_curves import bound_curves
from mtcool.experiments.report.panels import draw_bound_curves
from mtcool.experiments.report.promises import KnownReplicate, promises
from mtcool.experiments.report.report import Report
from mtcool.experiments.running import cells
from mtcool.experiments.running.build import build_network, build_stream
from mtcool.experiments.running.cells import agent_marks, marks, run_cell
from mtcool.experiments.running.engines import Local
from mtcool.experiments.running.runner import jobs_of, run_tasks
from mtcool.experiments.running.suite import task_of

TEXT = (
    small.TEXT.replace("lipschitz = 2.0", "lipschitz = 20.0")
    + """
[[algorithm]]
name = "stochastic"
algorithm = "mt_co2ol"
learner = "MTFTRLKT"
lipschitz = 20.0
rates = "stochastic"
"""
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Results, and the folder of their report."""
    folder = tmp_path_factory.mktemp("over-time")
    task = task_of(small.write(folder, TEXT))
    (results,) = run_tasks([task], folder, Local(1), progress=False)
    Report("", "", [task], folder).write([results])
    return results, folder / "small"


def rows_of(path):
    with open(path) as file:
        return list(csv.DictReader(file))


def test_agents_are_recorded_at_a_few_times_up_to_the_end():
    for rounds in (1, 7, 150_000):
        times = marks(rounds)
        few = times[agent_marks(times)]
        assert few[-1] == rounds
        assert len(few) == len(set(few)) == min(len(times), 16)


def test_the_regret_of_the_agents_adds_up_to_that_of_the_run(finished):
    results, _ = finished
    for point in results.points:
        for cell in point.cells:
            places = [cell.times.index(time) for time in cell.agent_times]
            for run in cell.runs:
                np.testing.assert_allclose(
                    np.sum(run.agents, axis=1), np.array(run.regret)[places], rtol=1e-9, atol=1e-12
                )
            assert np.sum(cell.activations, axis=1).tolist() == cell.agent_times


def test_the_table_of_the_agents_has_the_means_of_the_runs(finished):
    results, folder = finished
    rows = rows_of(folder / "agents.csv")
    point = results.points[1]
    assert len(rows) == 2 * 4 * 6 * len(point.agent_times)
    (last,) = [
        row
        for row in rows
        if row["tasks.smoothness"] == "10"
        and row["algorithm"] == "i-FTRL"
        and row["agent"] == "4"
        and row["time"] == "200"
    ]
    regrets = [cell.runs[1].agents[-1][4] for cell in point.cells]
    assert float(last["regret"]) == pytest.approx(np.mean(regrets))
    assert float(last["regret_error"]) == pytest.approx(np.std(regrets, ddof=1) / np.sqrt(3))


def stream_of(job, kept):
    return build_stream(job.point, kept.graph, job.seeds()[1])


def test_very_many_agents_are_not_recorded_one_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr(cells, "MOST_AGENTS", 5)
    job = jobs_of(task_of(small.write(tmp_path)))[0][0]
    cell = run_cell(job)
    assert cell.agent_times == cell.activations == []
    assert all(run.agents == [] for run in cell.runs)
    assert cell.fits(job)


def test_counting_clipped_gradients_changes_no_number(tmp_path):
    """Networks that refuse long gradients play the same where none is long."""
    job = jobs_of(task_of(small.write(tmp_path, TEXT)))[0][0]
    cell = run_cell(job)
    kept = KnownReplicate.of(job, cell)
    clipping = build_network(kept.replicate, job.point.algorithm[0])
    assert clipping.settings.on_excess == "clip"
    refusing = mtcool.mt_co2ol(kept.graph, 1, learner=mtcool.learners.MTFTRLKT(), lipschitz=20.0)
    trace = mtcool.simulate(refusing, stream_of(job, kept), times=cell.times)
    assert cell.runs[0].clipped == 0
    assert cell.runs[0].regret == trace.regret.tolist()


def test_bounds_over_time_are_those_of_shorter_runs(finished):
    """The bound at t is what the record says of a run that ends there; measured regret is below."""
    results, folder = finished
    curves = list(bound_curves(results, list(map(promises, results.firsts, results.points))))
    assert [values for values, _ in curves] == [point.values for point in results.points]
    algorithms = curves[0][1]
    shared, alone, stochastic = (algorithms[k] for k in (0, 1, -1))
    kept = KnownReplicate.of(results.firsts[0], results.points[0].cells[0])
    t = int(shared.times[9])
    counts = np.bincount(stream_of(results.firsts[0], kept).agents[:t], minlength=6)
    wanted = mtcool.theory.kt(kept.graph, kept.tasks, counts, lipschitz=20.0).value
    assert shared.bound[9] == pytest.approx(wanted)
    assert shared.measured.tolist() == [
        results.points[0].curves[0, 0, results.points[0].times.tolist().index(time)]
        for time in shared.times
    ]
    for one in (shared, alone):
        assert not one.whole_run
        assert (np.diff(one.bound) >= 0).all()
        assert (one.measured <= one.bound).all()
    # In expectation: the bound of the whole run, next to the mean.
    assert stochastic.whole_run
    assert len(set(stochastic.bound)) == 1
    assert stochastic.measured[-1] == pytest.approx(results.points[0].final[:, -1].mean())
    rows = rows_of(folder / "bounds.csv")
    assert len(rows) == sum(len(one.times) for _, every in curves for one in every)
    assert {row["whole_run"] for row in rows if row["algorithm"] == "stochastic"} == {"True"}


def test_the_report_shows_both_folded(finished):
    page = (finished[1].parent / "report.html").read_text()
    assert "<summary>Agent by agent: the regret of each over time" in page
    assert "Regret and bound over time. Dashed, the bound for as many rounds" in page
    for name in ("agents", "bounds"):
        assert (finished[1] / f"{name}.png").stat().st_size > 10_000


def test_panels_of_bounds_that_would_all_be_the_same_are_one(finished, monkeypatch, tmp_path):
    drawn = []
    monkeypatch.setattr(Canvas, "savefig", lambda canvas, *_, **__: drawn.append(canvas))
    results, _ = finished
    first, second, *_ = bound_curves(results, list(map(promises, results.firsts, results.points)))
    for curves in ([first, second], [first, (second[0], first[1])]):
        assert draw_bound_curves(results, curves, tmp_path / "bounds")
    titles = [[one.get_title() for one in canvas.axes if one.get_visible()] for canvas in drawn]
    assert len(titles[0]) == 2
    assert {*titles[-1]} == {"the same at all points"}
