"""Where results go: noticed at once if nothing can be written, named if the disk is full."""

import csv
import errno
import os
import subprocess
import sys

import pytest
import small

from mtcool.experiments import output as files
from mtcool.experiments.report.report import Report
from mtcool.experiments.report.tables import write_rows
from mtcool.experiments.running import runner
from mtcool.experiments.running.engines import Local
from mtcool.experiments.running.runner import run_tasks
from mtcool.experiments.running.suite import task_of


@pytest.mark.parametrize("taken", ["out", "out/cells", "out/small"])
def test_an_output_that_cannot_be_written_is_noticed_before_anything_is_run(
    taken, tmp_path, monkeypatch
):
    def never(*_, **__):
        raise AssertionError("something was run")

    monkeypatch.setattr(runner, "run_jobs", never)
    monkeypatch.setattr(runner, "jobs_of", never)
    (tmp_path / taken).parent.mkdir(exist_ok=True)
    (tmp_path / taken).write_text("a file where a folder should be")
    task = task_of(small.write(tmp_path))
    with pytest.raises(
        ValueError, match=r"output must be a folder that can be written, got '.*out"
    ):
        run_tasks([task], tmp_path / "out", Local(1), progress=False)


def test_a_refused_experiment_leaves_no_folder_behind(tmp_path):
    text = small.TEXT.replace("lipschitz = 2.0", "lipschitz = inf")
    with pytest.raises(ValueError, match="lipschitz must be finite"):
        run_tasks(
            [task_of(small.write(tmp_path, text))], tmp_path / "out", Local(1), progress=False
        )
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("name", ["cells/", "runs.csv", "figure-1.png", "report.html", "graphs/"])
def test_a_full_disk_names_the_file(name, tmp_path, monkeypatch):
    """Python's own message, No space left on device, names none."""
    (tmp_path / "net.csv").write_text("0,1\n1,2\n")
    text = small.TEXT.replace(
        'kind = "erdos_renyi"\nagents = 6\np = 0.5', 'kind = "file"\npath = "net.csv"'
    )
    task = task_of(small.write(tmp_path, text))
    replace = os.replace

    def full(source, target):
        if name in str(target):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(source, target)

    monkeypatch.setattr(files.os, "replace", full)

    def run():
        results = run_tasks([task], tmp_path / "out", Local(1), progress=False)
        Report("", "", [task], tmp_path / "out").write(results)

    with pytest.raises(OSError, match="No space left") as refusal:
        run()
    assert name in refusal.value.filename
    assert not list(tmp_path.rglob("*.tmp"))


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
from mtcool.cli.commands import main
main()
"""


def test_on_the_command_line_it_is_one_sentence(tmp_path):
    """A limit on the size of files stands for a full disk."""
    path = small.write(tmp_path)
    words = ["run", str(path), "--output", str(tmp_path / "out"), "--workers", "1"]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *words],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},  # nor could compiled code be kept
    )
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"mtcool: {tmp_path}/out/cells/")
    assert last.endswith(".cell: File too large")
    assert "Traceback" not in done.stderr


def test_no_name_in_a_table_is_a_formula_in_a_spreadsheet(tmp_path):
    names = ["=1+1", "@alone", "-x", "-0.5", "shared", ""]
    rows = [{"algorithm": name, "regret": -1.5} for name in names]
    write_rows(tmp_path / "t.csv", rows, ["algorithm", "regret"])
    with (tmp_path / "t.csv").open(newline="") as file:
        found = [row["algorithm"] for row in csv.DictReader(file)]
    assert found == ["'=1+1", "'@alone", "'-x", "-0.5", "shared", ""]
