"""How much noise: from privacy levels to the scales of the two channels of a leaf.

A leaf is v = (g, {w_ij <X_i, g> : neighbours j, experts of j}): a gradient, and its products with
the rows that the experts predict. With gradients and rows in the unit ball (the units of the
protocol), replacing one loss moves a leaf by at most

    l1:  c sqrt(d) in the gradient and c S_i in the products,    S_i = sum_j w_ij |Xi_j|,
    l2:  c         in the gradient and c R_i in the products,    R_i^2 = sum_j w_ij^2 |Xi_j|,

with c = 2, or c = 1 if a loss is only ever zeroed out. Times the norm of a column of the aggregator
this is all that the joint transcript of all agents gives away (`docs/privacy.md`). A clique with
one expert needs no products.
"""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from mtcool import validation
from mtcool.privacy.accountant import gaussian_mu, zcdp_mu
from mtcool.privacy.aggregators.aggregator import Aggregator
from mtcool.privacy.literals import Adjacency, Law, Method
from mtcool.types import Floats, Integers

T = TypeVar("T", bound=np.generic)

ADJACENCIES: dict[Adjacency, float] = {"replace": 2.0, "zero-out": 1.0}
"""c: the distance that a leaf may move, over its largest norm."""


class Channels(NamedTuple):
    """What the agents' leaves hold, one entry for each agent."""

    dim: int
    products: Integers
    """Numbers in the expert channel, M_i."""
    load: Floats
    """S_i, the largest l1 norm of the products."""
    energy: Floats
    """R_i^2, the square of their largest l2 norm."""
    price: Floats
    """Cost of noise of scale 1 in the products, relative to the gradient."""
    largest: int
    """Size of the largest neighbourhood, N_max."""

    @property
    def width(self) -> Integers:
        """Length of the leaves."""
        return np.asarray(self.dim + self.products)


def make_channels(
    dim: int,
    ptr: Integers,
    clique: NDArray[np.uint32],
    weight: Floats,
    experts: Integers,
    sizes: Integers,
) -> Channels:
    """Channels of agents that listen to `clique` with `weight`; `experts`, `sizes` by clique."""
    agents = len(ptr) - 1
    by = np.repeat(np.arange(agents), np.diff(ptr))
    number = np.where(experts > 1, experts, 0)[clique]

    def total(values: Floats) -> Floats:
        return np.asarray(np.bincount(by, weights=values, minlength=agents), float)

    # The noise of one row in the regret of a clique of N like rows (`docs/privacy.md`): sqrt(d) for
    # the gradient, sqrt(ln K / N) for the products with K experts.
    price = np.sqrt(np.log(np.maximum(number, 1)) / sizes[clique])
    return Channels(
        dim=dim,
        products=constant(total(number.astype(float)).astype(np.int64)),
        load=constant(total(weight * number)),
        energy=constant(total(weight**2 * number)),
        price=constant(total(price) / math.sqrt(dim)),
        largest=int(np.diff(ptr).max()),
    )


@dataclass(frozen=True)
class Budget:
    """Privacy levels of the agents, one number for each: epsilon, epsilon and delta, or rho."""

    epsilon: tuple[float, ...] | None = None
    delta: tuple[float, ...] | None = None
    rho: tuple[float, ...] | None = None

    def level(self, agent: int) -> float:
        """Epsilon of Laplace noise, or mu of Gaussian noise, that the agent may spend."""
        if self.rho is not None:
            return zcdp_mu(self.rho[agent])
        if self.epsilon is None:
            raise ValueError("budget must have epsilon or rho, got neither")
        if self.delta is None:
            return self.epsilon[agent]
        return gaussian_mu(self.epsilon[agent], self.delta[agent])


@dataclass(frozen=True)
class Calibration:
    """Noise scales of all agents in the units of the protocol, and the levels that they give."""

    law: Law
    gradient: Floats
    """Scale of a node's gradient channel: b of Laplace, sigma of Gauss."""
    products: Floats
    """Scale of a node's expert channel."""
    level: Floats
    """What the whole transcript costs the agent: epsilon of Laplace noise, mu of Gaussian noise."""

    def __post_init__(self) -> None:
        for name in ("gradient", "products", "level"):
            object.__setattr__(self, name, constant(getattr(self, name)))


