"""A longer file takes more time, and no more memory."""

import tracemalloc

import numpy as np
import pytest

from mtcool.learn.model import Played
from mtcool.learn.running.learn_command import learn
from mtcool.learn.running.options import LearnOptions

pytest.importorskip("pyarrow")


def peak(folder, rows):
    """Most bytes that were in use at once while a file of so many rows was learned from."""
    rng = np.random.default_rng(0)
    path = folder / f"{rows}.csv"
    table = zip(
        rng.integers(5, size=rows), rng.normal(size=rows), rng.normal(size=rows), strict=True
    )
    path.write_text("who,x,y\n" + "".join(f"a{a},{x:.3f},{y:.3f}\n" for a, x, y in table))
    asked = LearnOptions(str(path), agent="who", target="y", graph="complete")
    tracemalloc.start()
    try:
        learn(asked, folder / "out", None, lambda sentence: None, lambda outcome: None)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def answer_zero(model, agents, features, target, events, said):
    """In place of learning, whose memory is another matter: here only the stream is long."""
    zero = np.zeros(len(agents))
    return Played(zero, zero, zero > 0, said)


def test_memory_does_not_grow_with_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("mtcool.learn.model.Model.play", answer_zero)
    monkeypatch.setattr(
        "mtcool.learn.running.feed.count_rows", lambda path: None
    )  # reads a megabyte
    monkeypatch.setattr("mtcool.learn.running.feed.ROWS", 1000)
    monkeypatch.setattr("mtcool.learn.reading.records.BLOCK", 1 << 14)
    monkeypatch.setattr("mtcool.learn.reading.csv_files.BLOCK", 1 << 14)
    peak(tmp_path, 1000)  # what is imported and compiled is in memory once
    assert peak(tmp_path, 40_000) < 1.2 * peak(tmp_path, 10_000)
