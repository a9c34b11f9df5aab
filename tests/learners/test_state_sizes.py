"""What the state of a learner holds is known before there is one, for all learners."""

from dataclasses import dataclass

import numpy as np
import pytest
from tests.saved_files import forge, taken_apart

import mtcool
from mtcool.axes import state_arrays
from mtcool.learners import FTRL, LEARNERS, Cliques
from mtcool.learners.learner import StateSize, smallest_state

SIZES = np.array([1, 3, 0, 2])


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_says_what_its_state_holds(name):
    learner, dim = LEARNERS[name](), 5
    assert smallest_state.dispatch(type(learner)) is not smallest_state.dispatch(object)
    start = np.concatenate(([0], np.cumsum(SIZES)))
    state = learner.make_state(Cliques(start, np.ones(4), np.ones(4)), dim)
    vectors, experts = smallest_state(learner, SIZES)
    numbers = sum(array.nbytes for _, array in state_arrays(state)) // 8
    assert 4 * dim <= vectors * dim + experts <= numbers


@dataclass(frozen=True)
class Fifth:
    """A learner from outside; its state is that of FTRL."""

    def make_state(self, cliques, dim):
        return FTRL().make_state(cliques, dim)


@smallest_state.register
def _(learner: Fifth, sizes):
    return StateSize(len(sizes))


def test_a_learner_from_outside_is_protected_from_forged_files_too(tmp_path):
    path = tmp_path / "net.npz"
    mtcool.i_ftrl(mtcool.graphs.ring(4), 2, learner=Fifth()).save(path)
    header, arrays = taken_apart(path)
    header["setup"]["dim"] = 10**8
    forge(path, header, arrays)
    with pytest.raises(ValueError, match="state must hold 4 vectors of dim 100000000"):
        mtcool.load(path, learner=Fifth())
