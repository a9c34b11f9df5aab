"""Compiled dispatch, the compile cache, and the two functions that know about bits."""

import functools
import importlib.util
import os
import pkgutil
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba.core.registry import CPUDispatcher

import mtcool
from mtcool import kernels
from mtcool.kernels import (
    cache_folder,
    dispatched,
    identity,
    inline,
    kernel,
    package_files,
    power_of_two,
    routine,
)
from mtcool.kernels.identity import registries, sources
from mtcool.learners import FTRL, MTFTRLKT, Cliques, predict_row, update_row
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


def compiled_files(folder):
    """Machine code of `predict_here` in the cache."""
    return set(folder.glob("mtcool/*/predict_here-*"))


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """A cache folder of its own; what this process has compiled stays in its memory."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path


def one_clique():
    return Cliques(np.array([0, 1]), np.ones(1), np.ones(1)), np.zeros(2)


def test_kernels_of_our_states_and_of_foreign_ones_are_kept(empty_cache):
    cliques, out = one_clique()
    predict_here.overloads.clear()
    predict_here(FTRL().make_state(cliques, 2), 0, 0, out)
    assert len(compiled_files(empty_cache)) == 1
    state = Half().make_state(cliques, 2)
    state.total[:], state.n[:] = 6.0, 2
    predict_here(state, 0, 0, out)
    np.testing.assert_array_equal(out, [-1.5, -1.5])
    assert len(compiled_files(empty_cache)) == 2


def test_a_foreign_learner_runs_in_the_simulator():
    graph = mtcool.graphs.edgeless(2)
    network = mtcool.i_ftrl(graph, 1, learner=Half(), lipschitz=2.0)
    trace = mtcool.simulate(network, Stream([0, 0, 1], quadratic([[1.0], [1.0], [1.0]])), times=3)
    # Agent 0 predicts 0, learns of -1 (in units: -1 / 2), predicts 1 / 4.
    np.testing.assert_allclose(trace.loss, 0.5 + 0.5 * 0.75**2 + 0.5)
    np.testing.assert_array_equal(network.peers.state.total, [[-0.5 - 0.375], [-0.5]])


def test_a_clique_alone_is_not_compiled_anew():
    """NumPy calls a column of one record contiguous, and numba would take that for another type."""
    for count in (2, 1):
        cliques = Cliques(np.arange(count + 1), np.ones(count), np.ones(count))
        predict_here(MTFTRLKT().make_state(cliques, 2), 0, 0, np.zeros(2))
        if count == 2:
            known = len(predict_here.overloads)
    assert len(predict_here.overloads) == known


@pytest.fixture
def package(tmp_path):
    """A copy of the package's sources and the digest that would name its cache folder."""
    copy = tmp_path / "mtcool"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(mtcool.__file__).parent, copy, ignore=ignored)
    spec = importlib.util.spec_from_file_location("copied", copy / "kernels" / "identity.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return copy, module.source_digest.__wrapped__


def test_the_cache_folder_is_named_by_the_sources_and_not_by_their_place(package):
    assert package[1]() == kernels.source_digest.__wrapped__() == cache_folder().name


@pytest.mark.parametrize("file", ["learners/ftrl.py", "streams/losses.py", "kernels/__init__.py"])
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


def test_every_module_with_compiled_code_is_in_the_key():
    """Each function that numba has, and each registered one, is in a file that was found."""
    found = {name for name in sources(package_files()) if name.endswith(".py")}
    for _, name, _ in pkgutil.walk_packages(mtcool.__path__, "mtcool."):
        if name.split(".")[1] not in ("integrations", "__main__", "live", "cli", "experiments"):
            importlib.import_module(name)
    own = [module for name, module in sys.modules.items() if name.split(".")[0] == "mtcool"]
    compiled = {
        value.__module__
        for module in own
        for value in vars(module).values()
        if isinstance(value, CPUDispatcher)
    }
    for generic in registries:
        compiled |= {one.__module__ for one in generic.registry.values()}
    files = {Path(sys.modules[name].__file__) for name in compiled if name.startswith("mtcool.")}
    package = Path(mtcool.__file__).parent
    assert len(files) > 50
    assert {file.relative_to(package).as_posix() for file in files} <= found


@pytest.mark.parametrize(
    "file",
    [
        "learners/mt_ftrl/state.py",
        "learners/panel/constants.py",
        "learners/panel/state.py",
        "peers/field/records.py",
        "kernels/linking.py",
    ],
)
def test_constants_and_states_of_compiled_code_are_in_the_key(file):
    assert file in sources(package_files())


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


SIMULATION = """
import mtcool
from mtcool.simulation.loop import play
network = mtcool.i_ftrl(mtcool.graphs.edgeless(2), 1)
mtcool.simulate(network, mtcool.Stream([0, 1], mtcool.streams.quadratic([[0.5], [0.5]])))
print(sum(play.stats.cache_hits.values()), sum(play.stats.cache_misses.values()))
print(float(network.predict(0)[0]).hex())
"""


def test_a_second_process_starts_from_the_cache_with_the_same_numbers(tmp_path, run):
    first = run(SIMULATION, NUMBA_CACHE_DIR=str(tmp_path))
    second = run(SIMULATION, NUMBA_CACHE_DIR=str(tmp_path))
    assert first[:2] == ["0", "1"]
    assert second[:2] == ["1", "0"]
    assert first[2] == second[2]
    assert len(list((tmp_path / "mtcool").iterdir())) == 1


NAME = """
import numpy as np, numba
from mtcool.kernels import kernel
for number in range({others}):
    numba.typeof(np.zeros(1, [(f"column{{number}}", float)]))
@kernel
def first(rows):
    return rows[0]["one"]
first(np.zeros(2, [("one", float)]))
(result,) = first.overloads.values()
print(result.fndesc.mangled_name)
"""


def test_a_kernel_for_records_has_the_same_name_in_every_process(tmp_path, run):
    """Else two processes that compile at the same time write files that do not fit together."""
    one, other = (
        run(NAME.format(others=others), NUMBA_CACHE_DIR=str(tmp_path / f"{others}"))
        for others in (0, 7)
    )
    assert one == other
    assert "Record" in one[0]


@inline
def halved(x):
    return 0.5 * x


@routine
def shifted(x):
    return halved(x) + 3.0


@kernel
def squared_shift(x):
    return shifted(x) * shifted(x)


@kernel
def doubled_shift(x):
    return 2.0 * shifted(x)


def test_a_kernel_calls_another_by_name_and_contains_its_own_parts(empty_cache):
    assert squared_shift(2.0) == 16.0
    assert doubled_shift(2.0) == 8.0
    assert len(shifted.overloads) == 1
    (name,) = (result.fndesc.mangled_name for result in shifted.overloads.values())
    for caller in (squared_shift, doubled_shift):
        (result,) = caller.overloads.values()
        code = result.library._final_module.get_function(name)
        assert code.is_declaration
    (part,) = halved.overloads.values()
    engine = part.library.codegen._engine
    assert not engine.is_symbol_defined(part.fndesc.mangled_name)
    assert engine.is_symbol_defined(name)


MODULE = """
from mtcool.kernels import kernel, routine

@routine
def inner(x):
    return x + 1.0

@kernel
def outer(x):
    return 2.0 * inner(x)
"""
CALL = """
import sys
sys.path.insert(0, {folder!r})
from pair import inner, outer
print(outer(1.0), sum(outer.stats.cache_hits.values()), sum(inner.stats.cache_hits.values()))
"""


def test_a_kernel_from_the_cache_brings_the_kernels_that_it_calls(tmp_path, run):
    (tmp_path / "pair.py").write_text(MODULE)
    call = CALL.format(folder=str(tmp_path))
    where = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run(call, **where) == ["4.0", "0", "0"]
    assert run(call, **where) == ["4.0", "1", "1"]
    (lost,) = (tmp_path / "cache").rglob("inner-*")
    lost.unlink()
    assert run(call, **where) == ["4.0", "1", "0"]
    assert run(call, **where) == ["4.0", "1", "1"]
    (tmp_path / "pair.py").write_text(MODULE.replace("1.0", "2.0"))
    later = time.time() + 10.0  # Python tells files apart by seconds
    os.utime(tmp_path / "pair.py", (later, later))
    assert run(call, **where) == ["6.0", "0", "0"]


OF_RECORDS = """
import sys
import numba
import numpy as np
met = [numba.typeof(np.zeros(1, [(name, float)])) for name in {names!r}]
sys.path.insert(0, {folder!r})
from pair import outer
print(outer(np.ones(2, [("x", float)])))
"""


def test_kernels_of_records_find_each_other_whatever_their_processes_met_before(tmp_path, run):
    """Two processes that compile at the same time write over what the other one has written."""
    of_records = MODULE.replace("x + 1.0", 'x[1]["x"] + 1.0')
    (tmp_path / "pair.py").write_text(of_records)
    where = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for names in ("", "abcdefg", ""):
        call = OF_RECORDS.format(names=names, folder=str(tmp_path))
        assert run(call, **where) == ["4.0"]
        for inner in (tmp_path / "cache").rglob("inner-*"):
            inner.unlink()


DAMAGE = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "one bit": lambda content: content[:-1] + bytes([content[-1] ^ 1]),
    "another file": lambda content: b"\x80\x04N." * 100,
}


