"""Long work: it can be interrupted, and goes on to the same tables, byte for byte."""

import hashlib
import os
import re
import signal
import subprocess
import sys
import time

import pytest
import small

import mtcool.experiments
from mtcool.experiments.running.cells import run_cell
from mtcool.experiments.running.engines import Local
from mtcool.experiments.running.runner import jobs_of, run_tasks
from mtcool.experiments.running.store import ResultsFolder
from mtcool.experiments.running.suite import task_of

# Long enough to be interrupted in the middle: 40 cells of some milliseconds and more.
LONG = small.TEXT.replace("rounds = 200", "rounds = 40_000").replace(
    "replicates = 3", "replicates = 20"
)


def command(path, folder):
    words = ["-m", "mtcool", "run", str(path), "--output", str(folder), "--workers", "2"]
    return [sys.executable, *words]


# A shell ignores Ctrl-C for what it starts in the background, and so would the child of a child.
HEARING = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.executable, sys.orig_argv[:1] + sys.argv[1:])
"""


def hearing(words):
    """The same command in a process that hears Ctrl-C."""
    return [words[0], "-c", HEARING, *words[1:]]


@pytest.fixture
def ignored():
    """As with `nohup make test &`."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


def start_and_stop(path, folder, number):
    """Start the experiment and stop it by a signal when some of its cells are finished."""
    with subprocess.Popen(
        hearing(command(path, folder)), stderr=subprocess.PIPE, start_new_session=True
    ) as job:
        deadline = time.monotonic() + 120
        while len(list(folder.glob("cells/*.cell"))) < 3:
            assert job.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        # As from a terminal: the whole group of processes hears Ctrl-C.
        os.killpg(job.pid, number)
        error = job.stderr.read().decode()
        return job.wait(timeout=60), error


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """The tables of a run that nobody interrupts."""
    folder = tmp_path_factory.mktemp("straight")
    with small.undrawn():
        mtcool.experiments.run(small.write(folder, LONG), folder / "results")
    return small.tables(folder / "results")


@pytest.mark.usefixtures("ignored", "undrawn")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "killed"])
def test_an_interrupted_run_goes_on_to_the_same_tables(number, tmp_path, straight):
    path = small.write(tmp_path, LONG)
    code, error = start_and_stop(path, tmp_path / "stopped", number)
    kept = {p: p.stat().st_mtime_ns for p in (tmp_path / "stopped/cells").glob("*.cell")}
    assert 3 <= len(kept) < 40
    if number == signal.SIGINT:
        assert code == 130
        assert error.strip().endswith("run again to go on")
        assert "Traceback" not in error
    # With another number of workers, which must not matter.
    mtcool.experiments.run(path, tmp_path / "stopped", workers=1)
    assert all(p.stat().st_mtime_ns == made for p, made in kept.items())
    assert small.tables(tmp_path / "stopped") == straight
    assert len(straight) == 7


def test_a_damaged_cell_is_run_again(tmp_path):
    job = jobs_of(task_of(small.write(tmp_path)))[0][0]
    store = ResultsFolder(tmp_path / "cells")
    store.put(job, run_cell(job))
    assert store.get(job) == run_cell(job)
    path = next((tmp_path / "cells").glob("*.cell"))
    path.write_bytes(path.read_bytes()[:100])
    assert store.get(job) is None


WRONG = {
    "nothing": b"",
    "no cell": b"{}",
    "no text": b"\xff\xfe\x00",
    "a list": b"[" * 100,
    "another algorithm": lambda cell: cell.replace(b'"ST-FTRL"', b'"other"'),
    "a run less": lambda cell: re.sub(rb',\{"algorithm":"ST-FTRL".*?\}', b"", cell),
    "other times": lambda cell: cell.replace(b'"times":[1,', b'"times":[0,'),
    "a time less": lambda cell: cell.replace(b'"times":[1,', b'"times":['),
    "a regret less": lambda cell: re.sub(rb'"regret":\[[^,]*,', b'"regret":[', cell, count=1),
    "no number": lambda cell: re.sub(rb'"regret":\[[^,]*,', b'"regret":[null,', cell, count=1),
    "an older format": lambda cell: re.sub(rb',"instance":\{.*?\}', b"", cell),
    "another graph": lambda cell: re.sub(rb'"ptr":"[^"]*"', b'"ptr":"AAAA"', cell),
    "no tasks": lambda cell: re.sub(rb'"comparator":"[^"]*"', b'"comparator":""', cell),
    "infinity": lambda cell: re.sub(rb'"sigma":[^,]*,', b'"sigma":1e999,', cell),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_cell_with_wrong_content_is_run_again(kind, tmp_path):
    task = task_of(small.write(tmp_path))
    run_tasks([task], tmp_path, Local(1), progress=False)
    path = sorted((tmp_path / "cells").iterdir())[3]
    right = path.read_bytes()
    _, _, cell = right.partition(b"\n")
    wrong = WRONG[kind] if isinstance(WRONG[kind], bytes) else WRONG[kind](cell)
    assert wrong != cell
    path.write_bytes(hashlib.sha256(wrong).hexdigest().encode() + b"\n" + wrong)
    run_tasks([task], tmp_path, Local(1), progress=False)
    assert path.read_bytes() == right


def test_a_cell_with_other_numbers_is_run_again(tmp_path):
    """Numbers that a cell might have had, but did not."""
    task = task_of(small.write(tmp_path))
    run_tasks([task], tmp_path, Local(1), progress=False)
    path = sorted((tmp_path / "cells").iterdir())[2]
    right = path.read_bytes()
    path.write_bytes(re.sub(rb'"loss":[^,]*,', b'"loss":1.0,', right))
    assert path.read_bytes() != right
    run_tasks([task], tmp_path, Local(1), progress=False)
    assert path.read_bytes() == right


def test_a_changed_experiment_keeps_the_cells_that_did_not_change(tmp_path):
    task = task_of(small.write(tmp_path))
    run_tasks([task], tmp_path, Local(1), progress=False)
    more = small.TEXT.replace("values = [1, 10]", "values = [1, 10, 100]")
    run_tasks([task_of(small.write(tmp_path, more))], tmp_path, Local(1), progress=False)
    assert len(list((tmp_path / "cells").glob("*.cell"))) == 9
