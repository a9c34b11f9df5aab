"""What stands between a private network and the world: noise at the right scales, and the ledger.

The compiled protocol adds noise from a buffer of draws. A sanitiser fills it, in the order of the
releases to come, with draws at the scales of the calibration.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mtcool.kernels import kernel
from mtcool.privacy.accountant import gaussian_epsilon
from mtcool.privacy.aggregators.aggregator import begin
from mtcool.privacy.calibration import Calibration, Channels, calibrate, constant
from mtcool.privacy.noise import Noise
from mtcool.privacy.settings import PrivacySettings
from mtcool.types import Floats, Integers, State
from mtcool.validation import LARGEST, SMALLEST

CAPACITY = 2**17  # draws that wait in the buffer
EXACT_UP_TO = 2.0**32  # in units of the protocol: multiples of the grid below are exact in doubles
FINEST = 2.0**16  # steps of the grid in a scale of exact noise: then discrete laws are continuous


class Account(NamedTuple):
    """What one agent has spent of its budget, and what is left.

    Levels are epsilon (at the agent's delta, for Gaussian noise), or rho if that is the budget.
    Losses do not share a budget, each has the whole of it: these are the levels of the loss that
    has spent most.
    """

    budget: float
    """The level that was asked for."""
    promised: float
    """The level that all releases together give; not the budget for calibration="paper"."""
    spent: float
    """The level that the releases so far give."""
    left: float
    """Promised and not spent yet; a difference of levels, not a level to spend elsewhere."""
    released: int
    """Activations, each of which published one noisy sum."""
    remaining: int
    """Activations before the agent must stop."""


class Sanitiser:
    """Noise and ledger of a network."""

    def __init__(self, privacy: PrivacySettings, channels: Channels, noise: Noise) -> None:
        self.privacy = privacy
        self.channels = channels
        self.noise = noise
        self.calibration: Calibration = calibrate(
            channels,
            privacy.aggregator,
            privacy.budget,
            privacy.horizon,
            privacy.law,
            method=privacy.calibration,
            adjacency=privacy.adjacency,
            split=privacy.split,
            grid=noise.grid,
        )
        # A release must cost the same in a network of any size: what looks at all agents is here.
        self._width = constant(channels.width)
        self.capacity = max(CAPACITY, int(self._width.max()))
        """Length that the buffer of draws must have."""
        self.most_releases = self.capacity // int(self._width.min())
        """The buffer never has noise for more."""
        self._check_scales()
        self._sealed = True

    def __setattr__(self, name: str, value: object) -> None:
        if getattr(self, "_sealed", False):
            raise ValueError(f"{name} of a private network cannot change, got {value!r}")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise ValueError(f"{name} of a private network cannot be deleted")

    def begin(self, state: State) -> None:
        """Publish pure noise of every agent, before anything is learned."""
        times = self.privacy.aggregator.padding(state)
        agents = np.repeat(np.arange(len(times)), times)
        draws = self._draw(self._scales(agents, np.ones(len(agents))))
        self.keep(len(draws))
        _begin(state, np.concatenate(([0], np.cumsum(times * self._width))), draws)

    def draws(self, count: Integers, agents: Integers) -> tuple[Floats, int]:
        """Draw noise for the next releases of `agents`, in order, as far as the buffer reaches.

        `count` has the number of releases of every agent so far. Returns the noise, and for how
        many of the agents it is.
        """
        agents = agents[: self.most_releases]
        served = int(np.searchsorted(np.cumsum(self._width[agents]), self.capacity, side="right"))
        agents = agents[:served]
        growth = self.privacy.aggregator.growth(_numbered(agents, count), self.privacy.law)
        return self._draw(self._scales(agents, growth)), served

    def keep(self, used: int) -> None:
        """Take back the numbers of the last `draws` after the first `used`."""
        if self.privacy.law != "none":
            self.noise.keep(used)

    def scales(self, agent: int, activation: int) -> Floats:
        """Scales of the noise of one release, number by number."""
        growth = self.privacy.aggregator.growth(np.array([activation]), self.privacy.law)
        return self._scales(np.array([agent]), growth)

    def account(self, agent: int, released: int) -> Account:
        """The agent's ledger after so many releases."""
        privacy, level = self.privacy, float(self.calibration.level[agent])
        horizon, law = privacy.horizon[agent], privacy.law
        share = privacy.aggregator.spent(released, horizon, law)
        spent = level * share if share > 0.0 else 0.0
        budget = privacy.budget.rho or privacy.budget.epsilon or ()
        promised, paid = self._public(agent, level), self._public(agent, spent)
        if privacy.calibration == "tight" and privacy.law != "none":
            promised = budget[agent]  # without the rounding of mu and back
        paid = min(paid, promised)
        left = promised - paid if np.isfinite(promised) else promised
        return Account(budget[agent], promised, paid, left, released, horizon - released)

    def __repr__(self) -> str:
        privacy = self.privacy
        true = [self._public(i, float(level)) for i, level in enumerate(self.calibration.level)]
        word = "rho" if privacy.budget.rho is not None else "epsilon"
        words = [repr(privacy.aggregator), f"{privacy.calibration} noise, {privacy.noise}"]
        words.append(f"true {word} {_span(true)}")
        if privacy.budget.delta is not None:
            words.append(f"delta {_span(privacy.budget.delta)}")
        return f"{', '.join(words)}, {privacy.adjacency}, horizon {_span(privacy.horizon)}"

    def _public(self, agent: int, level: float) -> float:
        """A level in the unit of the budget, epsilon or rho."""
        budget = self.privacy.budget
        if self.privacy.law != "gaussian" or level == 0.0:
            return level
        if budget.rho is not None:
            return level**2 / 2.0
        if budget.delta is None:
            raise ValueError("budget must have delta or rho for Gaussian noise, got neither")
        return gaussian_epsilon(level, budget.delta[agent])

    def _scales(self, agents: Integers, growth: Floats) -> Floats:
        scales, lengths = np.empty((len(agents), 2)), np.empty((len(agents), 2), np.int64)
        scales[:, 0] = self.calibration.gradient[agents] * growth
        scales[:, 1] = self.calibration.products[agents] * growth
        lengths[:, 0], lengths[:, 1] = self.channels.dim, self.channels.products[agents]
        return np.repeat(scales.ravel(), lengths.ravel())

    def _draw(self, scales: Floats) -> Floats:
        if self.privacy.law == "none":
            return np.zeros(len(scales))
        return self.noise.draw(self.privacy.law, scales)

    def _check_scales(self) -> None:
        """Refuse noise that doubles, or the grid of exact noise, cannot hold."""
        scales = self.calibration
        used = np.concatenate((scales.gradient, scales.products[self.channels.products > 0]))
        if self.privacy.law == "none":
            return
        if not (used.min() >= SMALLEST and used.max() <= LARGEST):
            level = "epsilon" if self.privacy.budget.rho is None else "rho"
            raise ValueError(
                f"{level} must give noise scales from {SMALLEST:g} to {LARGEST:g}, "
                f"got {used.min():g} to {used.max():g}"
            )
        if self.noise.grid == 0.0:
            return
        horizon = max(self.privacy.horizon)
        growth = self.privacy.aggregator.growth(np.array([horizon]), self.privacy.law)[0]
        if horizon > EXACT_UP_TO / 2:
            raise ValueError(
                f"horizon must be at most {EXACT_UP_TO / 2:.0f} for exact noise, got {horizon}"
            )
        if 4000.0 * growth * used.max() > EXACT_UP_TO / 2:  # beyond any draw
            raise ValueError(
                "epsilon must be larger for exact noise, whose sums must stay below 2^32, "
                f"got a noise scale of {growth * used.max():g}"
            )
        if used.min() < FINEST * self.noise.grid:
            raise ValueError(
                "epsilon must be smaller for exact noise, whose grid must be fine next to it, "
                f"got a noise scale of {used.min():g}"
            )


def _span(values: Sequence[float]) -> str:
    low, high = f"{min(values):.4g}", f"{max(values):.4g}"
    return low if low == high else f"{low} to {high}"


@kernel
def _begin(state: State, start: Integers, draws: Floats) -> None:
    for agent in range(start.shape[0] - 1):
        begin(state, agent, draws[start[agent] : start[agent + 1]])


def _numbered(agents: Integers, count: Integers) -> Integers:
    """Number of each activation among its agent's own: 1 for the first."""
    order = np.argsort(agents, kind="stable")
    ordered = agents[order]
    first = np.searchsorted(ordered, ordered, side="left")
    numbers = np.empty_like(agents)
    numbers[order] = np.arange(len(agents)) - first + 1
    return np.asarray(numbers + count[agents])
