"""Importing mtcool takes little time: what only some need is imported when they need it."""

import ast
import importlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import mtcool

SOURCE = Path(mtcool.__file__).parent
LAZY = [path for path in SOURCE.rglob("__init__.py") if "attach(" in path.read_text()]
LATER = ("joblib", "matplotlib", "pandas", "rich", "scipy.optimize", "scipy.stats", "scipy.special")
MOST = 0.5
"""Seconds of the processor that `import mtcool` may take beyond the import of numba."""
OF_A_NODE = 220
"""Modules of the package that a live node may import; the target is 260."""
NOT_OF_A_NODE = ("audit", "experiments", "integrations", "simulation", "testing", "theory")
TABLES = {"learn": {"features": ["x"]}}
GRADIENTS = {"algorithm": {"dim": 2}}


def test_heavy_parts_are_imported_when_they_are_needed():
    show = f"import sys, mtcool; print(*(name for name in {LATER} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def least(program, times=5):
    """The least time that a program takes of the processor, in processes of its own."""
    # Bytecode that is not kept would be made again each time, which is not what users pay.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    show = f"import time; {program}; print(time.process_time())"
    command = [sys.executable, "-c", show]
    took = [subprocess.check_output(command, env=environment, text=True) for _ in range(times)]
    return min(map(float, took))


def test_the_import_takes_less_than_half_a_second_beyond_that_of_numba():
    """The least of some times: a busy machine adds to each, and never takes away."""
    assert least("import numba, mtcool") - least("import numba") < MOST


def test_time_of_the_processor_is_noticed():
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    assert least(f"exec({busy!r})", times=1) >= 0.3


def parts_after(program):
    """The modules of the package that a program imports, as lists of names."""
    show = f"import sys; {program}; print(*(name for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True)
    return [name.split(".") for name in done.stdout.split() if name.split(".")[0] == "mtcool"]


def test_the_package_alone_imports_none_of_its_parts():
    assert sorted(parts_after("import mtcool")) == [["mtcool"], ["mtcool", "lazy"]]


def test_a_live_node_imports_no_experiments_and_few_modules():
    parts = parts_after("import mtcool.live.node")
    assert len(parts) <= OF_A_NODE
    assert {part[1] for part in parts if len(part) > 1}.isdisjoint(NOT_OF_A_NODE)


@pytest.mark.parametrize(("learns", "never"), [(TABLES, "algorithms"), (GRADIENTS, "learn")])
def test_a_host_imports_what_its_agents_learn_with_and_no_experiments(learns, never):
    table = {"name": "demo", "graph": {"kind": "ring", "agents": 4}, "shards": {"count": 1}}
    make = f"from mtcool.live import config; config.drivers_of(config.described({table | learns}))"
    found = {part[1] for part in parts_after(f"{make}(0)") if len(part) > 1}
    assert found.isdisjoint({*NOT_OF_A_NODE, never})


def lazy_names(path):
    """Names that a package imports for type checkers, and those of its table, with their homes."""
    known = ast.parse(path.read_text()).body
    (choice,) = (one for one in known if isinstance(one, ast.If))
    package = importlib.import_module(".".join(path.parent.relative_to(SOURCE.parent).parts))
    read = {alias.name: f"{one.module}" for one in choice.body for alias in one.names}
    (call,) = (one.value for one in choice.orelse if isinstance(one, ast.Assign))
    table = ast.literal_eval(call.args[1])
    kept = {name: f"{package.__name__}.{home}" for home, names in table.items() for name in names}
    modules = {key.arg: ast.literal_eval(key.value) for key in call.keywords}.get("modules", ())
    return package, read, kept, set(modules)


@pytest.mark.parametrize("path", LAZY, ids=lambda path: path.parent.name)
def test_checkers_and_programs_find_the_same_names(path):
    package, read, kept, modules = lazy_names(path)
    assert {name for name, home in read.items() if home != package.__name__} == kept.keys()
    assert {name for name, home in read.items() if home == package.__name__} <= modules
    for name, home in read.items() | kept.items():
        assert getattr(package, name) is getattr(importlib.import_module(home), name)
    assert modules | kept.keys() <= set(dir(package))


@pytest.mark.parametrize("path", LAZY, ids=lambda path: path.parent.name)
def test_no_lazy_name_is_that_of_a_module_which_would_hide_it(path):
    """Whoever imports a module makes it an attribute, and then nobody is asked for the name."""
    _, _, kept, _ = lazy_names(path)
    assert kept.keys().isdisjoint({other.stem for other in path.parent.iterdir()})


def test_a_name_that_is_not_there_is_refused():
    with pytest.raises(AttributeError, match="module 'mtcool' has no attribute 'sharing'"):
        _ = mtcool.sharing


def test_a_process_that_has_imported_nothing_else_reads_files_and_pickles(tmp_path):
    """What they name, such as an algorithm, is imported then."""
    net = mtcool.dpmt_co2ol(mtcool.graphs.ring(4), 1, mtcool.Privacy(3.0, 9), seed=1)
    plain = mtcool.pairwise(mtcool.graphs.ring(4), 1)
    for one in (net, plain):
        one.update(2, [0.5])
    net.save(tmp_path / "net.npz")
    (tmp_path / "agent.pickle").write_bytes(pickle.dumps(plain.agent(2)))
    program = (
        "import pathlib, pickle, mtcool; net = mtcool.load('net.npz'); "
        "agent = pickle.loads(pathlib.Path('agent.pickle').read_bytes()); "
        "print(net.predict(1), *net.agents(), agent.name)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.split() == [*str(net.predict(1)).split(), "0", "1", "2", "3", "2"]
