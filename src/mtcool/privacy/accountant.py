"""Privacy levels and noise: given two of epsilon, delta and noise, the third.

*Noise* is the scale of the noise over the sensitivity, in the norm of the law: l1 for Laplace, l2
for Gauss. Laplace noise b gives pure epsilon = 1 / b. Gaussian noise sigma gives, for every
epsilon, exactly (Balle and Wang, 2018)

    delta(epsilon) = Phi(mu / 2 - epsilon / mu) - exp(epsilon) Phi(-mu / 2 - epsilon / mu),

with mu = 1 / sigma, and rho-zCDP with rho = mu^2 / 2 (Bun and Steinke, 2016).
"""

import functools
import math
from dataclasses import dataclass
from typing import Literal

import scipy  # its submodules when they are first used: some are slow to import

from mtcool import validation
from mtcool.types import Given

SMALLEST_MU, LARGEST_MU = 1e-9, 1e6
LEAST_NOISE, MOST_NOISE = 1e-50, 1e50


@dataclass(frozen=True)
class Guarantee:
    """A privacy level and the noise that gives it."""

    law: Literal["laplace", "gaussian"]
    epsilon: float
    delta: float
    noise: float
    """Scale of the noise over the sensitivity."""

    @property
    def rho(self) -> float:
        """The level of zero-concentrated privacy; epsilon-DP is epsilon^2 / 2-zCDP."""
        level = self.epsilon if self.law == "laplace" else 1.0 / self.noise
        return level**2 / 2.0


def account(
    law: Literal["laplace", "gaussian"],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    noise: float | None = None,
) -> Guarantee:
    """Solve for whichever of epsilon, delta and noise is not given.

    Parameters
    ----------
    law
        "laplace" or "gaussian".
    epsilon, delta, noise
        Two of them for Gaussian noise; one of epsilon and noise for Laplace noise.

    Examples
    --------
    >>> round(account("gaussian", epsilon=1.0, delta=1e-6).noise, 4)
    4.2247
    >>> round(account("gaussian", noise=4.2247, delta=1e-6).epsilon, 4)
    1.0
    >>> account("laplace", epsilon=0.5)
    Guarantee(law='laplace', epsilon=0.5, delta=0.0, noise=2.0)
    """
    validation.one_of("law", law, ("laplace", "gaussian"))
    if law == "laplace":
        return _pure(epsilon, delta, noise)
    given = {"epsilon": epsilon, "delta": delta, "noise": noise}
    missing = [name for name, value in given.items() if value is None]
    if len(missing) != 1:
        raise ValueError(f"two of epsilon, delta and noise must be given, got {given!r}")
    if noise is None:
        epsilon, delta = validation.positive("epsilon", epsilon or 0.0), proper("delta", delta)
        return Guarantee(law, epsilon, delta, 1.0 / gaussian_mu(epsilon, delta))
    noise = _noise(noise)
    if epsilon is None:
        delta = proper("delta", delta)
        return Guarantee(law, gaussian_epsilon(1.0 / noise, delta), delta, noise)
    epsilon = validation.non_negative("epsilon", epsilon)
    return Guarantee(law, epsilon, gaussian_delta(1.0 / noise, epsilon), noise)


def _pure(epsilon: float | None, delta: float | None, noise: float | None) -> Guarantee:
    if delta not in (None, 0.0):
        raise ValueError(f"delta has no meaning for Laplace noise, got {delta!r}")
    if (epsilon is None) == (noise is None):
        raise ValueError(f"one of epsilon and noise must be given, got {epsilon!r} and {noise!r}")
    if epsilon is None:
        epsilon = 1.0 / _noise(noise or 0.0)
    epsilon = validation.positive("epsilon", epsilon)
    return Guarantee("laplace", epsilon, 0.0, 1.0 / epsilon)


def _noise(noise: float) -> float:
    noise = validation.positive("noise", noise)
    if not LEAST_NOISE <= noise <= MOST_NOISE:
        raise ValueError(f"noise must be from {LEAST_NOISE:g} to {MOST_NOISE:g}, got {noise!r}")
    return noise


def gaussian_delta(mu: float, epsilon: float) -> float:
    """delta(epsilon) of Gaussian noise whose sensitivity is `mu` standard deviations.

    Parameters
    ----------
    mu
        Sensitivity of the release, in standard deviations of its noise.
    epsilon
        Privacy level, at least 0.

    Examples
    --------
    >>> round(gaussian_delta(1.0, 1.0), 6)
    0.126937
    """
    mu, epsilon = validation.positive("mu", mu), validation.non_negative("epsilon", epsilon)
    upper = scipy.special.ndtr(mu / 2.0 - epsilon / mu)
    lower = math.exp(min(0.0, epsilon + float(scipy.special.log_ndtr(-mu / 2.0 - epsilon / mu))))
    return float(max(upper - lower, 0.0))


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The least epsilon for `delta`; 0 if even that is private enough.

    Parameters
    ----------
    mu
        As in `gaussian_delta`.
    delta
        Probability with which epsilon may be exceeded, between 0 and 1.

    Examples
    --------
    >>> round(gaussian_epsilon(1.0, 0.126937), 4)
    1.0
    """
    mu, delta = validation.positive("mu", mu), proper("delta", delta)
    if gaussian_delta(mu, 0.0) <= delta:
        return 0.0
    # rho-zCDP gives an epsilon that is too large: an upper end for the root
    high = mu**2 / 2.0 + mu * math.sqrt(-2.0 * math.log(delta)) + 1.0
    return float(
        scipy.optimize.brentq(
            lambda e: gaussian_delta(mu, e) - delta, 0.0, high, xtol=1e-13, rtol=1e-13
        )
    )


def gaussian_mu(epsilon: float, delta: float) -> float:
    """The largest mu that is (epsilon, delta)-private.

    Parameters
    ----------
    epsilon, delta
        The privacy level, as in `gaussian_delta` and `gaussian_epsilon`.

    Examples
    --------
    >>> round(gaussian_mu(1.0, 0.126937), 4)
    1.0
    """
    return _largest_mu(validation.positive("epsilon", epsilon), proper("delta", delta))


@functools.lru_cache(maxsize=1024)  # thousands of agents share a level
def _largest_mu(epsilon: float, delta: float) -> float:
    low, high = 1.0, 1.0
    while gaussian_delta(low, epsilon) > delta:
        low /= 16.0
        if low < SMALLEST_MU:
            raise ValueError(f"epsilon and delta must be larger, got {epsilon!r} and {delta!r}")
    while gaussian_delta(high, epsilon) < delta:
        low, high = high, 2.0 * high
        if high > LARGEST_MU:
            raise ValueError(f"epsilon must be small enough to need noise, got {epsilon!r}")
    return float(
        scipy.optimize.brentq(
            lambda mu: gaussian_delta(mu, epsilon) - delta, low, high, xtol=1e-15, rtol=1e-13
        )
    )


def zcdp_mu(rho: float) -> float:
    """The mu of Gaussian noise that is rho-zCDP: sqrt(2 rho).

    Parameters
    ----------
    rho
        Level of zero-concentrated privacy.

    Examples
    --------
    >>> zcdp_mu(0.5)
    1.0
    """
    return math.sqrt(2.0 * validation.positive("rho", rho))


def proper(name: str, value: Given) -> float:
    """A number strictly between 0 and 1."""
    number = validation.finite(name, value)
    if not 0.0 < number < 1.0:
        raise ValueError(f"{name} must be between 0 and 1, both excluded, got {value!r}")
    return number
