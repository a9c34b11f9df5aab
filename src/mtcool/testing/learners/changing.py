"""Claims about learners for networks that change: cliques begin, grow, take larger weights."""

from dataclasses import replace

import numpy as np

from mtcool.agents.field.clique import FieldClique
from mtcool.algorithms import mt_co2ol
from mtcool.axes import CLIQUE, ROW, axes_of, state_arrays, states
from mtcool.field.settings import FieldSettings
from mtcool.graphs import star
from mtcool.learners import Cliques
from mtcool.learners.squared_weights import SquaredWeights
from mtcool.testing.checks import require, require_equal
from mtcool.testing.learners.trial import DIM, LearnerTrial
from mtcool.types import AnyArray, Rates

ADVERSARIAL: Rates = "adversarial"
ADAPTIVE: Rates = "adaptive"
SLOTS = 3
BOUND = 0.5


def a_clique_begins_as_a_fresh_state(trial: LearnerTrial) -> None:
    """`begin_clique` makes of a clique what `make_state` makes for its rows and its bound."""
    clique, bound = _clique(trial), np.array([BOUND])
    learner = clique.settings.clique_learner
    fresh = learner.make_state(Cliques(np.array([0, SLOTS]), bound, bound), DIM)
    found = dict(state_arrays(clique.state))
    for name, array in state_arrays(fresh):
        if not array.dtype.names:  # records hold what follows from the sums, which may be unset
            require_equal(found[name][: len(array)], array, f"{name} of a new clique is another")
    for row in clique.rows:
        require_equal(clique.row(row), np.zeros(DIM), "a clique that begins predicts something")


def a_clique_that_grows_keeps_its_rows(trial: LearnerTrial) -> None:
    """`grow_clique` moves all rows, leaves new ones at zero, and forgets no update."""
    clique = _clique(trial)
    _learn(clique)
    before = _along(clique, ROW)
    clock = _along(clique, CLIQUE).get("n")
    clique.admit(SLOTS)
    require(clique.slots > SLOTS, "it has no slot for a new neighbour")
    for name, array in _along(clique, ROW).items():
        require_equal(array[:SLOTS], before[name], f"{name} of a clique that grew is another")
        require(not array[SLOTS:].any(), f"{name} of rows that nobody has had is not zero")
    if clock is not None:
        require_equal(_along(clique, CLIQUE)["n"], clock, "n of a clique that grew is another")
    _learn(clique)
    _require_finite(clique)


def a_clique_learns_with_larger_weights(trial: LearnerTrial) -> None:
    """After `raise_bound` weights up to the new bound may come, and models stay finite."""
    clique = _clique(trial)
    _learn(clique)
    clique.expect(2.0 * BOUND)
    _require_finite(clique)
    _learn(clique)
    _require_finite(clique)


def _clique(trial: LearnerTrial) -> FieldClique:
    learner, rates = trial.learner, ADVERSARIAL
    if isinstance(learner, SquaredWeights):  # which is how networks have them
        learner, rates = learner.learner, ADAPTIVE
    plain = mt_co2ol(star(2), DIM, learner=learner, rates=rates).settings
    settings = replace(plain, field=FieldSettings())
    return FieldClique(settings, SLOTS, BOUND, {k: k for k in range(SLOTS)})


def _learn(clique: FieldClique) -> None:
    rng = np.random.default_rng(1)
    for step in range(20):
        gradient = rng.standard_normal(DIM)
        gradient /= np.linalg.norm(gradient)
        clique.learn(step % len(clique.rows), clique.bound, gradient, 0.0)


def _along(clique: FieldClique, axis: str) -> dict[str, AnyArray]:
    """Copies of the arrays that run along an axis."""
    return {
        name: getattr(part, name).copy()
        for _, part in states(clique.state)
        for name, axes in axes_of(part).items()
        if axes[0] == axis and "." not in name
    }


def _require_finite(clique: FieldClique) -> None:
    for row in clique.rows:
        model = clique.row(row)
        require(np.isfinite(model).all(), f"the model of row {row} is {model}")


CLAIMS = (
    a_clique_begins_as_a_fresh_state,
    a_clique_that_grows_keeps_its_rows,
    a_clique_learns_with_larger_weights,
)
