"""Checks of the saved states of learners: what they can be after as many updates as they count."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtcool.learners.adaptive.adaptive import AdaptiveState
from mtcool.learners.dp_mt_ftrl import DPMTFTRLState
from mtcool.learners.ftrl import FTRLState
from mtcool.learners.kt import KTState
from mtcool.learners.mt_ftrl.state import LOSS, MULTIPLIER, PLAN, WEIGHT, MTFTRLState
from mtcool.learners.mt_ftrl_kt import MTFTRLKTState
from mtcool.learners.solvers.line import CLOSED_FORM
from mtcool.learners.squared_weights import SquaredWeightsState
from mtcool.learners.two_phase import TwoPhaseState
from mtcool.learners.wealth import HIGHEST, LOWEST
from mtcool.network.saved_states.checks import (
    LARGEST,
    SLACK,
    Longest,
    Saved,
    check_numbers,
    check_state,
    close,
    within,
)
from mtcool.types import Floats, Integers
from mtcool.validation import LARGEST as LARGEST_UNIT
from mtcool.validation import LARGEST_SUM, SMALLEST

HIGHEST_INVERSE = 1e300  # of a standard deviation, in MT-FTRL
BETS = ("direction", "outcomes", "fraction", "wealth", "power")


@check_state.register
def _(state: FTRLState, saved: Saved, longest: Longest) -> None:
    check_numbers(state, saved)
    _at_most("total", saved["total"], saved["n"] * longest)


@check_state.register
def _(state: KTState, saved: Saved, longest: Longest) -> None:
    check_numbers(state, saved)
    n, total = saved["n"], saved["total"]
    _at_most("total", total, n * longest)
    beta = saved["rate"] * np.sqrt(1.0 + n)
    scale = np.maximum(beta, np.sqrt((total**2).sum(axis=1)))
    _check_bets(saved, n, -np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0.0))


@check_state.register
def _(state: MTFTRLKTState, saved: Saved, longest: Longest) -> None:
    check_numbers(state, saved)
    gradients, total, c = saved["gradients"], saved["total"], saved["cliques"]
    n, sizes = c["n"], c["size"]
    within("gradients", gradients, -LARGEST_SUM, LARGEST_SUM)
    rows = _RowSums.of(gradients, sizes.astype(np.int64))
    sums = n * longest
    _at_most("gradients", gradients, sums[rows.clique])
    # A fortune made and lost leaves its rounding behind: these sums are never computed afresh.
    close("total", total, rows.total, (1.0 + rows.length + 1e-3 * sums)[:, None])
    length = (total**2).sum(axis=1)
    history = 1.0 + rows.square + 1e-6 * sums**2
    close("deviation", c["deviation"], sizes * rows.deviation, sizes * history)
    modes = 1.0 + sizes
    norm = modes * np.maximum(c["rate"] ** 2 * (1.0 + n) * modes, c["deviation"] + length * modes)
    direction = np.divide(sizes, norm, out=np.zeros_like(norm), where=norm > 0.0)
    _check_bets({name: c[name] for name in BETS}, n, -np.sqrt(direction))


@check_state.register
def _(state: MTFTRLState, saved: Saved, longest: Longest) -> None:
    check_numbers(state, {name: saved[name] for name in saved.keys() - {"plan", "table"}})
    _check_made(state, saved)
    c, plan, dim = saved["cliques"], state.plan, saved["total"].shape[1]
    within("gradients", saved["gradients"], -SLACK * LARGEST_SUM, SLACK * LARGEST_SUM)
    rows = _RowSums.of(saved["gradients"], plan["size"])
    close("total", saved["total"], rows.total, 1.0 + rows.length[:, None])
    close("deviation", c["deviation"], rows.deviation, 1.0 + rows.square)
    least = rows.furthest - (SLACK - 1.0) * (1.0 + rows.length)
    within("reach", c["reach"], least, 2.0 * np.sqrt(dim) * _largest_sum(plan))
    _check_steps(plan, c)
    _check_experts(plan, c, saved["experts"], saved["centre"])


@check_state.register
def _(state: DPMTFTRLState, saved: Saved, longest: Longest) -> None:
    check_numbers(state, saved, LARGEST_SUM)


def _check_made(state: MTFTRLState, saved: Saved) -> None:
    """Check what a clique is made of, of which agents in the field keep a copy."""
    if "table" in saved:
        within("table", saved["table"], state.table, state.table)
    if "plan" in saved:
        for name in PLAN.names or ():
            made, values = state.plan[name], saved["plan"][name]
            # Of the root of a logarithm compiled code and NumPy may differ in the last bit.
            margin = (SLACK - 1.0) * made if name == "focus" else 0
            within(name, values, made - margin, made + margin)


def _largest_sum(plan: NDArray[np.void]) -> Floats:
    """What sums over the rows of each clique are at most: neighbours may lie about theirs."""
    most: Floats = LARGEST_SUM * (1.0 + plan["size"])
    return most


def _check_steps(plan: NDArray[np.void], c: NDArray[np.void]) -> None:
    """Check step and standard deviation of the last update; before it they are zero and one."""
    beta = c["rate"] * np.sqrt(1.0 + c["n"])
    unit = np.divide(plan["size"], beta, out=np.zeros_like(beta), where=beta > 0.0)
    fresh = (c["n"] == 0) & (c["unit"] == 0.0)
    close("unit", c["unit"], np.where(fresh, 0.0, unit), unit)
    spread = (c["deviation"] > 0.0) & (plan["size"] > 1)
    with np.errstate(over="ignore"):
        ratio = np.divide(
            plan["size"] - 1.0, c["deviation"], out=np.full_like(beta, np.inf), where=spread
        )
    inverse = np.where(fresh, 1.0, np.minimum(np.sqrt(ratio), HIGHEST_INVERSE))
    close("inverse", c["inverse"], inverse, inverse)


def _check_experts(
    plan: NDArray[np.void], c: NDArray[np.void], experts: Floats, centre: Floats
) -> None:
    """Check Hedge's weights, and the solutions of experts with rows on the ball."""
    clique = np.repeat(np.arange(len(plan)), plan["experts"])
    most = _largest_sum(plan)[clique]
    within("loss", experts[LOSS], -most, most)
    within("weight", experts[WEIGHT], 0.0, SLACK)  # the best expert has one
    mass = np.bincount(clique, experts[WEIGHT], minlength=len(plan))
    close("mass", c["mass"], mass, mass)
    within("mass", c["mass"], np.minimum(plan["experts"], 1) / SLACK, LARGEST)
    solved = experts[MULTIPLIER] != CLOSED_FORM
    within("multiplier", experts[MULTIPLIER][solved], 0.0, 1.0)
    clipped = np.bincount(clique[solved], minlength=len(plan))
    within("clipped", c["clipped"], clipped, clipped)
    within("centre", centre, -SLACK, SLACK)
    # Means of steps, the largest of which is `unit` times the root of N.
    for name in ("level", "slope"):
        within(name, c[name], 0.0, SLACK * c["unit"] * np.sqrt(1.0 + 2.0 * plan["size"]))


