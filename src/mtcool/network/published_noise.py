"""How noisy are the sums that private agents publish? Without running anything."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mtcool import validation
from mtcool.graphs import Graph, as_graph, entry_weights
from mtcool.graphs.weights import WeightsLike
from mtcool.learners import MTFTRL
from mtcool.peers.algorithm import algorithm
from mtcool.peers.assemble import channels_for
from mtcool.peers.settings import Settings
from mtcool.privacy.aggregators.aggregator import Aggregator
from mtcool.privacy.aggregators.filters import BLT, PerGradient
from mtcool.privacy.aggregators.trees import BinaryTree, Doubling, SmoothTree
from mtcool.privacy.noise import SimulatedNoise
from mtcool.privacy.sanitiser import Sanitiser
from mtcool.privacy.settings import Privacy, make_privacy
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
    graph: Any,
    dim: int,
    epsilon: ArrayLike | None = None,
    horizon: ArrayLike | None = None,
    *,
    delta: ArrayLike | None = None,
    rho: ArrayLike | None = None,
    aggregator: Aggregator | None = None,
    learner: MTFTRL | None = None,
    weights: Any = "uniform",
    lipschitz: float = 1.0,
    radius: float = 1.0,
    calibration: str = "tight",
    adjacency: str = "replace",
    split: float | str = "optimal",
) -> PublishedNoise:
    """The noise of `mtcool.dpmt_co2ol` with the same parameters.

    >>> import mtcool
    >>> graph = mtcool.graphs.complete(30)
    >>> noise = published_noise(graph, 10, epsilon=1.0, horizon=150_000)
    >>> int(noise.gradients.max())
    4443
    """
    network = as_graph(graph)
    privacy = make_privacy(
        network.labels,
        epsilon=epsilon,
        horizon=horizon,
        delta=delta,
        rho=rho,
        aggregator=BinaryTree() if aggregator is None else aggregator,
        calibration=calibration,
        adjacency=adjacency,
        split=split,
    )
    settings = Settings(
        algorithm=algorithm("dpmt_co2ol"),
        dim=dim,
        learner=MTFTRL() if learner is None else learner,
        lipschitz=lipschitz,
        radius=radius,
        on_excess="clip",
        privacy=privacy,
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
        gradients=scales.gradient * most * settings.lipschitz,
        products=scales.products * most * settings.lipschitz * settings.radius,
        promised=scales.level,
    )


def _largest_variance(privacy: Privacy, horizon: int) -> float:
    """Of a published sum: at the end, or, in a tree that is not completed, at the last 2^k - 1."""
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
    graph: Any, dim: int, epsilon: float, horizon: int, delta: float = 1e-6, variance: float = 0.1
) -> Iterator[Comparison]:
    """Noise of every mechanism and grid of experts; the first row is the paper's calibration.

    `variance` is the guess of the single expert.

    >>> import mtcool
    >>> rows = list(compare_mechanisms(mtcool.graphs.complete(10), 1, 1.0, 1000))
    >>> rows[0].mechanism, rows[0].gain
    ('binary tree, paper calibration', 1.0)
    """
    delta = validation.positive("delta", delta)
    grids = {
        "paper": MTFTRL(),
        "geometric": MTFTRL(experts="geometric"),
        "single": MTFTRL(experts=(variance,)),
    }
    mechanisms: list[tuple[str, Aggregator, float | None]] = [
        ("per-gradient noise", PerGradient(), None),
        ("doubling epochs", Doubling(), None),
        ("binary tree", BinaryTree(), None),
        ("smooth tree", SmoothTree(), None),
        ("binary tree", BinaryTree(), delta),
        ("smooth tree", SmoothTree(), delta),
        ("BLT", BLT(), delta),
    ]
    published = published_noise(graph, dim, epsilon, horizon, calibration="paper")
    worst = float(published.gradients.max())
    largest = float(published.products.max())
    yield Comparison("binary tree, paper calibration", "paper", "Laplace", worst, largest, 1.0)
    for name, aggregator, approximate in mechanisms:
        for grid, learner in grids.items():
            noise = published_noise(
                graph,
                dim,
                epsilon,
                horizon,
                delta=approximate,
                aggregator=aggregator,
                learner=learner,
            )
            law = "Laplace" if approximate is None else "Gauss"
            std = float(noise.gradients.max())
            yield Comparison(name, grid, law, std, float(noise.products.max()), worst / std)
