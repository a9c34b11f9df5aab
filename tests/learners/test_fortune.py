"""KT with more wealth than the machine has numbers for, and what is left when it is lost again."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

import mtcool
from mtcool.learners import KT, MTFTRLKT
from mtcool.learners.wealth import LARGEST


def exact_bets(outcomes):
    """The bets of a KT bettor on a coin, with as many digits and powers as it takes."""
    bets, wealth, total = [], Decimal(1), Decimal(0)
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 50, 10**9, -(10**9)
        for n, outcome in enumerate(outcomes):
            bets.append(-total / (n + 1) * wealth)
            wealth *= 1 + total / (n + 1) * outcome
            total += outcome
    return bets


def coins(network, gradients):
    """Play one agent; its predictions, and the coin's outcomes u as the learner saw them."""
    predictions, outcomes, total = [], [], 0.0
    for n, g in enumerate(gradients):
        predictions.append(network.predict(0)[0])
        direction = -total / max(np.sqrt(1.0 + n), abs(total))
        outcomes.append(Decimal(float(direction * g)))
        network.update(0, [g])
        total += g
    return np.array(predictions), outcomes


GRADIENTS = {
    "won": [-1.0] * 1500,
    "won and lost": [-1.0] * 1500 + [1.0] * 1500,
    "lost first": [(-1.0) ** t for t in range(600)] + [-1.0] * 1500 + [1.0] * 1200,
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_predictions_are_those_of_exact_arithmetic_up_to_the_largest(name):
    network = mtcool.i_ftrl(mtcool.graphs.edgeless(1), 1, learner=KT())
    gradients = GRADIENTS[name]
    predictions, outcomes = coins(network, gradients)
    bets, totals = exact_bets(outcomes), np.cumsum([0.0, *gradients])
    assert np.isfinite(predictions).all()
    ordinary = capped = 0
    for n, (bet, x) in enumerate(zip(bets, predictions, strict=True)):
        direction = -totals[n] / max(np.sqrt(1.0 + n), abs(totals[n]))
        if abs(bet) < Decimal(LARGEST) / 2:
            assert x == pytest.approx(float(bet) * direction, rel=1e-9)
            ordinary += 1
        elif abs(bet) > Decimal(LARGEST):
            assert 0.5 * LARGEST * abs(direction) < abs(x) <= LARGEST
            capped += 1
    assert ordinary > 400
    assert capped > 400


@pytest.mark.parametrize("learner", [KT(), MTFTRLKT()])
def test_a_fortune_is_finite_and_so_is_its_square(learner):
    make = mtcool.i_ftrl if isinstance(learner, KT) else mtcool.mt_co2ol
    network = make(mtcool.graphs.complete(4), 1, learner=learner, radius=10.0)
    for t in range(8000):
        network.update(t % 4, [-1.0])
    x = network.predict(0)[0]
    assert 1e140 < x <= 10.0 * LARGEST
    assert np.isfinite(x * x)


def test_linear_losses_with_a_strong_drift_have_a_finite_regret():
    graph = mtcool.graphs.ring(6)
    rng = np.random.default_rng(0)
    who = rng.integers(6, size=30_000)
    losses = mtcool.streams.linear(0.5 + 0.1 * rng.standard_normal((30_000, 1)))
    stream = mtcool.Stream(who, losses, comparator=np.full((6, 1), -1.0))
    network = mtcool.mt_co2ol(graph, 1, learner=MTFTRLKT(), lipschitz=1.0)
    trace = mtcool.simulate(network, stream)
    assert np.isfinite(trace.regret).all()