class _RowSums(NamedTuple):
    """Sums over the rows of each clique."""

    clique: Integers
    """Of every row."""
    total: Floats
    length: Floats
    """Sum of the rows' norms."""
    square: Floats
    """Sum of their squares."""
    deviation: Floats
    """Sum of the squared distances from the mean."""
    furthest: Floats
    """Largest distance from the mean."""

    @classmethod
    def of(cls, rows: Floats, sizes: Integers) -> "_RowSums":
        """`sizes`: rows of each clique, one clique after the other."""
        clique = np.repeat(np.arange(len(sizes)), sizes)
        total = np.zeros((len(sizes), rows.shape[1]))
        np.add.at(total, clique, rows)
        squares = (rows**2).sum(axis=1)
        apart = ((rows - (total / np.maximum(sizes, 1)[:, None])[clique]) ** 2).sum(axis=1)
        furthest = np.zeros(len(sizes))
        np.maximum.at(furthest, clique, np.sqrt(apart))
        length, square, deviation = (
            np.bincount(clique, values, minlength=len(sizes)).astype(float)
            for values in (np.sqrt(squares), squares, apart)
        )
        return cls(clique, total, length, square, deviation, furthest)


@check_state.register
def _(state: AdaptiveState, saved: Saved, longest: Longest) -> None:
    check_numbers(state, saved)
    seen = saved["longest"]
    within("longest", seen, np.where(seen > 0.0, SMALLEST, 0.0), LARGEST_UNIT)


@check_state.register
def _(state: SquaredWeightsState, saved: Saved, longest: Longest) -> None:
    check_numbers(state, saved)
    within("received", saved["received"], 0.0, LARGEST_SUM)


@check_state.register
def _(state: TwoPhaseState, saved: Saved, longest: Longest) -> None:
    check_numbers(state, saved)
    within("elapsed", saved["elapsed"], 0, state.tau)
    seen = np.concatenate(([0], np.cumsum(saved["seen"])))[state.start]
    within("seen", np.diff(seen), saved["elapsed"], saved["elapsed"])


def _check_bets(saved: Saved, n: Integers, direction: Floats) -> None:
    """Refuse bets that no coin with outcomes of at most one leads to."""
    fresh = (n == 0) & (saved["direction"] == 0.0)
    close("direction", saved["direction"], np.where(fresh, 0.0, direction), np.abs(direction))
    within("outcomes", saved["outcomes"], -SLACK * n, SLACK * n)
    fraction = -saved["outcomes"] / (1.0 + n)
    close("fraction", saved["fraction"], fraction, np.abs(fraction))
    within("wealth", saved["wealth"], LOWEST, HIGHEST)
    within("power", saved["power"], -n, n)


def _at_most(name: str, vectors: Floats, length: Floats) -> None:
    """Refuse vectors that are longer than this."""
    most = SLACK * length[:, None]
    within(name, vectors, -most, most)
