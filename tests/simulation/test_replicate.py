"""Replicates: the same results on any number of workers, for any number of replicates."""

import os
import re

import numpy as np
import pytest

import mtcool
from mtcool import replicate
from mtcool.learners import MTFTRLKT


def experiment(rng):
    """A whole random experiment: tasks, stream and simulation from one generator."""
    graph = mtcool.graphs.ring(5)
    tasks = rng.normal(scale=0.2, size=(5, 2))
    stream = mtcool.streams.quadratic_stream(graph, tasks, rounds=50, seed=rng)
    network = mtcool.mt_co2ol(graph, 2, learner=MTFTRLKT(), lipschitz=stream.lipschitz(1.0))
    trace = mtcool.simulate(network, stream)
    return tasks, trace.loss, trace.regret


def flat(results):
    return [[array.tobytes() for array in result] for result in results]


def test_two_workers_give_the_same_results_as_one_to_the_bit():
    alone = replicate(experiment, 6, seed=3, workers=1)
    together = replicate(experiment, 6, seed=3, workers=2)
    assert flat(alone) == flat(together)


def test_the_first_of_many_replicates_are_those_of_few():
    assert flat(replicate(experiment, 8, seed=3)[:3]) == flat(replicate(experiment, 3, seed=3))


def test_replicates_and_seeds_differ_from_each_other():
    results = flat(replicate(experiment, 5, seed=3)) + flat(replicate(experiment, 5, seed=4))
    assert len({result[0] for result in results}) == 10


def test_replicate_k_draws_from_the_kth_child_of_the_seed():
    children = np.random.SeedSequence(11).spawn(4)
    want = [np.random.default_rng(child).random() for child in children]
    assert replicate(lambda rng: rng.random(), 4, seed=11) == want


def test_results_come_in_order_even_if_the_first_takes_longest():
    def slow_first(rng):
        value = int(rng.integers(1000))
        return value, sum(range(3_000_000 if value == first else 1))

    first = replicate(lambda rng: int(rng.integers(1000)), 1, seed=5)[0]
    want = replicate(lambda rng: int(rng.integers(1000)), 4, seed=5)
    assert [value for value, _ in replicate(slow_first, 4, seed=5, workers=2)] == want


def test_two_workers_may_change_large_arrays_that_the_experiment_brings_along():
    large = np.zeros(300_000)  # joblib's default would hand it over read-only

    def write(rng):
        large[0] = rng.random()
        return large[0]

    alone = replicate(write, 3, seed=0)
    assert replicate(write, 3, seed=0, workers=2) == alone


def test_two_workers_are_other_processes():
    processes = replicate(lambda rng: os.getpid(), 4, seed=0, workers=2)
    assert os.getpid() not in processes


def breaks_on_some(rng):
    if rng.random() < 0.5:
        raise ZeroDivisionError("broken on purpose")
    return 1


@pytest.mark.parametrize("workers", [1, 2])
def test_an_exception_in_a_replicate_reaches_the_caller(workers):
    with pytest.raises(ZeroDivisionError, match="broken on purpose"):
        replicate(breaks_on_some, 8, seed=1, workers=workers)


@pytest.mark.parametrize("workers", [1, 2])
def test_after_an_exception_replicates_work_again(workers):
    with pytest.raises(ZeroDivisionError):
        replicate(breaks_on_some, 8, seed=1, workers=workers)
    assert replicate(lambda rng: 1, 3, seed=1, workers=workers) == [1, 1, 1]


BAD = {
    "count 0": ({"count": 0}, "count must be a whole number of at least 1, got 0"),
    "count 1.5": ({"count": 1.5}, "count must be a whole number of at least 1, got 1.5"),
    "count True": ({"count": True}, "count must be a whole number of at least 1, got True"),
    "count None": ({"count": None}, "count must be a whole number of at least 1, got None"),
    "workers 0": ({"workers": 0}, "workers must be a whole number of at least 1, got 0"),
    "workers -1": ({"workers": -1}, "workers must be a whole number of at least 1, got -1"),
    "workers text": ({"workers": "2"}, "workers must be a whole number of at least 1, got '2'"),
    "seed None": ({"seed": None}, "seed must be a whole number of at least 0, got None"),
    "seed -1": ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
    "seed 0.5": ({"seed": 0.5}, "seed must be a whole number of at least 0, got 0.5"),
    "experiment": ({"experiment": 3}, "experiment must be a function of a generator, got 3"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_arguments_are_refused_before_anything_runs(kind):
    settings, words = BAD[kind]
    ran = []
    arguments = {"experiment": ran.append, "count": 2, "seed": 0} | settings
    with pytest.raises(ValueError, match=re.escape(words)):
        replicate(arguments.pop("experiment"), arguments.pop("count"), **arguments)
    assert not ran


def test_progress_goes_to_standard_error_only(capfd):
    replicate(lambda rng: 1, 3, seed=0, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "replicates" in err
    assert "3/3" in err
