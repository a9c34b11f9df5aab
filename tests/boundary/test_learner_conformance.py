"""What every learner must do, whatever it learns: one suite, passed the day a learner is added.

A new learner is a line in LEARNERS. `docs/add-a-learner.md` says the same in words.
"""

import ast
import inspect
import os
import subprocess
import sys
import textwrap
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from mtcool import learners
from mtcool.kernels import kernel
from mtcool.learners import (
    FTRL,
    KT,
    MTFTRL,
    MTFTRLKT,
    Cliques,
    Learner,
    predict_row,
    update_row,
)
from mtcool.learners.two_phase import TwoPhase

DIM = 2
SIZES = (3, 0, 1, 5)  # a clique that nobody listens to, and a clique of one, among the others
START = np.concatenate(([0], np.cumsum(SIZES)))
# Read-only, and indices of 32 bits, as in a network: the compiled code is then the same.
START.setflags(write=False)
Index = np.int32
ROWS = int(START[-1])
WEIGHT = np.array([0.5, 0.2, 1.0, 0.3, 0.25, 0.5, 1.0, 0.125, 0.7])
TAU = 12

LEARNERS = {
    "FTRL": FTRL(),
    "KT": KT(),
    "MTFTRL": MTFTRL(),
    "MTFTRL, geometric": MTFTRL(experts="geometric"),
    "MTFTRL, given": MTFTRL(experts=(0.0, 0.1, 0.4), free_last=True),
    "MTFTRLKT": MTFTRLKT(),
    "TwoPhase of FTRL": TwoPhase(FTRL(), WEIGHT, TAU),
    "TwoPhase of MTFTRLKT": TwoPhase(MTFTRLKT(), WEIGHT, TAU),
}
CONSTRAINED = [name for name in LEARNERS if "KT" not in name]
SCRATCH = {"model", "work"}  # rooms that hold nothing from one call to the next


def make_cliques(order=None):
    """The cliques of SIZES with the weights of WEIGHT, their rows in another order if given."""
    weight = WEIGHT if order is None else WEIGHT[order]
    bound = np.array([weight[a:b].max(initial=0.0) for a, b in pairwise(START)])
    return Cliques(start=START, rate=bound.copy(), bound=bound)


def make_state(name):
    return LEARNERS[name].make_state(make_cliques(), DIM)


@kernel
def predict_compiled(state, clique, row, out):
    predict_row(state, clique, row, out)


@kernel
def update_compiled(state, clique, row, gradient, weight=1.0):
    update_row(state, clique, row, weight, gradient)


def predictions(state):
    """The model of every row, (rows, dim)."""
    out = np.full((ROWS, DIM), np.nan)
    for row in map(Index, range(ROWS)):
        predict_compiled(state, clique_of(row), row, out[row])
    return out


def clique_of(row):
    return Index(np.searchsorted(START, row, side="right") - 1)


