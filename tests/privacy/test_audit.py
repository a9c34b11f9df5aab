"""Audits: right code passes, planted bugs are found, the budget is attained and not exceeded."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mtcool
from mtcool.audit import Round, black_box, forced_transcript, noise_law, planted, worst_case
from mtcool.audit.black_box import BlackBox
from mtcool.audit.law import judge
from mtcool.learners import MTFTRL
from mtcool.learners.mt_ftrl.state import MULTIPLIER
from mtcool.learners.solvers.line import CLOSED_FORM
from mtcool.privacy import BLT, BinaryTree, Doubling, PerGradient, Privacy, SmoothTree

GRAPH = mtcool.graphs.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
MECHANISMS = [
    (BinaryTree(), {"epsilon": 1.0}, 15),
    (BinaryTree(completed=False), {"epsilon": 1.0}, 12),
    (SmoothTree(), {"epsilon": 1.0}, 27),
    (Doubling(), {"epsilon": 1.0}, 9),
    (PerGradient(), {"epsilon": 1.0}, 4),
    (BinaryTree(), {"epsilon": 1.0, "delta": 1e-6}, 15),
    (BLT(), {"epsilon": 1.0, "delta": 1e-6}, 20),
    (BLT(), {"rho": 0.4}, 20),
]
every_mechanism = pytest.mark.parametrize(("aggregator", "levels", "horizon"), MECHANISMS)


def quadratic(target):
    return lambda x: x - target


def random_pair(rng, agents, dim, rounds):
    """Rounds of quadratic losses with far targets, and another loss for one of them."""
    active = rng.integers(0, agents, rounds)
    targets = rng.standard_normal((rounds, dim)) * rng.choice([0.5, 3.0], rounds)[:, None]
    changed = int(rng.integers(rounds))
    other = rng.standard_normal(dim) * 3.0
    pairs = zip(active, targets, strict=True)
    return [Round(int(i), quadratic(z)) for i, z in pairs], changed, quadratic(other)


@every_mechanism
@pytest.mark.parametrize("experts", ["paper", "geometric", [0.3]])
def test_the_worst_case_attains_the_budget(aggregator, levels, horizon, experts):
    privacy = Privacy(horizon=horizon, aggregator=aggregator, **levels)
    net = mtcool.dpmt_co2ol(GRAPH, 3, privacy, learner=MTFTRL(experts=experts))
    leak = worst_case(net, 2)
    assert leak.passed
    assert leak.paid == pytest.approx(leak.promised, rel=1e-9)
    assert leak.paid <= leak.promised


@pytest.mark.parametrize("weights", ["uniform", "delegation"])
def test_200_neighbouring_pairs_never_exceed_the_budget(weights):
    """Quadratic losses, whose gradients depend on the predictions, and unequal epsilons."""
    rng = np.random.default_rng(11)
    highest = 0.0
    for k in range(100):
        aggregator, levels, _ = MECHANISMS[k % len(MECHANISMS)]
        size = int(rng.integers(1, 6))
        graph = mtcool.graphs.erdos_renyi(size, 0.7, seed=int(rng.integers(1000)))
        spread = {name: value * rng.uniform(0.1, 10.0, size) for name, value in levels.items()}
        privacy = Privacy(
            horizon=rng.integers(10, 30, size),
            aggregator=aggregator,
            **(spread | ({"delta": 1e-6} if "delta" in levels else {})),
        )
        net = mtcool.dpmt_co2ol(graph, 2, privacy, weights=weights, lipschitz=2.0, seed=k)
        leak = forced_transcript(net, *random_pair(rng, size, 2, 10))
        assert leak.passed, (k, aggregator, leak)
        assert leak.strangers == 0.0 or leak.strangers < 1e-9
        highest = max(highest, leak.paid / leak.promised)
    assert highest > 0.5  # the pairs are telling


@pytest.mark.parametrize(
    ("aggregator", "levels"),
    [
        (BinaryTree(), {"epsilon": 1.0}),
        (SmoothTree(), {"epsilon": 1.0}),
        (BLT(), {"epsilon": 1.0, "delta": 1e-6}),
    ],
)
def test_exact_networks_pass_to_the_bit(aggregator, levels):
    """On the grid nothing is rounded: the two worlds are equal, not nearly so."""
    rng = np.random.default_rng(2)
    for _ in range(5):
        privacy = Privacy(horizon=10, aggregator=aggregator, noise="exact", **levels)
        net = mtcool.dpmt_co2ol(GRAPH, 2, privacy)
        leak = forced_transcript(net, *random_pair(rng, 4, 2, 10))
        assert leak.passed
        assert leak.difference == 0.0
        assert leak.strangers == 0.0


def test_a_malicious_neighbour_cannot_raise_the_sensitivity():
    """It replies with rows a thousand times too long: they are clipped before they are used."""
    net = mtcool.dpmt_co2ol(GRAPH, 3, Privacy(1.0, 15), seed=0, lipschitz=0.1)
    base = net.peers.state.learner.base
    base.cliques["unit"], base.cliques["inverse"], base.cliques["clipped"] = 1e6, 1e300, 0
    base.experts[MULTIPLIER] = CLOSED_FORM
    leak = forced_transcript(
        net, [Round(2, lambda x: np.ones(3) * 50.0)] * 15, 0, lambda x: -np.ones(3) * 50.0
    )
    assert leak.paid <= leak.promised


@pytest.mark.parametrize("bug", planted.IN_TRANSCRIPTS)
def test_bugs_in_the_transcript_are_found(bug):
    net = mtcool.dpmt_co2ol(GRAPH, 3, Privacy(1.0, 15), seed=1)
    assert worst_case(net, 1).passed
    assert not worst_case(net, 1, plant=bug).passed


def test_a_bug_in_both_worlds_is_no_difference_by_itself():
    """With equal losses even the leaky algorithm behaves alike in both worlds."""
    rounds, _, _ = random_pair(np.random.default_rng(0), 4, 2, 8)
    net = mtcool.dpmt_co2ol(GRAPH, 2, Privacy(1.0, 15), seed=1)
    leak = forced_transcript(net, rounds, 0, rounds[0].gradient, plant=planted.own_raw_sums)
    assert leak.difference <= 1e-9
    assert leak.paid <= 1e-9
    assert net.released == 0  # the subject is left alone


def test_rounding_on_the_grid_does_not_add_up():
    """BLT's nodes are fractional: rounding that went back into the filter would exceed mu."""
    alone = mtcool.graphs.edgeless(2)
    privacy = Privacy(1.0, 10_000, delta=1e-6, aggregator=BLT(), noise="exact")
    net = mtcool.dpmt_co2ol(alone, 2, privacy)
    leak = worst_case(net, 0)
    assert leak.passed
    assert leak.paid == pytest.approx(leak.promised, rel=1e-3)


