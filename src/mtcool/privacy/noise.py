"""Where the noise comes from: a fast generator for simulation, an exact sampler for deployment.

A generator of doubles is not private: the doubles that it can return, and those that it cannot,
give values away (Mironov, 2012), and whoever knows the seed knows the noise. `ExactNoise` draws
whole multiples of a grid from the operating system's randomness with OpenDP's samplers, which are
proven; added to values on the same grid, which doubles hold exactly, no digit depends on more than
the noisy sum itself.
"""

from __future__ import annotations

import functools
import json
from typing import Any, Protocol

import numpy as np

from mtcool.privacy.aggregator import Floats
from mtcool.privacy.release import GRID
from mtcool.seeds import Seed, generator

NOISES = ("simulated", "exact")
EXACT_STEPS = 2**52  # of the grid: whole numbers below are exact in doubles


class Noise(Protocol):
    """A source of Laplace or Gaussian noise."""

    grid: float
    """All draws are multiples of this; 0 if they are any doubles."""

    def draw(self, law: str, scales: Floats) -> Floats:
        """Independent draws, one for each scale: b of Laplace, standard deviation of Gauss."""

    def state(self) -> str | None:
        """What a file needs to go on with the same draws; None if they cannot be repeated."""

    def restore(self, state: str | None) -> None:
        """Go on where `state` was taken."""


class SimulatedNoise:
    """NumPy's generator: fast and repeatable, for simulation only; NOT private in deployment.

    >>> SimulatedNoise(0).draw("laplace", np.ones(3)).round(2)
    array([-0.34,  0.02, -1.08])
    """

    grid = 0.0

    def __init__(self, seed: Seed | None = None) -> None:
        # Noise that everybody can repeat is no noise: without a seed it is the system's.
        self.generator = np.random.default_rng() if seed is None else generator(seed)

    def draw(self, law: str, scales: Floats) -> Floats:
        """Draws in the order of the scales: one call or many, the same numbers."""
        if law == "gaussian":
            return self.generator.standard_normal(len(scales)) * scales
        # The difference of two exponential variables is a Laplace variable.
        pairs = self.generator.standard_exponential((len(scales), 2))
        return np.asarray((pairs[:, 0] - pairs[:, 1]) * scales)

    def state(self) -> str:
        """The generator's state as text."""
        state: Any = self.generator.bit_generator.state
        try:
            return json.dumps(state)
        except TypeError:
            name = state["bit_generator"]
            raise ValueError(f"seed must be a generator of PCG64 to be saved, got {name}") from None

    def restore(self, state: str | None) -> None:
        """Go on where `state` was taken."""
        if state is None:
            raise ValueError("noise must have the state of its generator, got None")
        saved = json.loads(state)
        kind = getattr(np.random, str(saved.get("bit_generator")), None)
        if kind is None:
            raise ValueError(f"noise must have the state of a generator, got {state!r}")
        bits = kind(0)
        bits.state = saved
        self.generator = np.random.Generator(bits)

    def __repr__(self) -> str:
        return "SimulatedNoise (a simulation, not a private deployment)"


class ExactNoise:
    """OpenDP's exact samplers of discrete Laplace and Gaussian noise, on the grid 2^-20.

    Needs the extra `exact`: `pip install mtcool[exact]`. Some tens of microseconds for a draw.
    """

    grid = GRID

    def __init__(self) -> None:
        _opendp()  # say at once that it is missing

    def draw(self, law: str, scales: Floats) -> Floats:
        """Draws from the operating system's randomness; they cannot be repeated."""
        drawn = np.empty(len(scales))
        for scale in np.unique(scales):
            chosen = scales == scale
            steps = np.array(_sampler(law, float(scale) / GRID)([0] * int(chosen.sum())))
            # Beyond, doubles are not exact, and at 2^63 the sampler would saturate.
            if (np.abs(steps) >= EXACT_STEPS).any():
                raise ValueError(f"scale must be small enough for exact noise, got {scale!r}")
            drawn[chosen] = steps * GRID
        return drawn

    def state(self) -> None:
        """None: nobody can draw the same noise again."""

    def restore(self, state: str | None) -> None:
        """Nothing to restore."""

    def __repr__(self) -> str:
        return "ExactNoise (OpenDP)"


def make_noise(kind: str, seed: Seed | None = None) -> Noise:
    """The source named "simulated" or "exact"; exact noise has no seed."""
    if kind == "exact":
        if seed is not None:
            raise ValueError(f'seed has no meaning but for noise="simulated", got {seed!r}')
        return ExactNoise()
    return SimulatedNoise(seed)


def _opendp() -> Any:
    try:
        import opendp.prelude as opendp
    except ImportError:
        raise ValueError(
            'noise="exact" needs OpenDP: pip install "mtcool[exact]", got no module opendp'
        ) from None
    return opendp


@functools.lru_cache(maxsize=1024)
def _sampler(law: str, scale: float) -> Any:
    dp = _opendp()
    dp.enable_features("contrib")
    # 64 bits: OpenDP takes Python's int for 32, and saturates draws at 2^31.
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    if law == "gaussian":
        return dp.m.make_gaussian(domain, dp.l2_distance(T="i64"), scale)
    return dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale)
