"""Saved models are checked: honest ones go on, and forged ones are refused or do no harm."""

import resource

import numpy as np
import pytest

import mtcool
from mtcool.learn import Model, load
from mtcool.learn.saved_models import KEPT
from mtcool.learners.panel.checks import check_panel
from mtcool.network import storage

SCALES = [1.0, 1.0, 1.0, 1e-12, 1e-150, 1e-320, 1e6, 1e30, 1e99]
STEEP = [310, 344, 510, 608, 782]
"""Seeds of rows that lead to slopes beyond 1e110: large targets over tiny features."""
ODD = [np.nan, np.inf, -np.inf, -1.0, 0.0, 0.5, 2.0, 1e15, 1e61, -1e110, 1e201, 1e308, 1e-310]


def grown(seed):
    """A model that has learned from rows of all sizes, with features and agents that come later."""
    rng = np.random.default_rng(seed)
    task = str(rng.choice(["regression", "classification"]))
    share = str(rng.choice(["gradients", "rows"]))
    network = ["complete", None, mtcool.graphs.ring(4), mtcool.graphs.star(5)][rng.integers(4)]
    model = Model(network, task=task, share=share)
    names = [0, 1, 2, 3, *["x", "y"] * (network is None or network == "complete")]
    dim, rows = int(rng.integers(1, 6)), int(rng.integers(1, 120))
    scales = [rng.choice(SCALES) for _ in range(dim)]
    unit = rng.choice(SCALES)
    offset = rng.choice([0.0, 0.0, 1e15 * unit, unit])
    for _ in range(3):
        features, kind = rng.normal(size=(rows, dim)) * scales, rng.integers(6)
        if kind == 1:
            features[:, 0] = features[:, -1]
        elif kind == 2:
            features = np.round(features)
        elif kind == 3:
            features[rng.random(features.shape) < 0.4] = np.nan
        elif kind == 4:
            features[rows // 2 :] *= rng.choice([1e-30, 1e30, 1e-300])
        elif kind == 5:
            features[:] = features[0]
        features = np.clip(features, -1e300, 1e300)
        target = offset + unit * rng.normal(size=rows) * (rng.random() < 0.8)
        if rng.random() < 0.5 and kind != 3:
            target += features[:, 0]
        target = np.clip(target, -1e100, 1e100)
        if task == "classification":
            target = (target > np.median(target)).astype(float)
        model.learn_many([names[k] for k in rng.integers(len(names), size=rows)], features, target)
        if network is None and rng.random() < 0.5:
            model.join("x", [0, 1])
        if rng.random() < 0.4:
            dim += 1
            scales.append(rng.choice(SCALES))
    return model, rng


def said(model, rows):
    """What agents, and one that is not known, predict."""
    with np.errstate(all="ignore"):
        return model.predict_many([*model.agents, "stranger"], rows[: len(model.agents) + 1])


@pytest.mark.parametrize("seeds", [STEEP, range(60)], ids=["steep", "any"])
def test_every_honest_model_is_loaded_again(seeds, tmp_path):
    for seed in seeds:
        model, rng = grown(seed)
        model.save(tmp_path / "model")
        again = load(tmp_path / "model")
        rows = rng.normal(size=(9, model._features))
        np.testing.assert_array_equal(said(again, rows), said(model, rows))


@pytest.fixture(scope="module", params=[(4, "regression"), (6, "classification")], ids=str)
def honest(request, tmp_path_factory):
    """Header and arrays of an honest model."""
    seed, task = request.param
    rng = np.random.default_rng(seed)
    model = Model(mtcool.graphs.ring(4), task=task, share="rows")
    features = rng.normal(size=(80, 3))
    target = features.sum(axis=1)
    if task == "classification":
        target = (target > 0.0).astype(float)
    model.learn_many(rng.integers(4, size=80).tolist(), features, target)
    path = tmp_path_factory.mktemp("honest") / "model"
    model.save(path)
    return storage.read(path)[:2]


def forged(path, honest, arrays):
    """The model in a file with these arrays and a right checksum; None if it is refused."""
    storage.write(path, honest[0], honest[1] | arrays, secret=False)
    try:
        return load(path)
    except ValueError as error:
        if not str(error).startswith("path must be a saved model"):
            raise
        return None


def test_forged_models_are_refused_or_predict_numbers(honest, tmp_path):
    rng, refused, count = np.random.default_rng(0), 0, 600
    rows = np.concatenate([rng.normal(size=(5, 3)), 1e300 * rng.choice([-1.0, 1.0], size=(5, 3))])
    for k in range(count):
        name = KEPT[k % len(KEPT)]
        array = honest[1][name].copy()
        places = rng.integers(array.size, size=1 + k % 3)
        array.reshape(-1)[places] = rng.choice([*ODD, *array.reshape(-1)[places]], size=len(places))
        model = forged(tmp_path / "forged", honest, {name: array})
        if model is None:
            refused += 1
            continue
        for _ in range(2):
            assert np.isfinite(said(model, rows)).all(), (k, name)
            model.learn_many([0, 1, 2, 3, 0], rows[::2], [0.0, 1.0, 1.0, 0.0, 1.0])
        check_panel(model._panel)
    assert count / 4 < refused < count


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("vector", (0, 0, 100_000)),
        ("vector", (0, 40, 100_000)),
        ("scatter", (60, 0, 100_000)),
        ("vector", (60, 40, 0)),
        ("vector", (4,)),
        ("number", (0, 100_000)),
        ("link", (0, 2)),
        ("mixer", (0,)),
    ],
)
def test_arrays_of_other_sizes_are_refused_before_there_is_a_panel(honest, tmp_path, name, shape):
    """The sides of an array without numbers may be anything: a file of some kilobytes."""
    room = 60
    arrays = {name: np.zeros(shape), "ptr": np.arange(room + 1), "idx": np.arange(room)}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert forged(tmp_path / "large", honest, arrays) is None
    assert forged(tmp_path / "large", honest, {name: np.zeros(shape)}) is None
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # of 1 kB


@pytest.mark.parametrize("labels", [1, 20_000])
def test_a_complete_network_of_many_agents_is_as_large_as_its_file(tmp_path, labels):
    """With room for each to be everybody's neighbour; here are none, for many who could join."""
    model, room = Model("complete"), 20_001
    model.index(["a"])
    model.save(tmp_path / "honest")
    header, arrays, _ = storage.read(tmp_path / "honest")
    fresh = {name: np.repeat(arrays[name][:1], room, axis=0) for name in KEPT}
    fresh |= {"ptr": np.arange(room + 1), "idx": np.arange(room)}
    names = ",".join(f'"{k}"' for k in range(labels)).encode()
    header = header.replace(b'"labels":["a"]', b'"labels":[' + names + b"]")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert forged(tmp_path / "large", (header, {}), fresh) is None
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000
