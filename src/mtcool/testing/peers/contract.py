"""Claims about `predict` and `update`, as a caller meets them."""

import numpy as np

from mtcool.testing.checks import require, require_equal
from mtcool.testing.peers.trial import PeersTrial, all_predictions, content, tell, tell_gradient


def predicting_changes_nothing(trial: PeersTrial) -> None:
    """`predict` has no side effect: asked twice, in any order, it answers the same."""
    network = trial.used()
    before, labels = content(network), network.graph.labels
    first = all_predictions(network)
    second = np.array([network.predict(label) for label in reversed(labels)])[::-1]
    require_equal(second, first, "asked again, it predicts something else")
    require(content(network) == before, "predict changed the state")


def networks_learn(trial: PeersTrial) -> None:
    """Predictions leave zero when agents are told gradients."""
    require(all_predictions(trial.used()).any(), "all predictions are zero after twenty rounds")


def predictions_belong_to_the_caller(trial: PeersTrial) -> None:
    """`predict` returns a new float64 array of length dim, which nobody else writes to."""
    network = trial.used()
    x = network.predict(1)
    require(type(x) is np.ndarray, f"predict returned a {type(x).__name__}")
    fits = x.dtype == np.float64 and x.shape == (trial.dim,)
    require(fits, f"predict returned an array of {x.dtype}, shape {x.shape}")
    require(x.flags.writeable and x.flags.owndata, "predict returned a view or a read-only array")
    kept = x.copy()
    x[:] = np.nan
    require_equal(network.predict(1), kept, "writing into a prediction changed the next one")
    early = network.predict(1)
    for agent, loss in trial.rounds(20, seed=2):
        tell(network, agent, loss)
    network.predict(1)
    require_equal(early, kept, "a later round changed an earlier prediction")


def the_gradient_belongs_to_the_caller(trial: PeersTrial) -> None:
    """`update` returns None, does not change the gradient, and keeps no reference to it."""
    one, other = trial.used(), trial.used()
    gradient = np.linspace(-0.5, 0.5, trial.dim + 1)[1:]
    kept = gradient.copy()
    found = tell_gradient(one, 1, gradient)
    require(found is None, f"update returned {found!r}")
    require_equal(gradient, kept, "update changed the gradient")
    tell_gradient(other, 1, kept)
    gradient[:] = 1e6
    tell_gradient(one, 2, kept)
    tell_gradient(other, 2, kept)
    require(content(one) == content(other), "a gradient that was changed afterwards was learned")


CLAIMS = (
    predicting_changes_nothing,
    networks_learn,
    predictions_belong_to_the_caller,
    the_gradient_belongs_to_the_caller,
)
