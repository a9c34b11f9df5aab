"""The protocol of Section 2 of the paper: five steps, whoever the peers are.

`play_round` is the whole of it. `fetch`, `observe` and `send` are chosen by the type of `peers`:

- `CliquePeers` (`cliques.py`): every agent keeps a model of each neighbour's task;
- `SingleTaskPeers` (`single_task.py`): every agent keeps one point for a task common to all;
- `PrivatePeers` (`private.py`): agents learn from noisy sums.

These hold all agents of a network in one block of arrays. `mtcool.agents` plays the same steps with
one agent at a time and messages in between.
"""

from typing import NamedTuple

from mtcool.field.vectors import length, normalise
from mtcool.kernels import dispatched, inline
from mtcool.streams.losses import Kind, value
from mtcool.types import Floats, PeersBlock

# A gradient of norm exactly `lipschitz` must pass however its norm was rounded.
SLACK = 1.0 + 1e-9


@inline
def play_round(
    peers: PeersBlock, agent: int, kind: Kind, row: Floats, x: Floats
) -> tuple[float, bool, int]:
    """Play a round with the loss of this kind and row; leaves the prediction in `x`.

    Returns the loss paid, whether its gradients were accepted, and how many of them are clipped.
    """
    # 1. `agent` is activated
    predict(peers, agent, x)  # 2. it fetches its neighbours' models, 3. and predicts
    paid = value(kind, row, x)  # 4. it pays, and observes
    seen = observe(peers, agent, kind, row, x)
    clipped = count_clipped(peers.gradients[:seen], peers.units)
    accepted = send(peers, agent, peers.gradients[:seen])  # 5. its neighbours learn
    return paid, accepted, clipped


@inline
def predict(peers: PeersBlock, agent: int, x: Floats) -> None:
    """Steps 2 and 3: fetch the neighbours' models of the agent's task, average them by weight."""
    models, weights = fetch(peers, agent)
    average(models, weights, peers.units.radius, x)


@inline
def average(models: Floats, weights: Floats, radius: float, x: Floats) -> None:
    """Write the weighted average of the rows of `models`, times the radius, into `x`."""
    for k in range(x.shape[0]):
        mean = 0.0
        for j in range(weights.shape[0]):
            mean += weights[j] * models[j, k]
        x[k] = radius * mean


@dispatched
def fetch(peers: PeersBlock, agent: int) -> tuple[Floats, Floats]:
    """Step 2: return the peers' models of the agent's task, (m, d), and their weights."""
    raise TypeError(f"{type(peers).__name__} are not peers")


@dispatched
def observe(peers: PeersBlock, agent: int, kind: Kind, row: Floats, x: Floats) -> int:
    """Step 4: write the subgradients that step 5 sends into `peers.gradients`; returns how many.

    One, at the prediction `x`; or, where the loss itself travels, one for each neighbour, at that
    neighbour's own point.
    """
    raise TypeError(f"{type(peers).__name__} are not peers")


@dispatched
def send(peers: PeersBlock, agent: int, gradients: Floats) -> bool:
    """Step 5: let the peers learn from what `observe` wrote; overwrites it.

    Returns False, with nothing changed, if a gradient is longer than `lipschitz` or not finite and
    clipping was not asked for.
    """
    raise TypeError(f"{type(peers).__name__} are not peers")


class Units(NamedTuple):
    """Learners run in the paper's units: gradients divided by `lipschitz`, points by `radius`."""

    radius: float
    lipschitz: float
    clip: bool
    """Shorten gradients longer than `lipschitz` instead of refusing them."""
    limit: float = SLACK
    """The longest gradient that is neither, over `lipschitz`."""


@inline
def to_units(gradient: Floats, units: Units) -> bool:
    """Divide by `lipschitz` in place, clipping if asked; False if the gradient must be refused."""
    if not length(gradient) <= units.lipschitz * units.limit:  # also true of a NaN
        return bool(units.clip and normalise(gradient))
    scale = 1.0 / units.lipschitz
    for k in range(gradient.shape[0]):
        gradient[k] *= scale
    return True


@inline
def count_clipped(gradients: Floats, units: Units) -> int:
    """How many of these gradients are too long, and will be shortened."""
    count = 0
    if units.clip:  # else they are refused
        for e in range(gradients.shape[0]):
            if length(gradients[e]) > units.lipschitz * units.limit:
                count += 1
    return count
