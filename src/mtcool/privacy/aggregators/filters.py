"""The engine of all filters: buffered linear Toeplitz noise (BLT), noise on every gradient, none.

C is a lower triangular Toeplitz matrix whose inverse is a short recurrence (McMahan et al., 2024):

    (C^-1 x)_t = x_t + sum_b w_b buffer_b,    buffer_b = theta_b buffer_b + x_t  afterwards.

`decode` is that recurrence on the noisy nodes, summed up, and `encode`, C itself, is the same one
solved for x_t: value_t = leaf_t - sum_b w_b buffer_b, with buffers fed by the values. Without
buffers C is the identity: every gradient is noised by itself, and their sums add up all noise.
"""

from typing import NamedTuple

import numpy as np

from mtcool.axes import AGENT, BUFFER, COORDINATE, Location, Span, set_axes, spans
from mtcool.privacy.aggregators.aggregator import Blocks, begin, decode, encode
from mtcool.types import Floats, Integers


class Recurrence(NamedTuple):
    """The buffers of a filter: how each decays, and its part in the next value.

    Examples
    --------
    >>> Recurrence((0.95,), (-0.04,)).theta
    (0.95,)
    """

    theta: tuple[float, ...]
    """Decays of the buffers of C^-1."""
    coupling: tuple[float, ...]
    """Their parts in the next value."""


PLAIN = Recurrence((), ())
"""No buffers."""


class FilterState(NamedTuple):
    """State of a filter for all agents; agent i's vectors begin at start[i]."""

    activations: Integers
    """Activations so far."""
    width: Integers
    """Length of the agent's leaves."""
    start: Integers
    theta: Floats
    """Decay of the buffers, (agents, buffers)."""
    coupling: Floats
    """Their part in the next value, (agents, buffers)."""
    inner: Floats
    """Buffers of C, fed by values, (buffers, sum of widths): secret."""
    outer: Floats
    """Buffers of C^-1, fed by noisy values, (buffers, sum of widths)."""
    total: Floats
    """Sum of the decoded leaves."""
    published: Floats


set_axes(
    FilterState,
    activations=AGENT,
    inner=(BUFFER, COORDINATE),
    outer=(BUFFER, COORDINATE),
    total=COORDINATE,
    published=COORDINATE,
)


@spans.register
def _(state: FilterState, location: Location) -> dict[str, Span]:
    agents = location.cliques
    return {AGENT: agents, COORDINATE: Span.between(state.start, agents.entries)}


def make_filter(blocks: Blocks, recurrences: list[Recurrence]) -> FilterState:
    """A fresh state for filters.

    Parameters
    ----------
    blocks
        What `make_state` of an aggregator is given.
    recurrences
        The buffers of each agent.

    Examples
    --------
    >>> from mtcool.privacy.aggregators.aggregator import Blocks
    >>> make_filter(Blocks([2], [3]), [Recurrence((0.95,), (-0.04,))]).published
    array([0., 0.])
    """
    width = np.asarray(blocks.width, np.int64)
    start = np.concatenate(([0], np.cumsum(width))).astype(np.int64)
    buffers = max(len(recurrence.theta) for recurrence in recurrences)
    theta, coupling = np.zeros((2, len(width), buffers))
    for agent, recurrence in enumerate(recurrences):
        theta[agent, : len(recurrence.theta)] = recurrence.theta
        coupling[agent, : len(recurrence.coupling)] = recurrence.coupling
    for constant in (width, start, theta, coupling):
        constant.setflags(write=False)
    return FilterState(
        activations=np.zeros(len(width), np.int64),
        width=width,
        start=start,
        theta=theta,
        coupling=coupling,
        inner=np.zeros((buffers, start[-1])),
        outer=np.zeros((buffers, start[-1])),
        total=np.zeros(start[-1]),
        published=np.zeros(start[-1]),
    )


@begin.register
def _(state: FilterState, agent: int, draws: Floats) -> None:
    for k in range(draws.shape[0]):
        state.published[state.start[agent] + k] = draws[k]


@encode.register
def _(state: FilterState, agent: int, leaf: Floats, value: Floats) -> None:
    first, width = state.start[agent], state.width[agent]
    for k in range(width):
        value[k] = leaf[k]
    for b in range(state.theta.shape[1]):
        part = state.coupling[agent, b]
        for k in range(width):
            value[k] -= part * state.inner[b, first + k]


@decode.register
def _(state: FilterState, agent: int, value: Floats, noisy: Floats) -> None:
    first, width = state.start[agent], state.width[agent]
    total = state.total[first : first + width]
    for k in range(width):
        total[k] += noisy[k]
    for b in range(state.theta.shape[1]):
        part, decay = state.coupling[agent, b], state.theta[agent, b]
        for k in range(width):
            total[k] += part * state.outer[b, first + k]
            state.outer[b, first + k] = decay * state.outer[b, first + k] + noisy[k]
            state.inner[b, first + k] = decay * state.inner[b, first + k] + value[k]
    for k in range(width):
        state.published[first + k] = total[k]
    state.activations[agent] += 1
