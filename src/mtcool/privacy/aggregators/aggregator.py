"""What an aggregator is: running sums of private vectors, released again and again with noise.

Agent i holds one vector for each of its activations, a *leaf*. An aggregator turns the leaves into
*nodes*, fixed linear combinations of them, and publishes prefix sums that are computed from noisy
nodes alone. In matrices (Li et al., 2015; Denisov et al., 2022), with A the lower triangle of ones:

    nodes = C leaves,    published = B (nodes + noise),    B C = A.

One leaf touches the nodes of one column of C, so the norm of that column is the privacy it costs;
a published sum carries the noise of one row of B. Every activation closes one node:

1. `encode` computes its value, which nobody sees;
2. `release` adds noise: the only way out (`release.py`);
3. `decode` computes the new prefix sum from noisy nodes, and files the node.

An aggregator is a frozen dataclass of hyper-parameters that satisfies `Aggregator`, in a file of
its own. Its state is a `NamedTuple` of arrays for all agents together, with implementations of
`begin`, `encode` and `decode`. Those of `trees.py` and `filters.py` serve several aggregators each.
"""

from typing import ClassVar, NamedTuple, Protocol

from mtcool import validation
from mtcool.kernels import dispatched
from mtcool.privacy.literals import Law, Method
from mtcool.types import Floats, Integers, State

MOST_ACTIVATIONS = 2**40  # activations of an agent; the word of a tree must fit into 62 bits


class Blocks(NamedTuple):
    """The vectors that a state has to serve: agent i's have `width[i]` numbers."""

    width: Integers
    horizon: Integers
    """The most activations that each agent may have."""


class Aggregator(Protocol):
    """Hyper-parameters of an aggregator, and what its matrices B and C say of noise and privacy.

    Norms are l1 for Laplace noise and l2 for Gaussian noise, in the unit of a node's noise.
    """

    name: ClassVar[str]
    """In experiment files, commands and saved networks, such as "binary_tree"."""
    title: ClassVar[str]
    """In tables, figures and reports, such as "binary tree"."""
    laws: ClassVar[tuple[Law, ...]]
    """Laws of noise that it can serve; ("none",) if it adds none."""
    calibrations: ClassVar[tuple[Method, ...]]
    """Ways to calibrate its noise."""
    whole: ClassVar[bool]
    """C has whole coefficients: nodes of leaves on a grid lie on it."""

    def check(self, law: Law, horizon: int | None) -> int:
        """The horizon to plan for; refuses a law or a horizon that it cannot serve."""

    def column_norm(self, horizon: int, law: Law) -> float:
        """Largest norm of a column of C, each row divided by the growth of its node's noise."""

    def growth(self, activations: Integers, law: Law) -> Floats:
        """Factor on the noise of the nodes that these activations close, the first being 1."""

    def spent(self, activations: int, horizon: int, law: Law) -> float:
        """Share of the norm of a column that the first `activations` nodes have used."""

    def variance(self, activations: Integers, horizon: int, law: Law) -> Floats:
        """Variance of the noise in the sums published after so many activations.

        In the unit of the variance of one draw at the base scale.
        """

    def make_state(self, blocks: Blocks, law: Law) -> State:
        """Fresh state, with fields `activations`, `width`, `start` and `published`."""

    def padding(self, state: State) -> Integers:
        """Draws of pure noise, for each number of an agent's leaves, that `begin` takes."""


def check_law(aggregator: Aggregator, law: Law) -> None:
    """Refuse levels whose law of noise the aggregator cannot serve."""
    if law in aggregator.laws:
        return
    name = type(aggregator).__name__
    if law == "laplace":
        raise ValueError(
            f"delta or rho must be given for {name}, whose noise is Gaussian, got None"
        )
    raise ValueError(f"delta and rho have no meaning for {name}, whose noise is Laplace")


def known_horizon(horizon: int | None) -> int:
    """The horizon, which must be given.

    Parameters
    ----------
    horizon
        The most activations of an agent, or None.

    Examples
    --------
    >>> known_horizon(None)
    Traceback (most recent call last):
    ...
    ValueError: horizon must be given for this aggregator, got None
    """
    if horizon is None:
        raise ValueError("horizon must be given for this aggregator, got None")
    horizon = validation.count("horizon", horizon)
    if horizon > MOST_ACTIVATIONS:
        raise ValueError(f"horizon must be at most {MOST_ACTIVATIONS}, got {horizon}")
    return horizon


@dispatched
def begin(state: State, agent: int, draws: Floats) -> None:
    """Publish pure noise before the first activation, from `padding` times `width` draws."""
    raise TypeError(f"{type(state).__name__} is not the state of an aggregator")


@dispatched
def encode(state: State, agent: int, leaf: Floats, value: Floats) -> None:
    """Write the value of the node that `leaf` closes into `value`; changes nothing else."""
    raise TypeError(f"{type(state).__name__} is not the state of an aggregator")


@dispatched
def decode(state: State, agent: int, value: Floats, noisy: Floats) -> None:
    """File a node with its noisy version, and publish the agent's next prefix sum."""
    raise TypeError(f"{type(state).__name__} is not the state of an aggregator")