def kept(cache):
    """Files with kernels: the one for turns is empty."""
    return [file for file in cache.rglob("*") if file.is_file() and file.name != ".turns"]


def test_a_damaged_cache_is_a_miss_and_heals(tmp_path, run):
    (tmp_path / "pair.py").write_text(MODULE)
    call, cache = CALL.format(folder=str(tmp_path)), tmp_path / "cache"
    where = {"NUMBA_CACHE_DIR": str(cache)}
    assert run(call, **where) == ["4.0", "0", "0"]
    files = kept(cache)
    assert len(files) == 2
    whole = {file: file.read_bytes() for file in files}
    for kinds in (("empty", "truncated"), ("one bit", "another file")):
        for file, kind in zip(files, kinds, strict=True):
            file.write_bytes(DAMAGE[kind](whole[file]))
        assert run(call, **where) == ["4.0", "0", "0"], kinds
    for file in files:
        file.unlink()
        os.mkfifo(file)  # reading it would wait for a writer
    assert run(call, **where) == ["4.0", "0", "0"], "pipe"
    assert run(call, **where) == ["4.0", "1", "1"]
    assert set(kept(cache)) == set(files)


CROWD = """
import os, sys
sys.path.insert(0, {folder!r})
from pair import inner, outer
for _ in range(4):
    if os.fork() == 0:
        outer(1.0)
        misses = [sum(one.stats.cache_misses.values()) for one in (inner, outer)]
        os.write(1, "{{}} {{}}\\n".format(*misses).encode())
        os._exit(0)
for _ in range(4):
    os.wait()
"""


