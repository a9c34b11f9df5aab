"""From a file back into a state: only what a network of these settings could have written.

Compiled code trusts its state: it looks up what the state says without asking whether that exists.
So every number from outside is checked here, while the state is still fresh, and copied afterwards.
"""

import functools
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtcool.layout import Peers
from mtcool.learners.ftrl import FTRLState
from mtcool.learners.kt import KTState
from mtcool.learners.learner import Floats, Integers
from mtcool.learners.mt_ftrl import MTFTRLState
from mtcool.learners.mt_ftrl_kt import CLIQUE, MTFTRLKTState
from mtcool.learners.two_phase import TwoPhaseState
from mtcool.privacy.filters import FilterState
from mtcool.privacy.trees import DOUBLING, SMOOTH, TreeState
from mtcool.private_peers import PrivatePeers
from mtcool.storage import own_arrays, state_arrays, states

Saved = Mapping[str, NDArray[Any]]
"""Arrays of one state by field, of the types and shapes that the fresh state has."""

LARGEST = float(np.finfo(np.float64).max)
LARGEST_SUM = 1e150  # of leaves and noise, whose scale is at most 1e100: its square is finite
SLACK = 1.0 + 1e-6  # for the rounding of many updates
MOST = 2**62 - 1  # of a count: another one does not overflow; and of a tree's word

# Of MT-FTRL's numbers, in the units of the paper. Sums may be of noise, and rates are at least
# 1e-100, as weights are; squares of all of them are finite.
HEDGE = {
    "gradients": (-1e120, 1e120),
    "total": (-1e120, 1e120),
    "deviation": (0.0, 1e250),
    "reach": (0.0, 1e125),
    "unit": (0.0, 1e120),
    "inverse": (0.0, 1e300),
    "level": (0.0, 1e120),
    "slope": (0.0, 1e120),
    "loss": (-1e150, 1e150),
    "weight": (0.0, 1.0 + 1e-6),
    "multiplier": (-1.0, 1.0 + 1e-6),  # CLOSED_FORM, or s from 0 to 1
    "centre": (-1.0 - 1e-6, 1.0 + 1e-6),
}

# Set when a state is made, and never again; `rate` only by the two-phase strategy.
CONSTANT = ("bound", "coin", "focus", "size")


def restore(peers: Peers, arrays: Saved) -> None:
    """Copy saved arrays into fresh peers, or refuse them and change nothing."""
    _check_fit(peers.state, arrays)
    for prefix, state in states(peers.state):
        saved = {field: arrays[f"{prefix}.{field}"] for field, _ in own_arrays(state)}
        check_state(state, saved)
    if not isinstance(peers.state, TwoPhaseState):
        for name, array in state_arrays(peers.state):
            _check_constant(name, array, arrays[name], ("rate",))
    if isinstance(peers, PrivatePeers):
        _within("activations", arrays["state.aggregator.activations"], 0, peers.horizon)
    for name, array in state_arrays(peers.state):
        array[...] = arrays[name]


@functools.singledispatch
def check_state(state: Any, saved: Saved) -> None:
    """Refuse numbers that a state of this type, fresh in `state`, cannot come to.

    A learner from outside says nothing of its state, and is given by the caller who trusts it.
    """
    if type(state).__module__.split(".")[0] == "mtcool":
        _check_numbers(state, saved)


@check_state.register
def _(state: TreeState, saved: Saved) -> None:
    _check_numbers(state, saved, LARGEST_SUM)
    count, word = saved["activations"], saved["word"]
    if state.kind == SMOOTH:
        _within("ones of a word", np.bitwise_count(word), state.terms, state.terms)
        _within("number of a word", _rank(word), count, count)
    else:
        first = 1 if state.kind == DOUBLING else 0
        _within("word", word, count + first, count + first)
    # A leaf has numbers of at most one; more only by rounding.
    most = np.repeat(count, np.diff(state.slot)) * (1.0 + 1e-9)
    _within("node", saved["node"], -most, most)


@check_state.register
def _(state: FilterState, saved: Saved) -> None:
    _check_numbers(state, saved, LARGEST_SUM)


@check_state.register
def _(state: FTRLState, saved: Saved) -> None:
    _check_numbers(state, saved)
    _at_most("total", saved["total"], saved["n"])


@check_state.register
def _(state: KTState, saved: Saved) -> None:
    _check_numbers(state, saved)
    n, total = saved["n"], saved["total"]
    _at_most("total", total, n)
    beta = saved["rate"] * np.sqrt(1.0 + n)
    scale = np.maximum(beta, np.sqrt((total**2).sum(axis=1)))
    _check_bets(saved, n, -np.divide(1.0, scale, out=np.zeros_like(scale), where=n > 0))


