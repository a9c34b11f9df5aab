"""Compiled dispatch, the compile cache, and the two functions that know about bits."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import mtcool
from mtcool import kernels
from mtcool.kernels import cache_folder, dispatched, kernel, power_of_two
from mtcool.learners import FTRL, Cliques, predict_row, update_row
from mtcool.learners.exponential import exp_of_nonpositive
from mtcool.streams import Stream, quadratic


class Circle(NamedTuple):
    radius: float


class Square(NamedTuple):
    side: float


class Nothing(NamedTuple):
    number: float


@dispatched
def area(shape: Any, factor: float) -> float:
    raise TypeError(f"{type(shape).__name__} has no area")


@area.register
def _(shape: Circle, factor: float) -> float:
    return factor * 3.0 * shape.radius**2


@area.register
def _(shape: Square, factor: float) -> float:
    return factor * shape.side**2


@kernel
def area_compiled(shape, factor):
    return area(shape, factor)


@kernel
def total_compiled(shapes, factor):
    return area(shapes[0], factor) + area(shapes[1], factor)


def test_the_implementation_is_chosen_by_type_in_python():
    assert area(Circle(2.0), 1.0) == 12.0
    assert area(Square(2.0), 1.0) == 4.0


def test_the_implementation_is_chosen_by_type_in_kernels():
    assert area_compiled(Circle(2.0), 1.0) == 12.0
    assert area_compiled(Square(2.0), 1.0) == 4.0
    assert total_compiled((Circle(2.0), Square(2.0)), 10.0) == 160.0


def test_a_type_without_implementation_is_refused():
    with pytest.raises(TypeError, match="Nothing has no area"):
        area(Nothing(1.0), 1.0)
    with pytest.raises(Exception, match="area"):  # numba's own error, at compilation
        area_compiled(Nothing(1.0), 1.0)


class HalfState(NamedTuple):
    """State of a learner defined outside the package."""

    total: Any
    n: Any
    rate: Any


@dataclass(frozen=True)
class Half:
    """Predicts minus half of the mean gradient."""

    def make_state(self, cliques: Cliques, dim: int) -> HalfState:
        count = len(cliques.rate)
        return HalfState(np.zeros((count, dim)), np.zeros(count, np.int64), cliques.rate.copy())


@predict_row.register
def _(state: HalfState, clique: int, row: int, out: Any) -> None:
    for k in range(out.shape[0]):
        out[k] = -0.5 * state.total[clique, k] / max(state.n[clique], 1)


@update_row.register
def _(state: HalfState, clique: int, row: int, weight: float, gradient: Any) -> None:
    for k in range(gradient.shape[0]):
        state.total[clique, k] += weight * gradient[k]
    state.n[clique] += 1


@kernel
def predict_here(state, clique, row, out):
    predict_row(state, clique, row, out)


def compiled_files():
    """Machine code of `predict_here` in the cache."""
    folder = Path(predict_here._cache.cache_path)
    return set(folder.glob("test_kernels.predict_here-*.nbc"))


def test_our_states_are_cached_and_foreign_ones_are_not():
    assert cache_folder() in Path(predict_here._cache.cache_path).parents
    for file in Path(predict_here._cache.cache_path).glob("test_kernels.predict_here-*"):
        file.unlink()
    cliques, out = Cliques(np.array([0, 1]), np.ones(1), np.ones(1)), np.zeros(2)
    predict_here(FTRL().make_state(cliques, 2), 0, 0, out)
    cached = compiled_files()
    assert len(cached) == 1
    state = Half().make_state(cliques, 2)
    state.total[:], state.n[:] = 6.0, 2
    predict_here(state, 0, 0, out)
    np.testing.assert_array_equal(out, [-1.5, -1.5])
    assert compiled_files() == cached


def test_a_foreign_learner_runs_in_the_simulator():
    graph = mtcool.graphs.edgeless(2)
    network = mtcool.i_ftrl(graph, 1, learner=Half(), lipschitz=2.0)
    trace = mtcool.simulate(network, Stream([0, 0, 1], quadratic([[1.0], [1.0], [1.0]])), times=3)
    # Agent 0 predicts 0, learns of -1 (in units: -1 / 2), predicts 1 / 4.
    np.testing.assert_allclose(trace.loss, 0.5 + 0.5 * 0.75**2 + 0.5)
    np.testing.assert_array_equal(network.peers.state.total, [[-0.5 - 0.375], [-0.5]])


@pytest.fixture
def package(tmp_path):
    """A copy of the package's sources and the cache folder that it would use."""
    copy = tmp_path / "mtcool"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(kernels.__file__).parent, copy, ignore=ignored)
    spec = importlib.util.spec_from_file_location("copied_kernels", copy / "kernels.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return copy, module.source_digest.__wrapped__


def test_the_cache_folder_is_named_by_the_sources_and_not_by_their_place(package):
    assert package[1]() == kernels.source_digest.__wrapped__() == cache_folder().name


@pytest.mark.parametrize("file", ["learners/ftrl.py", "streams/losses.py", "kernels.py"])
def test_an_edit_of_compiled_code_changes_the_cache_folder(package, file):
    copy, folder = package
    before, source = folder(), (copy / file).read_text()
    (copy / file).write_text(source.replace("0", "1", 1) + "\n# edited\n")
    assert folder() != before
    (copy / file).write_text(source)
    assert folder() == before


@pytest.mark.parametrize("file", ["theory/upper.py", "__init__.py", "new/room.py"])
def test_an_edit_elsewhere_keeps_compiled_code(package, file):
    copy, folder = package
    before = folder()
    (copy / file).parent.mkdir(exist_ok=True)
    with open(copy / file, "a") as source:
        source.write("# edited")
    assert folder() == before


def test_every_file_with_compiled_code_is_in_the_key():
    package = Path(kernels.__file__).parent
    marks = re.compile(
        r"^@(kernel|routine|inline|dispatched|overload|\w+\.register)\b", re.MULTILINE
    )
    files = {file.relative_to(package).as_posix(): file for file in package.rglob("*.py")}
    compiled = {name for name, file in files.items() if marks.search(file.read_text())}
    assert compiled == set(kernels.SOURCES)


def test_other_files_do_not_change_the_cache_folder(package):
    copy, folder = package
    before = folder()
    (copy / "notes.txt").write_text("nothing to compile")
    assert folder() == before


def test_the_cache_lies_where_numba_and_the_desktop_are_told(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/there")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    assert cache_folder().parent == Path("/there/mtcool")
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/elsewhere")
    assert cache_folder().parent == Path("/elsewhere/mtcool")
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder().parent == Path.home() / ".cache" / "mtcool"


def run(program, **environment):
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, env=os.environ | environment, check=True, capture_output=True, text=True
    )
    return done.stdout.split()


SIMULATION = """
import mtcool
from mtcool.simulation.loop import play
network = mtcool.i_ftrl(mtcool.graphs.edgeless(2), 1)
mtcool.simulate(network, mtcool.Stream([0, 1], mtcool.streams.quadratic([[0.5], [0.5]])))
print(sum(play.stats.cache_hits.values()), sum(play.stats.cache_misses.values()))
print(float(network.predict(0)[0]).hex())
"""


def test_a_second_process_starts_from_the_cache_with_the_same_numbers(tmp_path):
    first = run(SIMULATION, NUMBA_CACHE_DIR=str(tmp_path))
    second = run(SIMULATION, NUMBA_CACHE_DIR=str(tmp_path))
    assert first[:2] == ["0", "1"]
    assert second[:2] == ["1", "0"]
    assert first[2] == second[2]
    assert len(list((tmp_path / "mtcool").iterdir())) == 1


def test_without_a_writable_cache_folder_nothing_stale_can_be_kept():
    program = "from mtcool.simulation.loop import play; print(play._cache.cache_path)"
    (path,) = run(program, NUMBA_CACHE_DIR="/dev/null/nowhere")
    assert "__pycache__" not in path


@kernel
def exp_of_all(values, out):
    for k in range(values.shape[0]):
        out[k] = exp_of_nonpositive(values[k])


def errors_in_ulps(values):
    out = np.empty_like(values)
    exp_of_all(values, out)
    exact = np.exp(values.astype(np.longdouble))
    return np.abs(out - exact) / np.spacing(exact.astype(np.float64))


def test_exp_of_nonpositive_is_right_to_its_last_two_bits():
    rng = np.random.default_rng(0)
    grid = np.linspace(-700.0, 0.0, 200_001)
    halfway = -np.log(2.0) * (np.arange(1010) + 0.5)  # where k jumps and |r| is largest
    near_zero = -np.logspace(-300, 0, 2_000)
    for values in (
        grid,
        -700.0 * rng.random(200_000),
        halfway,
        np.nextafter(halfway, 0),
        near_zero,
    ):
        assert errors_in_ulps(np.maximum(values, -700.0)).max() <= 2.5


def test_exp_of_nonpositive_is_one_at_zero_and_stops_at_minus_700():
    values, out = np.array([0.0, -0.0, -700.0, -701.0, -1e300, -np.inf]), np.empty(6)
    exp_of_all(values, out)
    np.testing.assert_array_equal(out[:2], 1.0)
    np.testing.assert_array_equal(out[2:], out[2])
    np.testing.assert_allclose(out[2], np.exp(-700.0), rtol=1e-15)


def test_exp_of_nonpositive_never_decreases_by_more_than_rounding():
    values = np.linspace(-40.0, 0.0, 100_000)
    out = np.empty_like(values)
    exp_of_all(values, out)
    assert (np.diff(out) >= -2 * np.spacing(out[1:])).all()


@kernel
def power_compiled(shifted):
    return power_of_two(shifted)


def test_power_of_two_is_exact_in_python_and_compiled():
    for k in [*range(-1022, 1024, 31), -1022, -1, 0, 1, 1023]:
        shifted = k + 1.5 * 2.0**52
        assert power_of_two(shifted) == power_compiled(shifted) == 2.0**k
