"""Threads that share a model: their calls take turns; different models do not wait for others."""

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mtcool.learn import Model

NAMES = ["a", "b"] * 1000
ROWS = np.random.default_rng(0).normal(size=(2000, 3))


def trained():
    model = Model()
    model.learn_many(NAMES[:20], ROWS[:20], ROWS[:20, 0])
    return model


def test_threads_predict_what_one_thread_predicts():
    model = trained()
    want = model.predict_many(NAMES, ROWS)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: model.predict_many(NAMES, ROWS), range(60)))
    for got in found:
        np.testing.assert_array_equal(got, want)


def test_no_row_is_lost_when_threads_teach_one_model():
    model = Model("complete")

    def teach(agent):
        for row in ROWS[:100]:
            model.learn_one(agent, row, row[0])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(teach, range(8)))
    assert [model.rows(agent) for agent in range(8)] == [100] * 8
    assert set(model.agents) == set(range(8))


CALLS = {
    "predict_one": lambda m: m.predict_one("a", ROWS[0]),
    "predict_many": lambda m: m.predict_many(["a"], ROWS[:1]),
    "learn_one": lambda m: m.learn_one("a", ROWS[0], 1.0),
    "learn_many": lambda m: m.learn_many(["a"], ROWS[:1], [1.0]),
    "play": lambda m: m.play([0], ROWS[:1], [1.0], [0]),
    "play_joining": lambda m: m.play_joining(["a"], ROWS[:1], np.ones(1), np.array([0])),
    "index": lambda m: m.index(["new"]),
    "join": lambda m: m.join("new", ["a"]),
    "rows": lambda m: m.rows("a"),
    "agent": lambda m: m.agent("a"),
    "pickle": pickle.dumps,
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_waits_until_that_of_another_thread_is_done(call):
    model, other, done = trained(), trained(), threading.Event()

    def run():
        CALLS[call](model)
        done.set()

    with model._turn.lock:
        thread = threading.Thread(target=run)
        thread.start()
        CALLS[call](other)  # nobody is inside this one
        assert not done.wait(0.05)
    thread.join()
    assert done.is_set()


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_goes_on_by_itself(way):
    model = trained()
    before = model.predict_many(NAMES, ROWS)
    with model._turn.lock:
        twin = way(model)
        with ThreadPoolExecutor(1) as threads:  # it has a lock of its own
            threads.submit(twin.learn_many, NAMES, ROWS, -ROWS[:, 0]).result(timeout=60)
    np.testing.assert_array_equal(model.predict_many(NAMES, ROWS), before)
    assert twin.rows("a") == model.rows("a") + 1000