def updates(count=120, seed=0, lean=0.6):
    """Random rows and weighted gradients; they lean one way, so that models reach the ball."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        row = Index(rng.integers(ROWS))
        g = rng.normal(size=DIM) + lean * np.array([1.0, -0.5])
        yield row, WEIGHT[row] * g / np.linalg.norm(g)


def learn(state, steps):
    for row, gradient in steps:
        update_compiled(state, clique_of(row), row, gradient)


def arrays(state, prefix=""):
    """Names and arrays of a state, nested ones included, without scratch rooms."""
    for name, field in state._asdict().items():
        if hasattr(field, "_fields"):
            if name not in SCRATCH:
                yield from arrays(field, f"{prefix}{name}.")
        elif isinstance(field, np.ndarray) and name not in SCRATCH:
            yield prefix + name, field


def content(state):
    return {name: array.tobytes() for name, array in arrays(state)}


@pytest.fixture(params=LEARNERS)
def name(request):
    return request.param


def test_every_exported_learner_is_in_the_table():
    exported = {getattr(learners, name) for name in learners.__all__}
    classes = {cls for cls in exported if isinstance(cls, type) and hasattr(cls, "make_state")}
    ours = {type(learner) for learner in LEARNERS.values()}
    assert classes - {Learner} == ours - {TwoPhase}  # which `rates="estimated"` wraps around one


def test_a_learner_is_a_frozen_dataclass_that_shows_its_parameters(name):
    learner = LEARNERS[name]
    assert type(learner).__dataclass_params__.frozen
    assert repr(learner).startswith(type(learner).__name__ + "(")


def test_the_state_is_a_named_tuple_of_arrays_and_states(name):
    for field in make_state(name):
        assert isinstance(field, np.ndarray | tuple | int)
    for _, array in arrays(make_state(name)):
        column = array.base is not None and array.base.dtype.names  # of an array of records
        assert array.flags.c_contiguous or column
        for dtype in [array.dtype[field] for field in array.dtype.names or ()] or [array.dtype]:
            assert dtype in (np.float64, np.int64)


def test_the_state_has_a_clock_and_a_rate_for_every_clique(name):
    state = make_state(name)
    state = getattr(state, "inner", state)  # the two-phase strategy has those of its learner
    assert (state.n.dtype, state.n.shape) == (np.int64, (len(SIZES),))
    assert not state.n.any()
    np.testing.assert_array_equal(state.rate, make_cliques().rate)


def test_every_field_of_the_state_is_documented(name):
    source = textwrap.dedent(inspect.getsource(type(make_state(name))))
    body = ast.parse(source).body[0].body
    assert ast.get_docstring(ast.parse(source).body[0])
    for statement, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(statement, ast.AnnAssign):
            documented = isinstance(following, ast.Expr)
            assert documented, f"{statement.target.id} has no docstring"


def test_the_state_does_not_share_memory_with_what_it_was_made_of(name):
    cliques = make_cliques()
    state = LEARNERS[name].make_state(cliques, DIM)
    before = {field: getattr(cliques, field).copy() for field in cliques._fields}
    learn(state, updates())
    for field, array in before.items():
        np.testing.assert_array_equal(getattr(cliques, field), array)


def test_two_states_of_one_learner_are_independent(name):
    one, other = make_state(name), make_state(name)
    fresh = content(other)
    learn(one, updates())
    assert content(other) == fresh


def test_a_fresh_state_predicts_zero(name):
    np.testing.assert_array_equal(predictions(make_state(name)), np.zeros((ROWS, DIM)))


def test_a_used_state_predicts_something_finite(name):
    state = make_state(name)
    learn(state, updates())
    used = predictions(state)
    assert np.isfinite(used).all()
    assert used[START[-2] :].any(axis=1).all()


def test_predicting_changes_nothing(name):
    state = make_state(name)
    for row, gradient in updates():
        update_compiled(state, clique_of(row), row, gradient)
        before = content(state)
        first = predictions(state)
        assert content(state) == before
        np.testing.assert_array_equal(predictions(state), first)


def test_updating_leaves_the_gradient_as_it_was(name):
    state = make_state(name)
    for row, gradient in updates():
        kept = gradient.copy()
        update_compiled(state, clique_of(row), row, gradient)
        np.testing.assert_array_equal(gradient, kept)


def owners(array, state):
    """The clique that every entry of an array belongs to; None where the cliques share it."""
    inner = getattr(state, "inner", state)
    cuts = {len(SIZES): np.arange(len(SIZES) + 1), ROWS: START}
    if hasattr(inner, "plan"):
        ends = np.concatenate(([0], np.cumsum(inner.plan["experts"])))
        cuts[int(ends[-1])] = ends
    cut = cuts.get(len(array))
    return None if cut is None else np.repeat(np.arange(len(SIZES)), np.diff(cut))


def test_updating_changes_only_the_entries_of_its_own_clique(name):
    state = make_state(name)
    for row, gradient in updates():
        before = {field: array.copy() for field, array in arrays(state)}
        others = predictions(state)
        update_compiled(state, clique_of(row), row, gradient)
        for field, array in arrays(state):
            # Experts stand side by side in the rows of one array.
            array, old = (a.T if field.endswith("experts") else a for a in (array, before[field]))
            owner = owners(array, state)
            kept = slice(None) if owner is None else owner != clique_of(row)
            np.testing.assert_array_equal(array[kept], old[kept], err_msg=field)
        elsewhere = [r for r in range(ROWS) if clique_of(r) != clique_of(row)]
        np.testing.assert_array_equal(predictions(state)[elsewhere], others[elsewhere])


def test_cliques_do_not_feel_the_order_in_which_they_take_turns(name):
    one, other = make_state(name), make_state(name)
    steps = list(updates())
    learn(one, steps)
    learn(other, sorted(steps, key=lambda step: clique_of(step[0])))  # keeps the order within
    assert content(one) == content(other)


def test_learning_is_deterministic(name):
    one, other = make_state(name), make_state(name)
    learn(one, updates())
    learn(other, updates())
    assert content(one) == content(other)


def test_the_clock_counts_updates(name):
    state = make_state(name)
    learn(state, updates())
    counted = np.bincount([clique_of(row) for row, _ in updates()], minlength=len(SIZES))
    if isinstance(LEARNERS[name], TwoPhase):  # it restarts after the first phase
        np.testing.assert_array_equal(state.elapsed, np.minimum(counted, TAU))
        counted = np.maximum(counted - TAU, 0)
        state = state.inner
    np.testing.assert_array_equal(state.n, counted)


@pytest.mark.parametrize("name", CONSTRAINED)
@pytest.mark.parametrize("lean", [0.0, 0.3, 5.0])
def test_models_of_constrained_learners_stay_in_the_ball(name, lean):
    state = make_state(name)
    for row, gradient in updates(count=400, lean=lean):
        update_compiled(state, clique_of(row), row, gradient)
        assert np.linalg.norm(predictions(state), axis=1).max() <= 1.0 + 1e-12


@pytest.mark.parametrize("name", CONSTRAINED)
def test_models_of_constrained_learners_reach_the_ball(name):
    state = make_state(name)
    learn(state, updates(count=400, lean=5.0))
    assert np.linalg.norm(predictions(state), axis=1).max() > 0.99


def test_rows_have_no_order(name):
    """Relabel the agents of every clique: their models are relabelled, and nothing else."""
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in pairwise(START)])
    place = np.argsort(order)
    learner = LEARNERS[name]
    if isinstance(learner, TwoPhase):
        learner = TwoPhase(learner.learner, WEIGHT[order], TAU)
    plain, permuted = make_state(name), learner.make_state(make_cliques(order), DIM)
    learn(plain, updates())
    learn(permuted, ((Index(place[row]), gradient) for row, gradient in updates()))
    np.testing.assert_allclose(predictions(permuted), predictions(plain)[order], atol=1e-9)


def test_a_learner_follows_its_gradients(name):
    """After the same gradient again and again the model of its row points against it."""
    state, gradient = make_state(name), np.array([0.6, 0.8])
    for row in (Index(START[2]), Index(ROWS - 1)):
        for _ in range(3 * TAU):
            update_compiled(state, clique_of(row), row, gradient, WEIGHT[row])
        model = predictions(state)[row]
        np.testing.assert_allclose(model / np.linalg.norm(model), -gradient, atol=1e-9)


def test_cliques_may_all_be_empty_but_one(name):
    learner = LEARNERS[name]
    if isinstance(learner, TwoPhase):
        learner = TwoPhase(learner.learner, WEIGHT[:1], TAU)
    start, bound = np.array([0, 0, 1, 1]), np.array([0.0, 0.5, 0.0])
    start.setflags(write=False)
    state = learner.make_state(Cliques(start, bound.copy(), bound), DIM)
    out, clique, row = np.full(DIM, np.nan), Index(1), Index(0)
    for _ in range(2 * TAU):
        update_compiled(state, clique, row, np.array([0.5, 0.0]))
        predict_compiled(state, clique, row, out)
    assert out[0] < 0.0 == out[1]


def record(path):
    """Write the predictions of every learner after every step; the child process below runs it."""
    trajectories = {}
    for name in LEARNERS:
        state, steps = make_state(name), []
        for row, gradient in updates():
            update_compiled(state, clique_of(row), row, gradient)
            steps.append(predictions(state))
        trajectories[name] = np.array(steps)
    np.savez(path, **trajectories)


@pytest.fixture(scope="module")
def uncompiled(tmp_path_factory):
    """The trajectories as plain Python computes them, in a process without compilation."""
    path = tmp_path_factory.mktemp("uncompiled") / "trajectories.npz"
    here = Path(__file__)
    program = f"import {here.stem} as suite; suite.record({str(path)!r})"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(here.parent)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    with np.load(path) as file:
        return dict(file)


def test_compiled_and_plain_python_agree(name, uncompiled):
    state = make_state(name)
    for (row, gradient), want in zip(updates(), uncompiled[name], strict=True):
        update_compiled(state, clique_of(row), row, gradient)
        np.testing.assert_allclose(predictions(state), want, rtol=1e-12, atol=1e-12)


def test_a_foreign_state_is_refused_by_name():
    with pytest.raises(TypeError, match="Cliques is not the state of a learner"):
        predict_row(make_cliques(), 0, 0, np.zeros(DIM))
    with pytest.raises(TypeError, match="Cliques is not the state of a learner"):
        update_row(make_cliques(), 0, 0, 1.0, np.zeros(DIM))
