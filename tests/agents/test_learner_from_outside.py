"""The learner of `docs/add-a-learner.md` becomes agents, with its field that is a constant."""

from dataclasses import dataclass
from typing import NamedTuple

import numba
import numpy as np
import pytest

import mtcool
from mtcool.learners import (
    CLIQUE,
    ROW,
    Cliques,
    begin_clique,
    clear_rows,
    grow_clique,
    move_rows,
    predict_row,
    raise_bound,
    set_axes,
    update_row,
)
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


@begin_clique.register
def _(state: OGDState, clique, layout, bound):
    clear_rows(state.points, layout)
    state.n[clique], state.rate[clique] = 0, bound


@grow_clique.register
def _(state: OGDState, clique, old, used, layout):
    move_rows(state.points, old, used, layout)


@raise_bound.register
def _(state: OGDState, clique, bound, ratio, rate):
    state.rate[clique] = rate


def test_it_becomes_agents():
    check_peers(mtcool.mt_co2ol, learner=OGD(0.5))


def test_its_state_can_be_cut_and_joined():
    (check,) = (
        check
        for check in learner_checks(OGD(), compiled=False)
        if check.name == "states_can_be_cut_and_joined"
    )
    check.run()


@pytest.mark.skipif(not numba.config.DISABLE_JIT, reason="compiled it takes a quarter of a minute")
def test_it_plays_on_networks_that_change(tmp_path):
    """A network, its agents, and the network that is loaded from its file go on alike."""
    net = mtcool.mt_co2ol(mtcool.graphs.ring(4), 2, learner=OGD(0.5), rates="adaptive")
    net.join("new", [0, 1])
    net.connect(0, 2)
    rng = np.random.default_rng(3)
    for step in range(30):
        agent = ["new", 0, 1, 2, 3][step % 5]
        net.update(agent, rng.uniform(-0.5, 0.5, 2))
        if step == 20:
            net.leave(3)
            net.join(3, [2, "new"])
    net.save(tmp_path / "net.npz")
    loaded = mtcool.load(tmp_path / "net.npz", learner=OGD(0.5))
    joined = mtcool.Network.from_agents(net.agents().values(), net.graph)
    for one in (loaded, joined):
        for agent in net.graph.labels:
            np.testing.assert_array_equal(one.predict(agent), net.predict(agent))
    assert any(net.predict(agent).any() for agent in net.graph.labels)
