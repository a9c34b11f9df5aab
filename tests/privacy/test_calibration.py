"""Noise scales: what they cost, and how they compare with the published ones."""

import math

import networkx as nx
import numpy as np
import pytest
from tests.private import private_network

import mtcool
from mtcool.algorithms.published_noise import compare_mechanisms, published_noise
from mtcool.learners import MTFTRL
from mtcool.privacy import BLT, BinaryTree, PerGradient, Privacy, SmoothTree, gaussian_mu
from mtcool.privacy.calibration import Channels, privacy_loss

RING = mtcool.graphs.ring(6)


def private(graph=RING, dim=2, **settings):
    settings = {"epsilon": 1.0, "horizon": 100, "seed": 0, **settings}
    return private_network(graph, dim, **settings)


def true_level(network, agent=0):
    """The formula of the notes, from the scales alone."""
    sanitiser = network.sanitiser
    channels, scales, privacy = sanitiser.channels, sanitiser.calibration, sanitiser.privacy
    change = 2.0 if privacy.adjacency == "replace" else 1.0
    norm = privacy.aggregator.column_norm(privacy.horizon[agent], scales.law)
    return privacy_loss(
        scales.law,
        change * norm,
        channels.dim,
        scales.gradient[agent],
        scales.products[agent],
        channels.load[agent],
        channels.energy[agent],
    )


@pytest.mark.parametrize("adjacency", ["replace", "zero-out"])
@pytest.mark.parametrize("split", ["optimal", 0.1, 0.9])
@pytest.mark.parametrize("experts", ["paper", "geometric", [0.3]])
@pytest.mark.parametrize("aggregator", [BinaryTree(), SmoothTree(), PerGradient()])
def test_tight_laplace_noise_spends_exactly_epsilon(adjacency, split, experts, aggregator):
    net = private(
        epsilon=0.7,
        adjacency=adjacency,
        split=split,
        learner=MTFTRL(experts=experts),
        aggregator=aggregator,
    )
    assert true_level(net) == pytest.approx(0.7, rel=1e-9)


@pytest.mark.parametrize("aggregator", [BinaryTree(), SmoothTree(), BLT(), PerGradient()])
@pytest.mark.parametrize("experts", ["paper", [0.3]])
def test_tight_gaussian_noise_spends_exactly_mu(aggregator, experts):
    learner = MTFTRL(experts=experts)
    net = private(epsilon=0.7, delta=1e-5, learner=learner, aggregator=aggregator)
    assert true_level(net) == pytest.approx(gaussian_mu(0.7, 1e-5), rel=1e-9)
    net = private(epsilon=None, rho=0.3, learner=learner, aggregator=aggregator)
    assert true_level(net) == pytest.approx(math.sqrt(0.6), rel=1e-9)


def test_tight_scales_by_hand():
    """Ring: three neighbours of weight 1/3, three experts each: S = 3; T = 100 has 7 levels."""
    net = private(dim=4, split=0.25)
    scales = net.sanitiser.calibration
    assert scales.gradient[0] == pytest.approx(2 * 2 * 7 / 0.25, rel=1e-9)
    assert scales.products[0] == pytest.approx(2 * 3 * 7 / 0.75, rel=1e-9)


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_the_optimal_split_has_the_least_cost_in_the_regret_bound(law):
    levels = {"epsilon": 1.0} if law == "laplace" else {"epsilon": 1.0, "delta": 1e-6}

    def cost(split):
        net = private(mtcool.graphs.complete(9), 3, split=split, **levels)
        scales, channels = net.sanitiser.calibration, net.sanitiser.channels
        return scales.gradient[0] + channels.price[0] * scales.products[0]

    best = cost("optimal")
    assert all(best <= cost(split) * (1 + 1e-9) for split in np.linspace(0.02, 0.98, 49))
    assert best >= 0.999 * min(cost(split) for split in np.linspace(0.01, 0.99, 99))


@pytest.mark.parametrize(
    ("neighbours", "horizon", "share"),
    [(30, 150_000, 0.017), (2, 1024, 0.40)],
)
def test_true_epsilon_of_the_published_calibration(neighbours, horizon, share):
    """About .017 epsilon for N_max = 30; .4 for two."""
    graph = mtcool.graphs.complete(neighbours)
    noise = published_noise(graph, 1, Privacy(2.0, horizon, calibration="paper"))
    true = 2 * horizon.bit_length() / math.log(horizon) * (1 + neighbours) / (6 * neighbours**2)
    assert noise.promised[0] == pytest.approx(2.0 * true, rel=1e-9)
    assert true == pytest.approx(share, rel=0.05)


