"""A claim about bad input: it is refused, and nothing has happened."""

from typing import Any

import numpy as np

from mtcool.testing.checks import require, require_equal
from mtcool.testing.peers.trial import PeersTrial, all_predictions, content, tell_gradient


def refused_input_changes_nothing(trial: PeersTrial) -> None:
    """`update` refuses bad input with a ValueError, and everything is as it was before."""
    network = trial.used()
    before, predictions = content(network), all_predictions(network)
    good = np.full(trial.dim, 0.1)
    bad: dict[str, tuple[Any, Any]] = {
        "an agent that is not there": ("nobody", good),
        "a gradient of another length": (1, np.zeros(trial.dim + 1)),
        "a matrix": (1, np.zeros((trial.dim, 1))),
        "a NaN": (1, np.full(trial.dim, np.nan)),
        "an infinite gradient": (1, np.full(trial.dim, np.inf)),
        "a text": (1, "gradient"),
    }
    if network.settings.on_excess == "raise":
        units = network.settings.units
        too_long = np.full(trial.dim, 2.0 * units.lipschitz * units.limit)
        bad["a gradient longer than lipschitz"] = (1, too_long)
    for what, (agent, gradient) in bad.items():
        try:
            tell_gradient(network, agent, gradient)
        except ValueError:
            pass
        else:
            raise AssertionError(f"update took {what}")
        require(content(network) == before, f"update changed the state before it refused {what}")
    require_equal(all_predictions(network), predictions, "refused input changed predictions")


CLAIMS = (refused_input_changes_nothing,)
