"""How noisy the sums are that private agents publish, without running anything."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mtcool import validation
from mtcool.algorithms.making import make_settings
from mtcool.graphs import Graph, GraphLike, as_graph, entry_weights
from mtcool.graphs.weights import WeightsLike
from mtcool.learners import MTFTRL
from mtcool.peers.algorithm import algorithm
from mtcool.peers.assemble import channels_for
from mtcool.peers.settings import Settings
from mtcool.privacy import AGGREGATORS, Privacy, SimulatedNoise
from mtcool.privacy.sanitiser import Sanitiser
from mtcool.privacy.settings import PrivacySettings
from mtcool.types import Floats


class PublishedNoise(NamedTuple):
    """Standard deviations of the noise in what agents publish, when it is largest; one each.

    In units of the losses: a sum of gradients of T activations is at most T times `lipschitz`.
    """

    gradients: Floats
    """In each coordinate of the sum of gradients."""
    products: Floats
    """In each sum of products with an expert's rows; 0 where none is sent."""
    promised: Floats
    """The level that the noise gives: epsilon of Laplace noise, mu of Gaussian noise."""


def published_noise(
    graph: GraphLike,
    dim: int,
    privacy: Privacy,
    *,
    learner: MTFTRL | None = None,
    weights: WeightsLike = "uniform",
    lipschitz: float = 1.0,
    radius: float = 1.0,
) -> PublishedNoise:
    """Return the noise that `mtcool.dpmt_co2ol` publishes with the same arguments.

    Parameters
    ----------
    graph, dim, privacy, learner, weights, lipschitz, radius
        As in `mtcool.dpmt_co2ol`.

    Examples
    --------
    >>> import mtcool
    >>> level = mtcool.Privacy(epsilon=1.0, horizon=150_000)
    >>> int(mtcool.published_noise(mtcool.graphs.complete(30), 10, level).gradients.max())
    4443
    """
    network = as_graph(graph)
    settings = make_settings(
        algorithm("dpmt_co2ol"),
        network,
        dim,
        learner=learner,
        privacy=privacy,
        lipschitz=lipschitz,
        radius=radius,
    )
    return noise_of(settings, network, weights)


def noise_of(settings: Settings, graph: Graph, weights: WeightsLike) -> PublishedNoise:
    """The noise of a network with these settings."""
    privacy = settings.privacy
    if privacy is None:
        raise ValueError(f"settings must be those of a private network, got {settings}")
    channels = channels_for(settings, graph, entry_weights(graph, weights, settings.q))
    sanitiser = Sanitiser(privacy, channels, SimulatedNoise(0))
    unit = 2.0 if privacy.law == "laplace" else 1.0  # variance of a draw of scale one
    most = np.array([math.sqrt(unit * _largest_variance(privacy, T)) for T in privacy.horizon])
    scales = sanitiser.calibration
    return PublishedNoise(
        gradients=scales.gradient * most * settings.gradient_unit,
        products=scales.products * most * settings.gradient_unit * settings.radius,
        promised=scales.level,
    )


def _largest_variance(privacy: PrivacySettings, horizon: int) -> float:
    """Largest variance of a published sum: at the end, or at the last 2^k - 1 in an open tree."""
    times = np.array([horizon, 2 ** ((horizon + 1).bit_length() - 1) - 1])
    return float(privacy.aggregator.variance(times, horizon, privacy.law).max())


class Comparison(NamedTuple):
    """One mechanism in a table."""

    mechanism: str
    experts: str
    law: str
    gradients: float
    """Standard deviation in a published sum of gradients, the largest of all agents."""
    products: float
    """The same for the sums of products."""
    gain: float
    """How many times less than with the paper's calibration."""


def compare_mechanisms(
    graph: GraphLike,
    dim: int,
    epsilon: float,
    horizon: int,
    delta: float = 1e-6,
    variance: float = 0.1,
) -> Iterator[Comparison]:
    """Noise of every mechanism and grid of experts; the first row is the paper's calibration.

    Parameters
    ----------
    graph, dim
        As in `mtcool.dpmt_co2ol`.
    epsilon, horizon
        The privacy level of every agent, and its number of activations.
    delta
        Of Gaussian noise.
    variance
        What the single expert takes the task variance for.

    Examples
    --------
    >>> import mtcool
    >>> rows = list(compare_mechanisms(mtcool.graphs.complete(10), 1, 1.0, 1000))
    >>> rows[0].mechanism, rows[0].gain
    ('binary tree, paper calibration', 1.0)
    """
    graph = as_graph(graph)
    delta = validation.positive("delta", delta)
    grids = {
        "paper": MTFTRL(),
        "geometric": MTFTRL(experts="geometric"),
        "single": MTFTRL(experts=(variance,)),
    }
    paper = Privacy(epsilon, horizon, calibration="paper")
    published = published_noise(graph, dim, paper)
    worst = float(published.gradients.max())
    largest = float(published.products.max())
    name = f"{paper.aggregator.title}, paper calibration"
    yield Comparison(name, "paper", "Laplace", worst, largest, 1.0)
    for law, title in (("laplace", "Laplace"), ("gaussian", "Gauss")):
        level = Privacy(epsilon, horizon, delta=delta if law == "gaussian" else None)
        for kind in AGGREGATORS.values():
            if law not in kind.laws:
                continue
            level = replace(level, aggregator=kind())
            for grid, learner in grids.items():
                noise = published_noise(graph, dim, level, learner=learner)
                std, products = float(noise.gradients.max()), float(noise.products.max())
                yield Comparison(kind.title, grid, title, std, products, worst / std)
