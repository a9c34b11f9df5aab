"""A claim about names: learners know agents by their rows only, and rows have no order."""

from itertools import pairwise

import numpy as np

from mtcool.testing.checks import require_close
from mtcool.testing.learners.trial import START, WEIGHT, Step, Trial, make_cliques, updates


def rows_have_no_order(trial: Trial) -> None:
    """If the rows of every clique change places, so do their models, and nothing else changes."""
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in pairwise(START)])
    place, weight = np.argsort(order), WEIGHT[order]
    plain, permuted = trial.make_state(), trial.make_state(make_cliques(weight), weight)
    trial.learn(plain, updates())
    trial.learn(permuted, (Step(int(place[row]), gradient) for row, gradient in updates()))
    found, wanted = trial.predictions(permuted), trial.predictions(plain)[order]
    require_close(found, wanted, 1e-9, "models depend on the order of the rows")


CLAIMS = (rows_have_no_order,)
