"""A model file that no run could have written is refused, or does no harm."""

import re

import numpy as np
import pytest

from mtcool.graphs import ring
from mtcool.learn import load
from mtcool.learn.reading.tables import Batch, Columns
from mtcool.learn.running.run import Pass
from mtcool.learn.running.saved import read_pass, write_pass
from mtcool.learn.running.settings import PassSettings, Stop
from mtcool.learners.panel.fields import SAID
from mtcool.network import storage

GRAPH = type(ring(5))(ring(5).ptr, ring(5).idx, list("abcde"))


def batch(rows=60, start=0):
    rng = np.random.default_rng(start)
    agents = np.array(list("abcdefg"), dtype=object)[rng.integers(7, size=rows)]
    time = start + np.arange(rows) // 3 * 1.0
    features = rng.normal(size=(rows, 2))
    return Batch(np.arange(rows), agents, features, features.sum(axis=1), time, time + 2.0)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    play = Pass(GRAPH, "regression", "gradients")
    play.play(batch())
    settings = PassSettings("x.csv", "y", Columns("who", "y"), stop=Stop("x.csv", 60, 1000))
    path = tmp_path_factory.mktemp("saved") / "model.npz"
    write_pass(path, play, settings)
    return path, play, settings


def test_what_is_read_is_what_was_written(saved):
    path, play, settings = saved
    again, asked = read_pass(path)
    assert asked == settings
    assert np.isfinite(play.said[:, :, 0]).all()
    assert play.said.shape == (3, play.progressive.waiting, SAID) != (3, 0, SAID)
    np.testing.assert_array_equal(again.said, play.said)
    assert again.strangers() == play.strangers()
    for one, other in zip(play.play(batch(30, 20)), again.play(batch(30, 20)), strict=True):
        np.testing.assert_array_equal(one, other)
    assert again.evaluation.metrics() == play.evaluation.metrics()


def test_a_file_that_was_cut_off_is_not_taken_for_a_model_inside_it(saved, tmp_path):
    path, _, _ = saved
    content = path.read_bytes()
    ends = [found.end() + 18 for found in re.finditer(rb"PK\x05\x06", content)]
    assert len(ends) == 4  # of the three models, and of the file
    for end in ends[:-1]:
        for more in (0, 1000):
            (tmp_path / "cut.npz").write_bytes(content[: end + more])
            with pytest.raises(ValueError, match="must be a saved network"):
                load(tmp_path / "cut.npz")


def test_arrays_of_another_length_are_refused_or_do_no_harm(saved, tmp_path):
    path, _, _ = saved
    header, arrays, _ = storage.read(path)
    refused = 0
    for name, array in arrays.items():
        for wrong in (array[:-1], np.concatenate([array, array]), array[..., np.newaxis]):
            storage.write(tmp_path / "wrong.npz", header, arrays | {name: wrong}, secret=False)
            try:
                play, _ = read_pass(tmp_path / "wrong.npz")
                play.play(batch(10, 20))
            except ValueError:
                refused += 1
    assert refused > 2 * len(arrays)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("counts", -1),
        ("counts", 2**62),
        ("tallies", np.nan),
        ("tallies", -1.0),
        ("shift", np.inf),
        ("over_time.size", 2**62),
        ("over_time.sums", np.nan),
        ("over_time.times", np.nan),
        ("of_agents.sums", np.inf),
        ("of_agents.counts", 2**62),
        ("of_agents.widths", 2**62),
        ("of_all.counts", 7),
        ("of_all.widths", 0),
    ],
)
def test_sums_that_no_rows_add_up_to_are_refused(saved, tmp_path, name, wrong):
    path, _, _ = saved
    header, arrays, _ = storage.read(path)
    array = arrays[f"evaluation.{name}"]
    forged = arrays | {f"evaluation.{name}": np.full_like(array, wrong)}
    storage.write(tmp_path / "wrong.npz", header, forged, secret=False)
    with pytest.raises(ValueError, match=r"that mtcool learn saved, got '.*wrong\.npz': .* must "):
        read_pass(tmp_path / "wrong.npz")


@pytest.mark.parametrize("score", [np.inf, -1e200])
def test_scores_that_no_model_said_are_refused(saved, tmp_path, score):
    header, arrays, _ = storage.read(saved[0])
    said = np.full_like(arrays["said"], score)
    storage.write(tmp_path / "wrong.npz", header, arrays | {"said": said}, secret=False)
    with pytest.raises(ValueError, match="said must be scores that were predicted"):
        read_pass(tmp_path / "wrong.npz")


@pytest.mark.parametrize(
    ("old", "new"),
    [(b'"version":2', b'"version":1'), (b'"task":"regression"', b'"task":"magic"'), (b"{", b"[")],
)
def test_headers_that_say_something_else_are_refused(saved, tmp_path, old, new):
    header, arrays, _ = storage.read(saved[0])
    assert old in header
    storage.write(tmp_path / "wrong.npz", header.replace(old, new, 1), arrays, secret=False)
    with pytest.raises(ValueError, match="model must be a file that mtcool learn saved"):
        read_pass(tmp_path / "wrong.npz")


@pytest.mark.parametrize("wrong", [np.nan, -np.inf, 1e200])
def test_waiting_targets_that_no_row_has_are_refused_by_the_name_of_the_file(
    saved, tmp_path, wrong
):
    header, arrays, _ = storage.read(saved[0])
    target = arrays["waiting.target"].copy()
    target[0] = wrong
    path = tmp_path / "model.npz"
    storage.write(path, header, arrays | {"waiting.target": target}, secret=False)
    with pytest.raises(ValueError, match=r"must be a file that mtcool learn saved.*: y must be"):
        read_pass(path)
