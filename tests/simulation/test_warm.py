"""Compiling ahead of time leaves nothing to compile when a network is used."""

import os
import subprocess
import sys

from mtcool.learners.adaptive.adaptive import AdaptiveState
from mtcool.learners.mt_ftrl_kt import MTFTRLKTState
from mtcool.learners.solvers.line import LineScratch
from mtcool.learners.solvers.sweep import SolverScratch
from mtcool.learners.two_phase import TwoPhaseState
from mtcool.peers.cliques import CliquePeers
from mtcool.peers.field.records import FieldPeers
from mtcool.peers.private import PrivatePeers
from mtcool.peers.single_task import SingleTaskPeers
from mtcool.privacy.aggregators.filters import FilterState
from mtcool.privacy.aggregators.trees import TreeState
from mtcool.simulation import warm


def _types(part):
    """What the compiled code of a network depends on, apart from the loss."""
    inner = (_types(field) for field in part if hasattr(field, "_fields"))
    return (type(part), *(kind for kinds in inner for kind in kinds))


def test_no_combination_is_compiled_twice_and_both_solvers_are_there():
    found = [_types(make().peers) for make in warm._networks()]
    assert len(set(found)) == len(found) == 27
    for kinds in (
        {PrivatePeers, LineScratch},
        {PrivatePeers, SolverScratch},
        {CliquePeers, LineScratch},
    ):
        assert any(kinds <= set(one) for one in found)
    for kinds in (
        {PrivatePeers, LineScratch, TreeState},
        {PrivatePeers, SolverScratch, FilterState},
    ):
        assert any(kinds <= set(one) for one in found)
    for kinds in ({CliquePeers, TwoPhaseState, SolverScratch}, {SingleTaskPeers}):
        assert any(kinds <= set(one) for one in found)
    for kinds in (
        {FieldPeers, LineScratch},
        {FieldPeers, SolverScratch},
        {FieldPeers, MTFTRLKTState},
    ):
        assert any(kinds <= set(one) for one in found)
    for kinds in ({CliquePeers, AdaptiveState, LineScratch}, {SingleTaskPeers, AdaptiveState}):
        assert any(kinds <= set(one) for one in found)


WARM = """
import atexit, functools, runpy, sys
import numba

kernels, called = set(), set()

def njit(**options):
    def compiled(function):
        if "no_cpython_wrapper" in options:  # part of a kernel
            return function
        name = f"{function.__module__}.{function.__qualname__}"
        kernels.add(name)

        @functools.wraps(function)
        def recorded(*arguments):
            called.add(name)
            return function(*arguments)

        return recorded
    return compiled

numba.njit = njit
atexit.register(lambda: print("never called:", sorted(kernels - called), "of", len(kernels)))
sys.argv = ["mtcool", "warm", "--workers", "1"]
runpy.run_module("mtcool", run_name="__main__")
"""


def test_every_kernel_is_called_and_every_combination_played_with_every_loss():
    """Uncompiled, in a process of its own: it takes no time."""
    done = subprocess.run(
        [sys.executable, "-c", WARM],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "162" in done.stdout + done.stderr
    assert "never called: [] of" in done.stdout
    assert not done.stdout.rstrip().endswith("of 0")
