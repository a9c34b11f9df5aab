"""Type checkers see the installed package: `py.typed` is there, and what it promises holds."""

import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.package

PROGRAM = """
import mtcool
from mtcool.learn import Model

graph = mtcool.graphs.ring(5)
tasks = mtcool.streams.gaussian_tasks(graph, dim=2, smoothness=10.0, seed=0)
stream = mtcool.streams.quadratic_stream(graph, tasks, rounds=100, seed=1)
net = mtcool.mt_co2ol(graph, dim=2, lipschitz=stream.lipschitz(radius=1.0))
reveal_type(net)
reveal_type(mtcool.simulate(net, stream))
reveal_type(mtcool.simulate(net, stream).regret)
reveal_type(mtcool.learn.Model())
reveal_type(Model().predict_one("a", {"sun": 1.0}))
reveal_type(mtcool.experiments.run("tiny.toml").findings)
reveal_type(mtcool.theory.independent([4]).name)
reveal_type(mtcool.integrations.sklearn.GraphRegressor())
"""
REVEALED = [
    "mtcool.network.network.Network",
    "mtcool.simulation.trace.Trace",
    "numpy.ndarray[",
    "mtcool.learn.model.Model",
    "float",
    "list[str]",
    "str",
    "mtcool.integrations.sklearn.GraphRegressor",
]
WRONG = """
import mtcool

net = mtcool.mt_co2ol(mtcool.graphs.ring(5), dim="two")
mtcool.simulate(net)
mtcool.learn.Model(share="everything")
mtcool.mt_co3ol
mtcool.learn.Modell
mtcool.experiments.runn
"""


def checked(core, folder, program):
    """What mypy says of a program that uses the package of the environment."""
    (folder / "program.py").write_text(program)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file="]
    command += ["--python-executable", core.python, "--cache-dir", core.folder / "mypy"]
    done = subprocess.run(
        [*command, "program.py"], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_a_strict_program_passes_and_results_have_their_types(core, tmp_path):
    status, lines = checked(core, tmp_path, PROGRAM)
    assert status == 0, lines
    shown = [re.search(r'Revealed type is "(.*)"', line)[1] for line in lines]
    assert len(shown) == len(REVEALED)
    for found, wanted in zip(shown, REVEALED, strict=True):
        assert found.startswith(wanted), (found, wanted)


def test_mistakes_are_found(core, tmp_path):
    status, lines = checked(core, tmp_path, WRONG)
    wrong = {int(line.split(":")[1]) for line in lines if "error" in line}
    assert status == 1
    assert wrong == {4, 5, 6, 7, 8, 9}, lines
