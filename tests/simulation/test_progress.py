"""Progress is a plain line every few seconds where there is no terminal, and never in the way."""

import io
import re
import sys
import time

import pytest

import mtcool
from mtcool.learners import KT
from mtcool.simulation import progress
from mtcool.simulation.progress import progress_bar


@pytest.fixture
def often(monkeypatch):
    """Lines as often as a test can wait for."""
    monkeypatch.setattr(progress, "FIRST_LINE", 0.05)
    monkeypatch.setattr(progress, "NEXT_LINE", 0.05)


def test_nobody_waits_for_more_than_three_seconds_without_a_word():
    assert max(progress.FIRST_LINE, progress.NEXT_LINE) < 3.0


@pytest.mark.usefixtures("often")
def test_a_step_that_takes_long_is_told_of_again_and_again(capfd):
    told, end = [], time.monotonic() + 60.0
    with progress_bar("cells", 3, show=True) as advance:
        advance(1)
        while "".join(one.err for one in told).count("\n") < 3 and time.monotonic() < end:
            time.sleep(0.05)
            told.append(capfd.readouterr())
        advance(2)
    told.append(capfd.readouterr())
    out, err = ("".join(parts) for parts in zip(*told, strict=True))
    *lines, last = err.splitlines()
    assert out == ""
    assert len(lines) >= 3
    assert all(line.startswith("cells: 1/3, ") and line.endswith(" left") for line in lines)
    assert re.fullmatch(r"cells: 3/3 in \d+ s", last)
    assert err.isascii()
    assert "\x1b" not in err


@pytest.mark.usefixtures("often")
def test_the_first_of_many_steps_say_nothing_of_the_last(capfd):
    with progress_bar("compile", 84, show=True) as advance:
        advance(2)
        time.sleep(0.5)
        advance(20)
        time.sleep(0.5)
    lines = capfd.readouterr().err.splitlines()
    assert re.fullmatch(r"compile: 2/84 after \d s", lines[0])
    assert re.fullmatch(r"compile: 22/84, \d+(\.\d)?/s, about \d s left", lines[-2])


@pytest.mark.usefixtures("often")
def test_only_the_last_line_says_how_long_it_took(capfd):
    told, end = "", time.monotonic() + 60.0
    with progress_bar("report", 1, show=True) as advance:
        advance(1)
        while told.count("\n") < 2 and time.monotonic() < end:  # something follows the last step
            time.sleep(0.05)
            told += capfd.readouterr().err
    *lines, last = (told + capfd.readouterr().err).splitlines()
    assert len(lines) >= 2
    assert all(re.fullmatch(r"report: 1/1 after \d+ s", line) for line in lines)
    assert re.fullmatch(r"report: 1/1 in \d+ s", last)


def test_a_quick_step_is_one_line(capfd):
    with progress_bar("report", 1, show=True) as advance:
        advance(1)
    assert capfd.readouterr().err == "report: 1/1 in 0 s\n"


def test_what_was_there_before_is_counted_but_was_not_fast(capfd):
    with progress_bar("cells", 10, show=True, done=8) as advance:
        advance(2)
    assert capfd.readouterr().err.startswith("cells: 10/10 in ")


def test_work_that_failed_is_not_said_to_have_ended(capfd):
    with pytest.raises(ZeroDivisionError), progress_bar("cells", 3, show=True):
        raise ZeroDivisionError
    assert "3/3" not in capfd.readouterr().err


@pytest.mark.usefixtures("often")
def test_nobody_listening_is_no_error(monkeypatch):
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    with progress_bar("cells", 3, show=True) as advance:
        time.sleep(0.2)
        advance(3)


@pytest.mark.usefixtures("often")
def test_replicates_and_simulations_say_where_they_are(capfd):
    mtcool.replicate(lambda rng: time.sleep(0.1), 3, seed=0, progress=True)
    *lines, last = capfd.readouterr().err.splitlines()
    assert lines[0].startswith("replicates: ")
    assert last.startswith("replicates: 3/3 in ")
    graph = mtcool.graphs.ring(5)
    tasks = mtcool.streams.gaussian_tasks(graph, dim=1, smoothness=1.0, seed=0)
    stream = mtcool.streams.quadratic_stream(graph, tasks, rounds=1000, seed=1)
    network = mtcool.i_ftrl(graph, dim=1, learner=KT(), lipschitz=stream.lipschitz(1.0))
    mtcool.simulate(network, stream, progress=True)
    assert capfd.readouterr().err.splitlines()[-1].startswith("simulate: 1,000/1,000 in ")