@check_state.register
def _(state: MTFTRLKTState, saved: Saved) -> None:
    _check_numbers(state, saved)
    gradients, total, c = saved["gradients"], saved["total"], saved["cliques"]
    n, sizes = c["n"], c["size"]
    clique = np.repeat(np.arange(len(c)), sizes.astype(np.int64))
    _at_most("gradients", gradients, n[clique])
    sums = np.zeros_like(total)
    np.add.at(sums, clique, gradients)
    _close("total", total, sums, 1.0 + n[:, None])
    squares = np.bincount(clique, (gradients**2).sum(axis=1), minlength=len(c))
    length = (total**2).sum(axis=1)
    spread = sizes * squares - length
    _close("cliques.deviation", c["deviation"], spread, sizes * (1.0 + squares))
    modes = 1.0 + sizes
    norm = modes * np.maximum(c["rate"] ** 2 * (1.0 + n) * modes, c["deviation"] + length * modes)
    direction = np.divide(sizes, norm, out=np.zeros_like(norm), where=n > 0)
    _check_bets({name: c[name] for name in CLIQUE.fields or ()}, n, -np.sqrt(direction))


@check_state.register
def _(state: MTFTRLState, saved: Saved) -> None:
    _check_numbers(state, saved)
    for field, (low, high) in HEDGE.items():
        _within(field, saved[field], low, high)
    _within("clipped", saved["clipped"], 0, np.diff(state.expert))
    mass = np.concatenate(([0.0], np.cumsum(saved["weight"])))[state.expert]
    _close("mass", saved["mass"], np.diff(mass), 1.0 + saved["mass"])


@check_state.register
def _(state: TwoPhaseState, saved: Saved) -> None:
    _check_numbers(state, saved)
    _within("elapsed", saved["elapsed"], 0, state.tau)
    seen = np.concatenate(([0], np.cumsum(saved["seen"])))[state.start]
    _within("seen", np.diff(seen), saved["elapsed"], saved["elapsed"])


def _check_fit(state: Any, arrays: Saved) -> None:
    own = {name: (array.dtype, array.shape) for name, array in state_arrays(state)}
    given = {name: (array.dtype, array.shape) for name, array in arrays.items()}
    if own != given:
        strange = min(name for name, _ in own.items() ^ given.items())
        raise ValueError(
            f"learner must have the state that was saved, got {own.get(strange)} for {strange} "
            f"in place of {given.get(strange)}"
        )


def _check_numbers(state: Any, saved: Saved, largest: float = LARGEST) -> None:
    """Finite numbers, counts that are not negative, constants as they were made."""
    for field, array in saved.items():
        _check_constant(field, getattr(state, field), array, CONSTANT)
        for name, values in _columns(field, array):
            if values.dtype.kind == "f":
                _within(name, values, -largest, largest)
            else:
                _within(name, values, 0, MOST)


def _check_constant(
    name: str, fresh: NDArray[Any], array: NDArray[Any], constant: tuple[str, ...]
) -> None:
    for (column, made), (_, values) in zip(
        _columns(name, fresh), _columns(name, array), strict=True
    ):
        if column.split(".")[-1] in constant:
            _within(column, values, made, made)


def _columns(name: str, array: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    """An array of numbers itself, or the fields of one of records."""
    if array.dtype.names is None:
        yield name, array
    else:
        yield from ((f"{name}.{field}", array[field]) for field in array.dtype.names)


def _check_bets(saved: Saved, n: Integers, direction: Floats) -> None:
    """A coin with outcomes of at most one, a fraction that follows from them, at most doublings."""
    _close("direction", saved["direction"], direction, np.abs(direction))
    _within("outcomes", saved["outcomes"], -SLACK * n, SLACK * n)
    fraction = -saved["outcomes"] / (1.0 + n)
    _close("fraction", saved["fraction"], fraction, np.abs(fraction))
    _within("wealth", saved["wealth"], 0.0, SLACK * np.exp2(np.minimum(n, 1000.0)))


def _at_most(name: str, vectors: Floats, updates: Integers) -> None:
    """An update adds a vector of norm at most one."""
    most = SLACK * updates[:, None]
    _within(name, vectors, -most, most)


def _close(name: str, values: Floats, expected: Floats, size: Floats) -> None:
    """Equal up to the rounding of many updates of this size."""
    _within(name, values, expected - (SLACK - 1.0) * size, expected + (SLACK - 1.0) * size)


def _within(name: str, values: NDArray[Any], low: Any, high: Any) -> None:
    wrong = ~((values >= low) & (values <= high))  # also of a NaN
    if wrong.any():
        raise ValueError(
            f"{name} must be what a network of these settings has, got {values[wrong].flat[0]}"
        )


def _rank(word: Integers) -> Integers:
    """How many words with as many ones are smaller, for words below 2^62."""
    rank, ones = np.zeros_like(word), np.zeros_like(word)
    for b in range(62):
        bit = (word >> b) & 1
        ones += bit
        rank += bit * _BINOMIALS[b, ones]
    return rank


_BINOMIALS = np.array([[math.comb(b, k) for k in range(64)] for b in range(62)])
