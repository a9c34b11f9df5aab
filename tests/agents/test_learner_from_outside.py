"""The learner of `docs/add-a-learner.md` becomes agents, with its field that is a constant."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import mtcool
from mtcool.learners import CLIQUE, ROW, Cliques, predict_row, set_axes, update_row
from mtcool.testing import check_peers, learner_checks


class OGDState(NamedTuple):
    points: np.ndarray
    step: np.ndarray
    n: np.ndarray
    rate: np.ndarray


set_axes(OGDState, points=ROW, n=CLIQUE, rate=CLIQUE)


@dataclass(frozen=True)
class OGD:
    """Online gradient descent on the ball."""

    step: float = 1.0

    def make_state(self, cliques: Cliques, dim: int) -> OGDState:
        return OGDState(
            points=np.zeros((cliques.start[-1], dim)),
            step=np.array([self.step]),
            n=np.zeros(len(cliques.rate), np.int64),
            rate=cliques.rate.copy(),
        )


@predict_row.register
def _(state: OGDState, clique, row, out):
    for k in range(out.shape[0]):
        out[k] = state.points[row, k]


@update_row.register
def _(state: OGDState, clique, row, weight, gradient):
    state.n[clique] += 1
    step = state.step[0] / (state.rate[clique] * np.sqrt(state.n[clique]))
    square = 0.0
    for k in range(gradient.shape[0]):
        state.points[row, k] -= step * weight * gradient[k]
        square += state.points[row, k] ** 2
    if square > 1.0:
        for k in range(gradient.shape[0]):
            state.points[row, k] /= np.sqrt(square)


def test_it_becomes_agents():
    check_peers(mtcool.mt_co2ol, learner=OGD(0.5))


def test_its_state_can_be_cut_and_joined():
    (check,) = (
        check
        for check in learner_checks(OGD(), compiled=False)
        if check.name == "states_can_be_cut_and_joined"
    )
    check.run()