# A level too small gives infinite scales: they are refused where they would be used.
@np.errstate(over="ignore", divide="ignore", invalid="ignore")
def calibrate(
    channels: Channels,
    aggregator: Aggregator,
    budget: Budget,
    horizon: tuple[int, ...],
    law: Law,
    *,
    method: Method,
    adjacency: Adjacency,
    split: float | Literal["optimal"],
    grid: float,
) -> Calibration:
    """Scales that spend exactly the budget ("tight"), or those of the paper, whatever they spend.

    `split` is the share of the gradient channel: of epsilon for Laplace noise, of mu^2 for
    Gaussian; "optimal" has the least regret bound. On a grid, nodes with fractional coefficients
    are rounded before they are released, which the noise must hide as well.
    """
    share = share_of(split)
    agents = len(horizon)
    if law == "none":
        silent = np.zeros(agents)
        return Calibration("none", silent, silent, np.full(agents, np.inf))
    if method == "paper":
        return _as_published(channels, aggregator, budget, horizon, ADJACENCIES[adjacency])
    # Clipped norms are one up to rounding, which grows with the dimension.
    safety = 1.0 + 1e-12 + channels.dim * 2.0**-50
    gradient, products, level = np.empty((3, agents))
    for i in range(agents):
        norm = safety * ADJACENCIES[adjacency] * aggregator.column_norm(horizon[i], law)
        level[i] = budget.level(i)
        theta = _optimal(channels, i, law) if share is None else share
        if channels.products[i] == 0:
            theta = 1.0  # nothing but the gradient is sent
        if law == "laplace":
            gradient[i] = norm * math.sqrt(channels.dim) / (theta * level[i])
            rest, size = (1.0 - theta) * level[i], channels.load[i]
        else:
            gradient[i] = norm / (math.sqrt(theta) * level[i])
            rest, size = math.sqrt(1.0 - theta) * level[i], math.sqrt(channels.energy[i])
        products[i] = norm * size / rest if theta < 1.0 else 0.0
        if grid > 0.0 and not aggregator.whole:
            extra = _rounding(channels, i, gradient[i], products[i], horizon[i], grid)
            gradient[i] *= 1.0 + extra / level[i]
            products[i] *= 1.0 + extra / level[i]
    return Calibration(law, gradient, products, level)


def privacy_loss(
    law: Law, norm: float, dim: int, gradient: float, products: float, load: float, energy: float
) -> float:
    """What an agent's transcript costs: epsilon of Laplace noise, mu of Gaussian noise.

    `norm` is that of a column, times c.
    """
    if law == "laplace":
        return norm * (math.sqrt(dim) / gradient + (load / products if load > 0.0 else 0.0))
    square = 1.0 / gradient**2 + (energy / products**2 if energy > 0.0 else 0.0)
    return norm * math.sqrt(square)


def constant(array: NDArray[T]) -> NDArray[T]:
    """A copy that stays read-only: unlike a flag, its bytes cannot be made writable again."""
    return np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape)


def _rounding(
    channels: Channels, agent: int, gradient: float, products: float, horizon: int, grid: float
) -> float:
    """What rounding adds to mu: one step of the grid in every number of every node.

    Two nodes that differ by x differ by at most x + grid after rounding; a thousandth more covers
    the rounding of the doubles.
    """
    square = channels.dim / gradient**2
    if products > 0.0:
        square += channels.products[agent] / products**2
    return 1.001 * grid * math.sqrt(horizon * square)


def _optimal(channels: Channels, agent: int, law: Law) -> float:
    """The share of the gradient with the least noise in the regret bound.

    Noise of scale s_g and s_p costs s_g + price * s_p (up to a factor). Laplace: s_g = sqrt(d) /
    theta, s_p = S / (1 - theta). Gauss: s_g = theta^(-1/2), s_p = R (1 - theta)^(-1/2).
    """
    if law == "laplace":
        ratio = math.sqrt(channels.price[agent] * channels.load[agent] / math.sqrt(channels.dim))
    else:
        ratio = (channels.price[agent] * math.sqrt(channels.energy[agent])) ** (2.0 / 3.0)
    return 1.0 / (1.0 + ratio)


def share_of(split: float | str) -> float | None:
    """The share of the gradients in the budget; None for the optimal one."""
    if split == "optimal":
        return None
    if isinstance(split, str) or not 0.0 < validation.finite("split", split) < 1.0:
        raise ValueError(
            f'split must be "optimal" or between 0 and 1, both excluded, got {split!r}'
        )
    return float(split)


def _as_published(
    channels: Channels,
    aggregator: Aggregator,
    budget: Budget,
    horizon: tuple[int, ...],
    change: float,
) -> Calibration:
    """Scales of `th:privacy`: sqrt(d) ln T / eps' and ln T / eps', eps' = eps / (6 N_max^2)."""
    logarithm = np.log(np.array(horizon, float))
    inner = np.array(budget.epsilon, float) / (6.0 * channels.largest**2)
    products = logarithm / inner
    gradient = math.sqrt(channels.dim) * products
    level = np.array(
        [
            privacy_loss(
                "laplace",
                change * aggregator.column_norm(horizon[i], "laplace"),
                channels.dim,
                gradient[i],
                products[i],
                channels.load[i],
                channels.energy[i],
            )
            for i in range(len(horizon))
        ]
    )
    return Calibration("laplace", gradient, products, level)
