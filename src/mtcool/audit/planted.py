"""Bugs that have been made in private learning, to plant into a network: audits must find them.

Each takes a fresh network and spoils it; its promise stays what it was.
"""

import math
from collections.abc import Callable, Hashable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from mtcool.audit.subject import private_parts, swap
from mtcool.network.network import Network
from mtcool.privacy.literals import Law
from mtcool.privacy.noise import GeneratorState, Noise
from mtcool.types import Floats


def _scale_noise(network: Network, gradient: float, products: float) -> None:
    sanitiser = private_parts(network)[1]
    old = sanitiser.calibration
    spoiled = replace(old, gradient=old.gradient * gradient, products=old.products * products)
    swap(sanitiser, "calibration", spoiled)


def missing_factor_two(network: Network) -> None:
    """Sensitivity of replacing a loss taken for that of adding one."""
    _scale_noise(network, 0.5, 0.5)


def natural_logarithm(network: Network) -> None:
    """ln T nodes for each leaf in place of floor(log2 T) + 1, as in the paper's proof."""
    horizon = private_parts(network)[1].privacy.horizon[0]
    factor = math.log(horizon) / horizon.bit_length()
    _scale_noise(network, factor, factor)


def one_level_short(network: Network) -> None:
    """floor(log2 T) nodes for each leaf."""
    levels = private_parts(network)[1].privacy.horizon[0].bit_length()
    _scale_noise(network, (levels - 1) / levels, (levels - 1) / levels)


def no_split(network: Network) -> None:
    """Both channels spend the whole budget."""
    sanitiser = private_parts(network)[1]
    channels, calibration, privacy = sanitiser.channels, sanitiser.calibration, sanitiser.privacy
    norm = 2.0 * privacy.aggregator.column_norm(privacy.horizon[0], "laplace")
    full = norm / calibration.level
    spoiled = replace(
        calibration, gradient=full * math.sqrt(channels.dim), products=full * channels.load
    )
    swap(sanitiser, "calibration", spoiled)


def own_raw_sums(network: Network) -> None:
    """The active agent's own instance listens to its exact sums."""
    plain, peers = network.update, private_parts(network)[0]
    sums = np.zeros((network.graph.size, network.settings.dim))

    def update(agent: Hashable, gradient: ArrayLike) -> None:
        plain(agent, gradient)
        i, base = network.graph.index(agent), peers.state.learner.base
        sums[i] += peers.work.leaf[: network.settings.dim]
        for e in range(int(peers.ptr[i]), int(peers.ptr[i + 1])):
            if int(peers.clique[e]) == i:
                row = int(peers.row[e])
                change = peers.weight[e] * sums[i] - base.gradients[row]
                base.gradients[row] += change
                base.total[i] += change

    object.__setattr__(network, "update", update)


class _Wrapped:
    """A source of noise that another one spoils."""

    def __init__(self, noise: Noise, spoil: Callable[[Floats], Floats]) -> None:
        self.noise, self.spoil, self.grid = noise, spoil, noise.grid

    def draw(self, law: Law, scales: Floats) -> Floats:
        return self.spoil(self.noise.draw(law, scales))

    def keep(self, used: int) -> None:
        self.noise.keep(used)

    def state(self) -> GeneratorState | None:
        return self.noise.state()

    def restore(self, state: GeneratorState | None) -> None:
        self.noise.restore(state)


def too_little_noise(network: Network) -> None:
    """The sampler takes a scale for a variance, or the like: two thirds of the noise."""
    sanitiser = private_parts(network)[1]
    swap(sanitiser, "noise", _Wrapped(sanitiser.noise, lambda noise: noise * (2.0 / 3.0)))


def wrong_law(network: Network) -> None:
    """Uniform noise with the right mean size."""
    sanitiser = private_parts(network)[1]

    def uniform(noise: Floats) -> Floats:
        ranks = np.argsort(np.argsort(noise)) + 0.5
        return np.asarray((ranks / len(noise) * 2.0 - 1.0) * 2.0 * np.abs(noise).mean())

    swap(sanitiser, "noise", _Wrapped(sanitiser.noise, uniform))


def same_noise_again(network: Network) -> None:
    """A retired node's noise is used again: every other release has the noise of the last."""
    sanitiser = private_parts(network)[1]
    kept: dict[int, Floats] = {}

    def again(noise: Floats) -> Floats:
        if len(noise) in kept:
            return kept.pop(len(noise))
        kept[len(noise)] = noise
        return noise

    swap(sanitiser, "noise", _Wrapped(sanitiser.noise, again))


def same_noise_everywhere(network: Network) -> None:
    """One draw for all numbers of a release."""
    sanitiser = private_parts(network)[1]
    spoiled = _Wrapped(sanitiser.noise, lambda noise: np.full_like(noise, noise[0]))
    swap(sanitiser, "noise", spoiled)


IN_TRANSCRIPTS = (missing_factor_two, natural_logarithm, one_level_short, no_split, own_raw_sums)
IN_THE_NOISE = (too_little_noise, wrong_law, same_noise_again, same_noise_everywhere)
FROM_OUTSIDE = (missing_factor_two, natural_logarithm, one_level_short)