def test_one_agent_with_the_published_noise_and_its_expert_channel_breaks_the_promise():
    """The published algorithm sends the products of a single expert too: S = 1."""
    channels = Channels(1, np.array([1]), np.ones(1), np.ones(1), np.ones(1), 1)
    logarithm = math.log(1024)
    paid = privacy_loss(
        "laplace", 2.0 * 11, 1, logarithm * 6.0, logarithm * 6.0, channels.load[0], 1.0
    )
    assert paid == pytest.approx(1.06, abs=0.005)


def test_the_published_calibration_says_what_it_gives():
    net = private(mtcool.graphs.complete(5), calibration="paper")
    true = net.ledger()[0].promised
    assert true == pytest.approx(true_level(net), rel=1e-9)
    assert f"true epsilon {true:.4g}" in repr(net)
    assert net.ledger()[0].budget == 1.0


def test_noise_of_the_papers_graphs_against_the_published_calibration():
    """Targets at N = 30, p = .9, d = 10, epsilon = 1, T = 150 000."""
    graph = mtcool.graphs.erdos_renyi(30, 0.9, seed=0)
    rows = compare_mechanisms(graph, 10, 1.0, 150_000, delta=1e-6)
    gain = {(row.mechanism, row.experts, row.law): row.gain for row in rows}
    assert gain["binary tree", "paper", "Laplace"] >= 200
    assert gain["smooth tree", "geometric", "Laplace"] >= 1_000
    assert gain["BLT", "geometric", "Gauss"] >= 20_000


@pytest.mark.parametrize(
    ("aggregator", "levels"),
    [
        (BinaryTree(), {"epsilon": 1.0}),
        (SmoothTree(), {"epsilon": 1.0}),
        (BLT(), {"epsilon": 1.0, "delta": 1e-6}),
    ],
)
def test_published_sums_are_as_noisy_as_it_says(aggregator, levels):
    horizon, dim = 31, 4000
    privacy = Privacy(horizon=horizon, aggregator=aggregator, **levels)
    expected = published_noise(nx.path_graph(2), dim, privacy, lipschitz=3.0)
    net = mtcool.dpmt_co2ol(nx.path_graph(2), dim, privacy, lipschitz=3.0, seed=0)
    for _ in range(horizon):
        net.update(0, np.zeros(dim))
    found = 3.0 * net.peers.state.aggregator.published[:dim].std()
    kurtosis = 6.0 if len(levels) == 1 else 3.0
    assert found == pytest.approx(expected.gradients[0], rel=5 * math.sqrt(kurtosis / dim) / 2)


def test_published_noise_is_the_largest_at_any_time():
    """A tree that is not completed is noisiest at 2^k - 1."""
    for horizon in (1023, 1024):
        privacy = Privacy(1.0, horizon, aggregator=BinaryTree(completed=False))
        noise = published_noise(RING, 1, privacy)
        scale = mtcool.dpmt_co2ol(RING, 1, privacy, seed=0).sanitiser
        expected = scale.calibration.gradient * math.sqrt(2 * 10)
        np.testing.assert_allclose(noise.gradients, expected)


def test_scales_do_not_depend_on_other_agents():
    levels = np.full(6, 1.0)
    alone = private(epsilon=levels).sanitiser.calibration
    levels[3] = 0.01
    mixed = private(epsilon=levels).sanitiser.calibration
    assert mixed.gradient[3] == pytest.approx(100 * alone.gradient[3])
    np.testing.assert_array_equal(np.delete(mixed.gradient, 3), np.delete(alone.gradient, 3))


def test_cliques_with_one_expert_send_nothing_but_gradients():
    net = private(learner=MTFTRL(experts=[0.2]))
    assert net.sanitiser.channels.products.sum() == 0
    assert (net.sanitiser.channels.width == 2).all()
    lonely = private(mtcool.Graph([0, 1], [0]))
    assert lonely.sanitiser.channels.products.sum() == 0
