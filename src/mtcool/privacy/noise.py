"""Where the noise comes from: a fast generator for simulation, an exact sampler for deployment.

A generator of doubles is not private: the doubles that it can return, and those that it cannot,
give values away (Mironov, 2012), and whoever knows the seed knows the noise. `ExactNoise` draws
whole multiples of a grid from the operating system's randomness with OpenDP's samplers, which are
proven; added to values on the same grid, which doubles hold exactly, no digit depends on more than
the noisy sum itself.
"""

from __future__ import annotations

import functools
import os
from typing import Annotated, Any, Literal, Protocol, TypeAlias

import msgspec
import numpy as np

from mtcool.privacy.literals import Law, Source
from mtcool.privacy.release import GRID
from mtcool.seeds import Seed, generator
from mtcool.types import Floats

EXACT_STEPS = 2**52  # of the grid: whole numbers below are exact in doubles

# Bit generators that a file may name, and no other function of NumPy.
_BIT_GENERATORS = {"PCG64": np.random.PCG64, "PCG64DXSM": np.random.PCG64DXSM}

BitState: TypeAlias = Any
"""State of a bit generator of NumPy, whose own annotations differ from one to the other."""
OpenDP: TypeAlias = Any
"""OpenDP, which need not be installed, and its measurements."""

_Hex = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{32}\Z")]


class GeneratorState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """State of a bit generator as a file keeps it; its 128 bits are strings of hex digits."""

    name: Literal["PCG64", "PCG64DXSM"]
    state: _Hex
    increment: _Hex
    has_uint32: Literal[0, 1]
    uinteger: Annotated[int, msgspec.Meta(ge=0, lt=2**32)]


class Noise(Protocol):
    """A source of Laplace or Gaussian noise."""

    grid: float
    """All draws are multiples of this; 0 if they are any doubles."""

    def draw(self, law: Law, scales: Floats) -> Floats:
        """Independent draws, one for each scale: b of Laplace, standard deviation of Gauss."""

    def keep(self, used: int) -> None:
        """Take back the numbers of the last `draw` after the first `used`, which were released.

        Another call before the next `draw` does nothing.
        """

    def state(self) -> GeneratorState | None:
        """What a file needs to go on with the same draws; None if they cannot be repeated."""

    def restore(self, state: GeneratorState | None) -> None:
        """Go on where `state` was taken."""


class SimulatedNoise:
    """NumPy's generator: fast and repeatable, for simulation only; NOT private in deployment.

    Examples
    --------
    >>> SimulatedNoise(0).draw("laplace", np.ones(3)).round(2)
    array([-0.34,  0.02, -1.08])
    """

    __slots__ = ("_before", "_generator", "_last", "_process")
    grid = 0.0

    def __init__(self, seed: Seed | None = None) -> None:
        # Without a seed, the system's randomness: noise that everybody can repeat hides nothing.
        self._generator = np.random.default_rng() if seed is None else generator(seed)
        self._process = os.getpid()
        self._before: BitState = None
        self._last: tuple[Law, int] = "none", 0

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor: what is unpickled belongs to the process that does it.
        _check_process(self._process)
        return SimulatedNoise, (self._generator,)

    def draw(self, law: Law, scales: Floats) -> Floats:
        """Draws in the order of the scales: one call or many, the same numbers."""
        _check_process(self._process)
        self._before, self._last = None, (law, len(scales))
        self._before = self._generator.bit_generator.state
        return _standard(self._generator, law, len(scales)) * scales

    def keep(self, used: int) -> None:
        """Move the generator back to before the unused numbers were drawn.

        Not if it is shared and others have used it since: that noise may have been published.
        """
        law, drawn = self._last
        if self._before is not None and used < drawn:
            # An interrupt may come at any line: the generator moves in one step.
            bits = self._generator.bit_generator
            after_used, after_all = _states(type(bits)(0), self._before, law, (used, drawn))
            if _same(after_all, bits.state):
                bits.state = after_used
        self._before = None

    def state(self) -> GeneratorState:
        """The generator's state; only generators of PCG64 can be saved."""
        _check_process(self._process)
        saved: BitState = self._generator.bit_generator.state
        name = saved["bit_generator"]
        if name not in _BIT_GENERATORS:
            raise ValueError(f"seed must be a generator of PCG64 to be saved, got {name}")
        return GeneratorState(
            name=name,
            state=f"{saved['state']['state']:032x}",
            increment=f"{saved['state']['inc']:032x}",
            has_uint32=saved["has_uint32"],
            uinteger=saved["uinteger"],
        )

    def restore(self, state: GeneratorState | None) -> None:
        """Go on where `state` was taken."""
        if state is None:
            raise ValueError("noise must have the state of its generator, got None")
        increment = int(state.increment, 16)
        if increment % 2 == 0:
            raise ValueError(f"noise must have an odd increment, got {state.increment}")
        bits = _BIT_GENERATORS[state.name](0)
        bits.state = {
            "bit_generator": state.name,
            "state": {"state": int(state.state, 16), "inc": increment},
            "has_uint32": state.has_uint32,
            "uinteger": state.uinteger,
        }
        self._generator = np.random.Generator(bits)

    def __repr__(self) -> str:
        return "SimulatedNoise (a simulation, not a private deployment)"