def test_of_processes_that_begin_together_one_compiles(tmp_path, run):
    """The others wait for it, and load what it has made."""
    (tmp_path / "pair.py").write_text(MODULE)
    said = run(CROWD.format(folder=str(tmp_path)), NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert sorted(said) == ["0"] * 6 + ["1"] * 2


TURNS = """
import os, signal, time
from pathlib import Path
from mtcool.kernels import compile_lock
path, (ours, theirs) = Path({folder!r}) / "kernel", os.pipe()
other = os.fork()
if other == 0:
    compile_lock.begin_turn(path)
    os.write(theirs, b"!")
    signal.pause()
os.read(ours, 1)
compile_lock.PATIENCE = {patience}
if {killed}:
    os.kill(other, signal.SIGKILL)
began = time.monotonic()
compile_lock.begin_turn(path)
print(time.monotonic() - began >= compile_lock.PATIENCE)
if not {killed}:
    os.kill(other, signal.SIGKILL)
os.wait()
"""


def test_a_turn_ends_with_its_process_and_nobody_waits_for_ever(tmp_path, run):
    turns = TURNS.format(folder=str(tmp_path), patience=60.0, killed=True)
    assert run(turns) == ["False"]
    turns = TURNS.format(folder=str(tmp_path), patience=0.1, killed=False)
    assert run(turns) == ["True"]


FAILING = """
import os, sys, time
sys.path.insert(0, {folder!r})
from mtcool.kernels import compile_lock
from wrong import wrong
def failed():
    try:
        wrong(1.0)
    except Exception:
        os.write(1, b"refused ")
failed()
if os.fork() == 0:
    began = time.monotonic()
    failed()
    os.write(1, str(time.monotonic() - began < compile_lock.PATIENCE).encode())
    os._exit(0)
os.wait()
print()
"""


def test_a_kernel_that_cannot_be_compiled_keeps_nobody_waiting(tmp_path, run):
    wrong = MODULE.replace("outer(x)", "wrong(x)").replace("inner(x)", "inner(x.nothing)")
    (tmp_path / "wrong.py").write_text(wrong.replace("def inner(x.nothing)", "def inner(x)"))
    failing = FAILING.format(folder=str(tmp_path))
    assert run(failing, NUMBA_CACHE_DIR=str(tmp_path / "cache")) == ["refused", "refused", "True"]


ROUND = """
import mtcool
from mtcool.peers.exchange import _receive
network = mtcool.i_ftrl(mtcool.graphs.edgeless(2), 1)
network.update(0, [-0.5])
print(sum(_receive.stats.cache_hits.values()), sum(_receive.stats.cache_misses.values()))
print(float(network.predict(0)[0]).hex())
"""


def test_without_a_folder_or_with_a_full_disk_everything_runs(tmp_path, run):
    first = run(ROUND, NUMBA_CACHE_DIR="/dev/null/nowhere")
    assert first[:2] == ["0", "1"]
    full = """
import errno, pathlib
def write(path, data):
    raise OSError(errno.ENOSPC, "No space left on device")
pathlib.Path.write_bytes = write
"""
    assert run(full + ROUND, NUMBA_CACHE_DIR=str(tmp_path)) == first


LEARNER = """
from dataclasses import dataclass
from typing import Any, NamedTuple
import numpy as np
import mtcool
from mtcool.kernels import inline
from mtcool.learners import predict_row, update_row
from mtcool.peers.exchange import _receive

PART = {part}

class State(NamedTuple):
    total: Any
    n: Any
    rate: Any

@dataclass(frozen=True)
class Mine:
    def make_state(self, cliques, dim):
        count = len(cliques.rate)
        return State(np.zeros((count, dim)), np.zeros(count, np.int64), cliques.rate.copy())

@inline
def step(weight, g):
    return {step}

@predict_row.register
def _(state: State, clique: int, row: int, out: Any) -> None:
    out[0] = state.total[clique, 0]

@update_row.register
def _(state: State, clique: int, row: int, weight: float, gradient: Any) -> None:
    state.total[clique, 0] += step(weight, gradient[0])

network = mtcool.i_ftrl(mtcool.graphs.edgeless(1), 1, learner=Mine())
network.update(0, [1.0])
print(float(network.predict(0)[0]), sum(_receive.stats.cache_hits.values()))
"""


def test_a_learner_from_outside_is_cached_by_what_it_computes(tmp_path, run):
    where = {"NUMBA_CACHE_DIR": str(tmp_path)}
    plain = LEARNER.format(part=0.5, step="PART * weight * g")
    assert run(plain, **where) == ["0.5", "0"]
    assert run(plain, **where) == ["0.5", "1"]
    # A constant, a part that it calls: either makes it another learner.
    assert run(LEARNER.format(part=0.25, step="PART * weight * g"), **where) == ["0.25", "0"]
    assert run(LEARNER.format(part=0.5, step="-PART * weight * g"), **where) == ["-0.5", "0"]
    assert run("# a comment\n" + plain, **where) == ["0.5", "1"]


# Two versions of a function that must not share machine code.
EDITS = {
    "a function of NumPy": ("def f(x): return np.sin(x)", "def f(x): return np.cos(x)"),
    "a field": ("def f(x): return x.first", "def f(x): return x.second"),
    "a builtin": ("def f(x): return min(x, 9.0)", "def f(x): return max(x, 9.0)"),
    "a default": ("def f(x, k=2.0): return k * x", "def f(x, k=3.0): return k * x"),
    "a keyword": ("def f(x, *, k=2.0): return k * x", "def f(x, *, k=3.0): return k * x"),
    "an import": (
        "from math import sin as g\ndef f(x): return g(x)",
        "from math import cos as g\ndef f(x): return g(x)",
    ),
    "a ufunc": ("g = np.sin\ndef f(x): return g(x)", "g = np.cos\ndef f(x): return g(x)"),
    "a shape": (
        "W = np.arange(6.0).reshape(2, 3)\ndef f(x): return W[1, 0]",
        "W = np.arange(6.0).reshape(3, 2)\ndef f(x): return W[1, 0]",
    ),
    "a type": (
        "W = np.zeros(2)\ndef f(x): return W[0]",
        "W = np.zeros(2, np.int64)\ndef f(x): return W[0]",
    ),
    "a complex number": ("Z = 1j\ndef f(x): return Z", "Z = 2j\ndef f(x): return Z"),
    "a digit in a tuple": (
        "W = (np.array([1.0]),)\ndef f(x): return W[0][0]",
        "W = (np.array([1.0 + 1e-15]),)\ndef f(x): return W[0][0]",
    ),
    "a whole number": ("K = 1\ndef f(x): return K", "K = 1.0\ndef f(x): return K"),
    "something strange": ("K = object()\ndef f(x): return K", "K = object()\ndef f(x): return K"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_no_edit_of_a_foreign_function_is_taken_for_the_old_one(edit):
    def known(source):
        space = {"np": np, "__name__": "elsewhere"}
        exec(source, space)
        return identity.identity(space["f"], ())

    old, new = EDITS[edit]
    assert known(old) != known(new)
    if edit != "something strange":
        assert known(old) == known(old)


def test_functions_without_an_implementation_for_a_type_do_not_compile_it_anew(monkeypatch):
    """Else the modules that are imported beside would decide what is found in the cache."""
    state = (numba.typeof(Half().make_state(one_clique()[0], 2)),)
    before = identity.identity(predict_here.py_func, state)
    other = functools.singledispatch(lambda state: 0.0)
    monkeypatch.setattr(identity, "registries", [*identity.registries, other])
    assert identity.identity(predict_here.py_func, state) == before
    other.register(HalfState, lambda state: 1.0)
    assert identity.identity(predict_here.py_func, state) != before


def test_compiling_for_more_than_two_seconds_is_said_once():
    program = """
import time
from numba.core import event
from mtcool.kernels import announce, kernel
announce.PATIENCE, announce.EVERY = 0.05, 3600.0
@kernel
def first(x):
    return x + 1.0
@kernel
def second(x):
    return x + 2.0
first(1.0), second(1.0), first(1)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=_fresh_cache())
    assert done.stderr.count("mtcool is compiling") == 1
    assert done.stderr.count("\n") == 1
    assert "once" in done.stderr
    assert done.stdout == ""


def _fresh_cache():
    return os.environ | {"NUMBA_CACHE_DIR": "/dev/null/nowhere"}


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
