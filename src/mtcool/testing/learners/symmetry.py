"""Claims about names: learners do not see the order of rows, nor the numbers of cliques."""

from itertools import pairwise

import numpy as np

from mtcool.learners import Cliques
from mtcool.testing.checks import require_close
from mtcool.testing.learners.trial import (
    DIM,
    ROWS,
    START,
    WEIGHT,
    LearnerTrial,
    Step,
    clique_of,
    make_cliques,
    updates,
)


def rows_have_no_order(trial: LearnerTrial) -> None:
    """If the rows of every clique change places, so do their models, and nothing else changes."""
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in pairwise(START)])
    place, weight = np.argsort(order), WEIGHT[order]
    plain, permuted = trial.make_state(), trial.make_state(make_cliques(weight), weight)
    trial.learn(plain, updates())
    trial.learn(permuted, (Step(int(place[row]), gradient) for row, gradient in updates()))
    found, wanted = trial.predictions(permuted), trial.predictions(plain)[order]
    require_close(found, wanted, 1e-9, "models depend on the order of the rows")


def clique_numbers_do_not_matter(trial: LearnerTrial) -> None:
    """A clique that comes later among the others, with later rows, learns the same."""
    first, cliques = np.array([0.9, 0.4]), make_cliques()  # weights of a clique before the others
    start = np.concatenate(([0], START + len(first)))
    start.setflags(write=False)
    bound = np.concatenate(([first.max()], cliques.bound))
    later = trial.make_state(Cliques(start, bound.copy(), bound), np.concatenate((first, WEIGHT)))
    plain = trial.make_state()
    trial.learn(plain, updates())
    for row, gradient in updates():
        trial.update_at(later, clique_of(row) + 1, row + len(first), gradient)
    found = np.full((ROWS, DIM), np.nan)
    for row, model in enumerate(found):
        trial.predict_at(later, clique_of(row) + 1, row + len(first), model)
    require_close(found, trial.predictions(plain), 1e-9, "models depend on the number of a clique")


CLAIMS = (rows_have_no_order, clique_numbers_do_not_matter)