class ExactNoise:
    """OpenDP's exact samplers of discrete Laplace and Gaussian noise, on the grid 2^-20.

    Needs the extra `exact`: `pip install mtcool[exact]`. Some tens of microseconds for a draw.
    """

    __slots__ = ("_process",)
    grid = GRID

    def __init__(self) -> None:
        _opendp()  # say at once that it is missing
        self._process = os.getpid()

    def __reduce__(self) -> tuple[Any, ...]:
        _check_process(self._process)
        return ExactNoise, ()

    def draw(self, law: Law, scales: Floats) -> Floats:
        """Draws from the operating system's randomness; they cannot be repeated."""
        _check_process(self._process)
        drawn = np.empty(len(scales))
        for scale in np.unique(scales):
            chosen = scales == scale
            steps = np.array(_sampler(law, float(scale) / GRID)([0] * int(chosen.sum())))
            # Beyond, doubles are not exact, and at 2^63 the sampler would saturate.
            if (np.abs(steps) >= EXACT_STEPS).any():
                raise ValueError(f"scale must be small enough for exact noise, got {scale!r}")
            drawn[chosen] = steps * GRID
        return drawn

    def keep(self, used: int) -> None:
        """Nothing to do: the next draws are new ones."""

    def state(self) -> None:
        """None: nobody can draw the same noise again."""
        _check_process(self._process)

    def restore(self, state: GeneratorState | None) -> None:
        """Nothing to restore."""
        if state is not None:
            raise ValueError(f"noise must have no state if it is exact, got {state!r}")

    def __repr__(self) -> str:
        return "ExactNoise (OpenDP)"


def make_noise(kind: Source, seed: Seed | None = None) -> Noise:
    """The source named "simulated" or "exact"; exact noise has no seed."""
    if kind == "exact":
        if seed is not None:
            raise ValueError(f'seed applies only to noise="simulated", got {seed!r}')
        return ExactNoise()
    return SimulatedNoise(seed)


def _check_process(process: int) -> None:
    """Refuse a forked process, which has a copy of all that its parent goes on with.

    Its generator would draw the same noise for other data, so that the difference of what the two
    publish is exact; and whatever the noise, both would spend the same budget.
    """
    if process != os.getpid():
        raise ValueError(
            "noise of a private network must be drawn by the process that made or loaded the "
            "network, because a forked one repeats the noise and the budget of its parent, "
            f"got noise of process {process} in process {os.getpid()}"
        )


def _standard(generator: np.random.Generator, law: Law, count: int) -> Floats:
    if law == "gaussian":
        return generator.standard_normal(count)
    # The difference of two exponential variables is a Laplace variable.
    pairs = generator.standard_exponential((count, 2))
    return np.asarray(pairs[:, 0] - pairs[:, 1])


def _states(
    bits: np.random.BitGenerator, before: BitState, law: Law, counts: tuple[int, ...]
) -> list[BitState]:
    """States of a bit generator after so many draws, each from the state `before`."""
    found = []
    for count in counts:
        bits.state = before
        _standard(np.random.Generator(bits), law, count)
        found.append(bits.state)
    return found


def _same(one: BitState, two: BitState) -> bool:
    """Whether two states of a bit generator are equal; some hold arrays."""
    if isinstance(one, dict):
        return all(_same(one[key], two[key]) for key in one)
    return bool(np.all(one == two))


def _opendp() -> OpenDP:
    try:
        import opendp.prelude as opendp
    except ImportError:
        raise ValueError(
            'noise="exact" needs OpenDP, which is not installed: pip install "mtcool[exact]"'
        ) from None
    return opendp


@functools.lru_cache(maxsize=1024)
def _sampler(law: Law, scale: float) -> OpenDP:
    dp = _opendp()
    dp.enable_features("contrib")
    # 64 bits: OpenDP takes Python's int for 32, and saturates draws at 2^31.
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    if law == "gaussian":
        return dp.m.make_gaussian(domain, dp.l2_distance(T="i64"), scale)
    return dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale)
