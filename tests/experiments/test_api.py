"""`mtcool.experiments.run`: an experiment from Python, as the command runs it."""

import shutil
import sys
import tomllib

import numpy as np
import pytest
import small

import mtcool
from mtcool import cli
from mtcool.experiments import api
from mtcool.experiments.files.toml import toml_of
from mtcool.experiments.report import report
from mtcool.experiments.running import runner
from mtcool.experiments.running.engines import Local
from mtcool.experiments.running.suite import task_of

CONTENT = tomllib.loads(small.TEXT)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    return mtcool.experiments.run(small.write(folder), folder / "out")


def command(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["mtcool", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        cli.main()
    return end.value.code


def test_the_command_writes_the_same_files(outcome, tmp_path, monkeypatch):
    words = ("run", small.write(tmp_path), "--output", tmp_path / "out", "--workers", 1)
    assert command(monkeypatch, *words) == 0
    assert small.tables(tmp_path / "out") == small.tables(outcome.folder)
    for name in ("small/figure-1.svg", "small/experiment.toml", "configuration.json"):
        assert (tmp_path / "out" / name).read_bytes() == (outcome.folder / name).read_bytes()


def test_the_command_calls_it(monkeypatch, tmp_path):
    asked = {}

    def note(experiment, output, **options):
        asked.update(options, experiment=experiment, output=output)
        raise ValueError("that is enough")

    monkeypatch.setattr(mtcool.experiments, "run", note)
    assert command(monkeypatch, "run", "my.toml", "--quick", "--workers", 3) == 2
    assert (str(asked["experiment"]), asked["output"]) == ("my.toml", None)
    assert (asked["quick"], asked["workers"], asked["progress"]) == (True, 3, True)


@pytest.mark.usefixtures("undrawn")
def test_a_dictionary_is_a_file(outcome, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = CONTENT | {"replicates": np.int64(3)}
    made = mtcool.experiments.run(content)
    assert made.folder.resolve() == tmp_path / "results" / "small"
    assert small.tables(made.folder) == small.tables(outcome.folder)
    kept = tomllib.loads((made.folder / "small" / "experiment.toml").read_text())
    assert kept == CONTENT


def test_tables_findings_and_claims_are_there_for_programs(outcome):
    assert {name: len(rows) for name, rows in outcome.tables.items()} == {
        "runs": 18,
        "summary": 6,
        "differences": 6,
        "curves": 6 * len({row["time"] for row in outcome.tables["curves"]}),
        "agents": 6 * 6 * len({row["time"] for row in outcome.tables["agents"]}),
        "theory": 6,
        "bounds": 4 * len({row["time"] for row in outcome.tables["bounds"]}),
    }
    gaps = [row["regret"] for row in outcome.tables["runs"] if row["tasks.smoothness"] == "1"]
    mean = np.mean(np.array(gaps).reshape(3, 3), axis=0)
    assert outcome.tables["differences"][0]["difference"] == pytest.approx(mean[0] - mean[1])
    assert outcome.summary["regret"] == outcome.tables["summary"]
    assert any("has the least regret" in sentence for sentence in outcome.findings)
    assert outcome.claims == []


def test_tables_become_frames(outcome):
    pandas = pytest.importorskip("pandas")
    frame = outcome.to_frame("runs")
    assert isinstance(frame, pandas.DataFrame)
    assert frame.regret.tolist() == [row["regret"] for row in outcome.tables["runs"]]
    assert set(frame["tasks.smoothness"]) == {1.0, 10.0}
    assert frame.algorithm[0] == "MT-CO2OL"


def test_frames_need_pandas_and_a_table_that_is_there(outcome, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"mtcool\[pandas\]"):
        outcome.to_frame("runs")
    with pytest.raises(ValueError, match=r"table must be one of runs, .*, got 'run'"):
        outcome.to_frame("run")


@pytest.mark.usefixtures("undrawn")
def test_finished_cells_are_not_run_again(outcome, tmp_path, monkeypatch):
    shutil.copytree(outcome.folder, tmp_path / "out")  # others look at its pictures

    def refuse(jobs, engine):
        assert not jobs
        return iter(())

    monkeypatch.setattr(runner, "run_jobs", refuse)
    again = mtcool.experiments.run(CONTENT, tmp_path / "out")
    assert again.tables == outcome.tables


def test_progress_is_shown_unless_it_is_refused(outcome, capsys):
    mtcool.experiments.run(CONTENT, outcome.folder)
    told = capsys.readouterr()
    assert {line.split(":")[0] for line in told.err.splitlines()} == {"check", "cells", "report"}
    assert told.out == ""
    mtcool.experiments.run(CONTENT, outcome.folder, progress=False)
    assert capsys.readouterr() == ("", "")


def test_an_output_that_is_no_path_is_refused():
    with pytest.raises(ValueError, match="output must be the path of a folder, got 5"):
        mtcool.experiments.run(CONTENT, output=5)


def test_an_interrupt_says_what_is_kept(monkeypatch, tmp_path):
    def stop(*arguments, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "run_tasks", stop)
    with pytest.raises(KeyboardInterrupt, match="no run was finished, run again to start anew"):
        mtcool.experiments.run(CONTENT, tmp_path / "out")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (7, "experiment must be the path of a file or a dictionary, got 7"),
        ({"name": "x", "replicats": 3}, "experiment: unknown key replicats; did you mean replic"),
        (
            {"name": None},
            "name must be a string, a number, true or false, a list or a table, got",
        ),
        ({"name": "x", "graph": {"p": len}}, r"graph\.p must be a string, .*, got <built-in"),
        ({"name": "x", 3: "y"}, "experiment must have strings as keys, got 3"),
    ],
)
def test_what_makes_no_sense_is_refused(content, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        mtcool.experiments.run(content, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_refused_options_leave_no_folder_behind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="workers must be a whole number of at least 1, got 0"):
        mtcool.experiments.run(CONTENT, workers=0)
    assert not list(tmp_path.iterdir())


def test_whatever_a_file_can_hold_is_written_and_read_again():
    table = {
        "name": 'quotes " and \\ and\nlines',
        "numbers": [1, -2.5, 1e300, float("inf"), 1e-7],
        "at": {"algorithm.MT (L = 0.5).radius": True, "empty": {}, "list": []},
    }
    assert tomllib.loads(toml_of(table)) == table


@pytest.mark.usefixtures("undrawn")
def test_an_outcome_is_short_to_print_and_says_whether_gradients_fit(tmp_path):
    content = CONTENT | {"rounds": 50, "replicates": 1}
    content["algorithm"] = [one | {"lipschitz": 0.01} for one in CONTENT["algorithm"]]
    outcome = mtcool.experiments.run(content, tmp_path)
    assert repr(outcome) == f"<Outcome of 'small': 6 runs, {tmp_path / 'report.html'}>"
    assert any("were clipped in" in sentence for sentence in outcome.findings)
    assert any("theorem" in sentence for sentence in outcome.findings)


@pytest.mark.usefixtures("undrawn")
def test_the_report_is_there_when_the_first_experiment_is_and_grows(tmp_path, monkeypatch):
    """Nothing of it is run or drawn again later, and the terminal counts what the report counts."""
    names = ("small", "second", "third")
    tasks = [task_of(CONTENT | {"name": name, "seed": k}) for k, name in enumerate(names)]
    pages, drawn, run_jobs, section = [], [], runner.run_jobs, report._section

    def noted(jobs, engine):
        for job, cell in run_jobs(jobs, engine):
            path = tmp_path / "report.html"
            page = path.read_text() if path.exists() else ""
            if job.point.rounds == 200:  # others compile
                pages.append([name for name in names if f'id="experiment-{name}"' in page])
            yield job, cell

    def drawing(task, results, folder):
        drawn.append(task.experiment.head.name)
        return section(task, results, folder)

    monkeypatch.setattr(runner, "run_jobs", noted)
    monkeypatch.setattr(report, "_section", drawing)
    told = []
    settings = {"progress": False, "tell": told.append}
    outcomes = api.run_all("T", "", tasks, tmp_path, Local(1), **settings)
    assert pages == [[]] * 6 + [["small"]] * 6 + [["small", "second"]] * 6
    assert drawn == list(names)
    assert [str(tmp_path / "report.html") in sentence for sentence in told] == [True]
    page = (tmp_path / "report.html").read_text()
    assert "Still to come" not in page
    assert {outcome.tally for outcome in outcomes} == {
        "No claims were made. The bound of the theory holds."
    }
    assert f"<p>{outcomes[0].tally}</p>" in page
    api.run_all("T", "", tasks, tmp_path, Local(1), **settings)
    assert len(told) == 1


@pytest.mark.usefixtures("undrawn")
def test_a_report_that_is_not_whole_says_what_is_still_to_come(outcome, tmp_path):
    tasks = [task_of(CONTENT), task_of(CONTENT | {"name": "second", "title": "Another question"})]
    (results,) = runner.run_tasks(tasks[:1], outcome.folder, Local(1), progress=False)
    report.Report("T", "", tasks, tmp_path, learner=True).write([results])
    page = (tmp_path / "report.html").read_text()
    assert "Still to come: Another question; the learner of mtcool.learn." in page