@every_mechanism
def test_the_noise_of_every_mechanism_has_its_law(aggregator, levels, horizon):
    privacy = Privacy(horizon=25, aggregator=aggregator, **levels)
    net = mtcool.dpmt_co2ol(GRAPH, 60, privacy, seed=1)
    law = noise_law(net, releases=80)
    assert law.passed, law


@pytest.mark.parametrize("levels", [{"epsilon": 1.0}, {"epsilon": 1.0, "delta": 1e-6}])
def test_exact_noise_has_its_law(levels):
    single = MTFTRL(experts=[0.5])
    privacy = Privacy(horizon=20, aggregator=SmoothTree(), noise="exact", **levels)
    net = mtcool.dpmt_co2ol(GRAPH, 60, privacy, learner=single)
    assert noise_law(net, releases=60).passed


@pytest.mark.parametrize("bug", planted.IN_THE_NOISE)
def test_bugs_in_the_noise_are_found(bug):
    net = mtcool.dpmt_co2ol(GRAPH, 60, Privacy(1.0, 25), seed=1)
    assert not noise_law(net, releases=80, plant=bug).passed


def test_agents_that_share_a_seed_are_found():
    """The same rows of noise at two agents."""
    rng = np.random.default_rng(0)
    noise = rng.laplace(size=(70, 200))
    assert judge("laplace", noise).passed
    noise[31] = noise[30]
    assert not judge("laplace", noise).passed


def test_too_short_an_audit_says_that_it_is_blind():
    net = mtcool.dpmt_co2ol(GRAPH, 2, Privacy(1.0, 25), seed=1)
    law = noise_law(net, releases=10)
    assert not law.sharp
    assert not law.passed


@pytest.mark.parametrize("horizon", [3, 7])
def test_from_outside_the_tree_looks_as_private_as_it_is(horizon):
    found = black_box(horizon)
    assert found.passed
    assert 0.77 <= found.lower / found.epsilon <= 1.0


@pytest.mark.parametrize("horizon", [3, 7])
@pytest.mark.parametrize("bug", planted.FROM_OUTSIDE)
def test_bugs_are_found_from_outside(bug, horizon):
    found = black_box(horizon, plant=bug)
    assert not found.passed
    assert found.lower > 1.2 * found.epsilon


def test_a_blind_audit_does_not_pass():
    assert not BlackBox(epsilon=1.0, lower=0.5, runs=10).passed
    assert not black_box(3, runs=100).passed


def test_networks_that_cannot_be_audited_are_refused():
    rounds = [Round(0, lambda x: x)]
    with pytest.raises(ValueError, match="network must be private"):
        forced_transcript(mtcool.mt_co2ol(GRAPH, 1), rounds, 0, lambda x: -x)
    net = mtcool.dpmt_co2ol(GRAPH, 1, Privacy(1.0, 5), seed=0)
    net.update(0, [1.0])
    with pytest.raises(ValueError, match="network must be fresh"):
        noise_law(net)
    with pytest.raises(ValueError, match="horizon must be 3 or 7"):
        black_box(4)


INTERPRETED = Path(__file__).with_name("bugs_in_the_protocol.py")


def test_bugs_in_the_protocol_itself_are_found():
    """No clipping, own raw sums, noise left out: planted into the code, run uncompiled."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(INTERPRETED)],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.pop("right code") is True
    assert len(found) == 5
    assert not any(found.values()), found
