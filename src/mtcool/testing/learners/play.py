"""Claims about what `predict_row` and `update_row` read and write."""

import numpy as np

from mtcool.axes import Location, index_of, own_arrays, states
from mtcool.kernels import CompileError
from mtcool.testing.checks import require, require_close, require_equal
from mtcool.testing.learners.trial import (
    DIM,
    ROWS,
    SIZES,
    START,
    LearnerTrial,
    changed,
    clique_of,
    clock_of,
    content,
    soil,
    updates,
)


def functions_compile(trial: LearnerTrial) -> None:
    """`predict_row` and `update_row` are registered for the state, and numba compiles them."""
    try:
        state = trial.make_state()
        trial.predictions(state)
        trial.learn(state, updates(count=1))
    except CompileError as error:
        raise AssertionError(str(error)) from None
    except Exception:  # whatever else is wrong has a check of its own
        return


def predicting_changes_nothing(trial: LearnerTrial) -> None:
    """`predict_row` writes into `out` and nowhere else; asked twice, it answers the same."""
    state = trial.make_state()
    for step in updates():
        trial.update(state, step)
        before = content(state)
        first = trial.predictions(state)
        found = changed(before, content(state))
        require(not found, f"predict_row changed {found}")
        require_equal(trial.predictions(state), first, "the second answer differs")


def updating_leaves_the_gradient_alone(trial: LearnerTrial) -> None:
    """`update_row` does not write into the gradient that it is given."""
    state = trial.make_state()
    for step in updates():
        kept = step.gradient.copy()
        trial.update(state, step)
        require_equal(step.gradient, kept, "update_row changed its gradient")


def updating_changes_its_own_clique_only(trial: LearnerTrial) -> None:
    """An update changes numbers of its own clique only.

    Which these are is said by `mtcool.learners.set_axes`.
    """
    state = trial.make_state()
    for step in updates():
        clique = clique_of(step.row)
        own = Location.of(clique, START[clique], START[clique + 1])
        others = trial.predictions(state)
        before = {
            (name, field): array.copy()
            for name, part in states(state)
            for field, array in own_arrays(part)
        }
        trial.update(state, step)
        for name, part in states(state):
            for field, array in own_arrays(part):
                elsewhere = np.ones(array.shape, bool)
                place = index_of(part, field, own)
                if place is not None:  # else a constant, which no update may change
                    elsewhere[place] = False
                same = array[elsewhere] == before[name, field][elsewhere]
                require(same.all(), f"an update of clique {clique} changed {field} of another one")
        rows = [row for row in range(ROWS) if clique_of(row) != clique]
        found = trial.predictions(state)[rows]
        require_equal(found, others[rows], f"clique {clique} moved models of another")


def cliques_may_take_turns_in_any_order(trial: LearnerTrial) -> None:
    """What a clique knows depends on its own updates, not on when other cliques had theirs."""
    one, other = trial.make_state(), trial.make_state()
    steps = list(updates())
    trial.learn(one, steps)
    trial.learn(
        other, sorted(steps, key=lambda step: clique_of(step.row))
    )  # keeps the order within
    found = changed(content(one), content(other))
    require(not found, f"{found} depends on the order in which cliques took turns")


def scratch_is_no_memory(trial: LearnerTrial) -> None:
    """No call reads what an earlier one left in `work`, which neither files nor agents keep."""
    clean, soiled, fresh = trial.make_state(), trial.make_state(), trial.make_state()
    for step in updates():
        trial.update(clean, step)
        soil(soiled, fresh)
        trial.update(soiled, step)
    found = changed(content(clean), content(soiled))
    require(not found, f"{found} depends on what was left in work")
    wanted = trial.predictions(clean)
    for row in range(ROWS):
        soil(soiled, fresh)
        model = np.full(DIM, np.nan)
        trial.predict_at(soiled, clique_of(row), row, model)
        require_equal(model, wanted[row], "predict_row depends on what was left in work")


def learning_is_deterministic(trial: LearnerTrial) -> None:
    """The same updates give the same numbers, to the bit: no randomness, no changing globals."""
    one, other = trial.make_state(), trial.make_state()
    trial.learn(one, updates())
    trial.learn(other, updates())
    found = changed(content(one), content(other))
    require(not found, f"{found} differs after the same updates")


def the_clock_counts_updates(trial: LearnerTrial) -> None:
    """Field `n` is the number of updates that each clique received."""
    state = trial.make_state()
    trial.learn(state, updates())
    counted = np.bincount([clique_of(step.row) for step in updates()], minlength=len(SIZES))
    if trial.first_phase:  # the learner begins after it
        first = np.minimum(counted, trial.first_phase)
        require_equal(state.elapsed, first, "the first phase does not count its updates")
        require_equal(state.inner.n, counted - first, "n does not begin after the first phase")
    require_equal(clock_of(state), counted, "n does not count updates")


def the_weight_multiplies_the_gradient(trial: LearnerTrial) -> None:
    """`update_row` learns from `weight * gradient`."""
    one, other = trial.make_state(), trial.make_state()
    for step in updates():
        trial.update(one, step)
        trial.update(other, step._replace(gradient=4.0 * step.gradient), 0.25)
    found, wanted = trial.predictions(other), trial.predictions(one)
    require_close(found, wanted, 1e-9, "a quarter of four times the gradient is not the gradient")


def compiled_code_and_plain_python_agree(trial: LearnerTrial) -> None:
    """Compiled and uncompiled, the two functions give the same numbers but for rounding."""
    slow = trial._replace(compiled=False)
    compiled, plain = trial.make_state(), trial.make_state()
    for step in updates():
        trial.update(compiled, step)
        slow.update(plain, step)
        found, wanted = trial.predictions(compiled), slow.predictions(plain)
        scale = np.maximum(1.0, np.abs(wanted))
        require_close(found / scale, wanted / scale, 1e-12, "compiled models differ")


CLAIMS = (
    predicting_changes_nothing,
    updating_leaves_the_gradient_alone,
    updating_changes_its_own_clique_only,
    cliques_may_take_turns_in_any_order,
    scratch_is_no_memory,
    learning_is_deterministic,
    the_clock_counts_updates,
    the_weight_multiplies_the_gradient,
)
