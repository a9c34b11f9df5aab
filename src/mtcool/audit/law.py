"""The audit of the noise: its law, its scale and its independence."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import kstest, laplace, norm

from mtcool.audit.subject import Plant, fresh_copy, private_parts
from mtcool.network.network import Network
from mtcool.types import Floats

REJECT = 1e-6  # probability of rejecting noise that is right, for each test


@dataclass(frozen=True)
class NoiseAudit:
    """What the noise of a run looks like."""

    draws: int
    mean_size: float
    """Mean of `|z|` over its expectation under the law: one."""
    tolerance: float
    """How far from one it may be by chance."""
    fits: bool
    """Kolmogorov-Smirnov accepts the law at its scale ..."""
    sharp: bool
    """... and rejects two thirds and three halves of the scale, and repeated noise would show."""
    correlation: float
    """Largest correlation of two releases, or of two numbers of a release, in sigmas."""
    threshold: float

    @property
    def passed(self) -> bool:
        """Whether law, scale and independence are right.

        The test must also have had enough power to detect a violation.
        """
        sized = abs(self.mean_size - 1.0) <= self.tolerance
        return sized and self.fits and self.sharp and self.correlation <= self.threshold


def noise_law(network: Network, releases: int = 100, plant: Plant | None = None) -> NoiseAudit:
    """Audit the noise of a fresh private network over so many releases, agents in turn.

    The test is sharp only if releases have many numbers: audit a network with a dim of 50 or so.

    Parameters
    ----------
    network
        A fresh private network; it is copied.
    releases
        How many releases to look at, agents in turn.
    plant
        Puts a bug into the network, such as those of `audit.planted`.

    Examples
    --------
    >>> import mtcool
    >>> net = mtcool.dpmt_co2ol(mtcool.graphs.ring(6), 50, mtcool.Privacy(1.0, 20), seed=0)
    >>> noise_law(net).passed
    True
    """
    twin = fresh_copy(network, plant)
    return judge(private_parts(twin)[1].privacy.law, standardised(twin, releases))


def standardised(network: Network, releases: int) -> Floats:
    """Noise of the releases over its scale, (releases, numbers); zero gradients, agents in turn."""
    peers, sanitiser = private_parts(network)
    width = int(sanitiser.channels.width.min())
    noise = np.empty((releases, width))
    labels = list(network.graph.labels)
    for k in range(releases):
        agent = k % len(labels)
        network.update(labels[agent], np.zeros(network.settings.dim))
        number = int(peers.state.aggregator.activations[agent])
        scales = sanitiser.scales(agent, number)[:width]
        noise[k] = (peers.work.noisy[:width] - peers.work.value[:width]) / scales
    return noise


def judge(law: str, noise: Floats) -> NoiseAudit:
    """Test standardised noise, (releases, numbers), against its law."""
    reference: Any = norm if law == "gaussian" else laplace
    expected = float(reference.expect(np.abs))
    flat = noise.ravel()
    ratio = float(np.abs(flat).mean()) / expected
    spread = np.sqrt(float(reference.var()) / expected**2 - 1.0)

    def accepted(scale: float) -> bool:
        return bool(kstest(flat * scale, reference.cdf).pvalue > REJECT)

    # Correlations of all pairs of releases and of all pairs of numbers, in standard deviations, of
    # normal scores: heavy tails would hide them.
    scores = norm.ppf(np.clip(reference.cdf(noise), 1e-12, 1.0 - 1e-12))
    pairs = sum(n * (n - 1) / 2 for n in noise.shape)
    threshold = 1.2 * float(norm.isf(REJECT / max(pairs, 1.0)))
    return NoiseAudit(
        draws=flat.size,
        mean_size=ratio,
        tolerance=float(4.0 * spread / np.sqrt(flat.size)),
        fits=accepted(1.0),
        # a repeated release has a correlation of one, which is the root of its length in sigmas
        sharp=not accepted(1.5) and not accepted(2.0 / 3.0) and min(noise.shape) > threshold**2,
        correlation=max(_largest_correlation(scores), _largest_correlation(scores.T)),
        threshold=threshold,
    )


def _largest_correlation(rows: Floats) -> float:
    """Largest |sum of products| of two different rows, over its standard deviation."""
    products = np.abs(rows @ rows.T) / np.sqrt(rows.shape[1])
    np.fill_diagonal(products, 0.0)
    return float(products.max())
