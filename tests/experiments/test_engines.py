"""The same numbers on every engine and any number of workers, even if a worker is killed."""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import small
from distributed import Client, LocalCluster
from joblib.externals.loky import reusable_executor

import huber
from mtcool.experiments.running.engines import Dask, Local, choose_engine, modules_of, run_jobs
from mtcool.experiments.running.runner import jobs_of
from mtcool.experiments.running.suite import task_of

# Two of twelve cells are finished when a worker is killed.
LONG = small.TEXT.replace("rounds = 200", "rounds = 30_000").replace(
    "replicates = 3", "replicates = 6"
)
# Its first cell is soon there, and its last one never.
ENDLESS = LONG.replace("rounds = 30_000", "rounds = 100_000").replace(
    "replicates = 6", "replicates = 1_000"
)


def cells(jobs, engine):
    return {job.key: cell for job, cell in run_jobs(jobs, engine)}


def jobs_in(folder, text=small.TEXT):
    return [job for point in jobs_of(task_of(small.write(folder, text))) for job in point]


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The cells of the small experiment and of the long one, in one process."""
    folder = tmp_path_factory.mktemp("alone")
    return {text: cells(jobs_in(folder, text), Local(1)) for text in (small.TEXT, LONG)}


def test_any_number_of_local_workers(tmp_path, alone):
    assert len(alone[small.TEXT]) == 6
    assert cells(jobs_in(tmp_path), Local(3)) == alone[small.TEXT]


def test_graphs_that_are_large_enough_for_threads_of_linear_algebra(tmp_path):
    jobs = jobs_in(tmp_path, small.TEXT.replace("agents = 6", "agents = 200"))[:2]
    assert cells(jobs, Local(1)) == cells(jobs, Local(2))


def test_a_dask_cluster(tmp_path, cluster, alone):
    found = cells(jobs_in(tmp_path), Dask(cluster.scheduler_address))
    assert found == alone[small.TEXT]


def test_a_killed_dask_worker_costs_time_never_results(tmp_path, cluster, alone):
    jobs = jobs_in(tmp_path, LONG)
    with Client(cluster.scheduler_address, set_as_default=False) as client:
        victim = next(iter(client.run(os.getpid).values()))
    found = {}
    for job, cell in run_jobs(jobs, Dask(cluster.scheduler_address)):
        found[job.key] = cell
        if len(found) == 2:
            os.kill(victim, signal.SIGKILL)
    assert found == alone[LONG]


def test_a_killed_local_worker_costs_time_never_results(tmp_path, alone):
    jobs = jobs_in(tmp_path, LONG)
    found = {}
    for job, cell in run_jobs(jobs, Local(2)):
        found[job.key] = cell
        if len(found) == 2:
            kill_a_child()
    assert found == alone[LONG]


def kill_a_child():
    """One of loky's workers, which are children of this process."""
    victim = next(iter(reusable_executor._executor._processes))
    os.kill(victim, signal.SIGKILL)


def test_workers_end_with_their_parent(tmp_path):
    path = small.write(tmp_path, ENDLESS)
    words = ["run", str(path), "--output", str(tmp_path / "out"), "--workers", "2"]
    with subprocess.Popen(
        [sys.executable, "-m", "mtcool", *words], stderr=subprocess.DEVNULL
    ) as job:
        deadline = time.monotonic() + 120
        while not list(tmp_path.glob("out/cells/*.cell")):
            assert job.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        workers = psutil.Process(job.pid).children(recursive=True)
        job.kill()
    assert len(workers) >= 2
    deadline = time.monotonic() + 120
    while any(map(alive, workers)):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def alive(process):
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_workers_of_commands_import_nothing_from_the_current_folder(tmp_path):
    """Python looks there first, for `python -m` and `python -c`: it may be a stranger's folder."""
    for name in ("joblib", "numpy", "mtcool"):
        (tmp_path / f"{name}.py").write_text("open('marker', 'w')\nraise SystemExit(1)\n")
    words = ["run", str(small.write(tmp_path)), "--output", str(tmp_path / "out"), "--workers", "2"]
    command = [sys.executable, "-P", "-m", "mtcool", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert not (tmp_path / "marker").exists()
    assert done.returncode == 0, done.stderr


GROWING = """
import os, time
import numpy as np
import mtcool

def grow(rng):
    calls = np.calls = getattr(np, "calls", 0) + 1  # numpy stays in the worker, whatever is pickled
    time.sleep(0.1)  # no worker has done everything before the other has begun
    if calls == 2:
        np.kept = np.ones(45_000_000)
        time.sleep(1.2)
    return os.getpid()

print(*mtcool.replicate(grow, 40, seed=0, workers=2))
"""


def test_a_worker_that_grows_is_not_stopped(tmp_path):
    """loky takes compiled code for a leak, stops the worker, and warns of it."""
    script = tmp_path / "script.py"
    script.write_text(GROWING)
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stderr == ""
    assert len(set(done.stdout.split())) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("slurm", 2, None), "engine must be one of local, dask, got 'slurm'"),
        (("dask", 2, None), "scheduler must be given for engine dask"),
        (("local", 2, "tcp://127.0.0.1:1"), "scheduler must be given for engine dask, and only"),
        (("local", 0, None), "workers must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_engines_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        choose_engine(*arguments)


def test_a_scheduler_that_is_not_there_is_refused(tmp_path):
    engine = Dask("tcp://127.0.0.1:9", timeout=1)
    with pytest.raises(ValueError, match="scheduler must be the address of a Dask scheduler"):
        cells(jobs_in(tmp_path), engine)


def can_find(name):
    return importlib.util.find_spec(name) is not None


def test_modules_next_to_the_file_are_sent_to_dask_workers(tmp_path, cluster):
    """Workers on other machines do not see the folder of the experiment file."""
    (tmp_path / "sent_huber.py").write_text(Path(huber.__file__).read_text())
    text = small.TEXT + '\n[stream]\nloss = "sent_huber:Huber"\n'
    assert modules_of(jobs_in(tmp_path, text)) == [tmp_path / "sent_huber.py"]
    with (
        Dask(cluster.scheduler_address).context([tmp_path / "sent_huber.py"]),
        Client(cluster.scheduler_address, set_as_default=False) as client,
    ):
        assert all(client.run(can_find, "sent_huber").values())
