"""DPMT-CO2OL: the algorithm, its limits, its ledger, its files."""

import math
import pickle

import networkx as nx
import numpy as np
import pytest
from tests.private import private_network

import mtcool
from mtcool.learners import MTFTRL, MTFTRLKT
from mtcool.privacy import BLT, BinaryTree, Doubling, NoNoise, PerGradient, SmoothTree
from mtcool.simulation.loop import play

GRAPH = mtcool.graphs.erdos_renyi(7, 0.5, seed=3)
LEARNERS = [MTFTRL(), MTFTRL(experts="geometric"), MTFTRL(experts=[0.2]), MTFTRL(free_last=True)]
MECHANISMS = [
    (BinaryTree(), {"epsilon": 2.0}),
    (BinaryTree(completed=False), {"epsilon": 2.0}),
    (SmoothTree(), {"epsilon": 2.0}),
    (Doubling(), {"epsilon": 2.0}),
    (PerGradient(), {"epsilon": 2.0}),
    (NoNoise(), {"epsilon": 2.0}),
    (BLT(), {"epsilon": 2.0, "delta": 1e-5}),
    (BinaryTree(), {"rho": 0.1}),
]
every_mechanism = pytest.mark.parametrize(("aggregator", "levels"), MECHANISMS)
# `tests/peers` runs the shipped checks of simulations and files for the first and for BLT.
OTHERS = [*MECHANISMS[1:6], *MECHANISMS[7:]]
most_mechanisms = pytest.mark.parametrize(("aggregator", "levels"), OTHERS)


def stream_of(rounds=300, dim=2, seed=0):
    tasks = mtcool.streams.gaussian_tasks(GRAPH, dim=dim, smoothness=2.0, seed=seed)
    return mtcool.streams.quadratic_stream(GRAPH, tasks, rounds=rounds, seed=seed + 1, noise=0.5)


def private(aggregator=None, dim=2, **settings):
    settings = {"horizon": 300, "lipschitz": 4.0, "seed": 5, **settings}
    if "rho" not in settings:
        settings.setdefault("epsilon", 1.0)
    if aggregator is not None:
        settings["aggregator"] = aggregator
    return private_network(GRAPH, dim, **settings)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("weights", ["uniform", "delegation"])
@pytest.mark.parametrize("radius", [1.0, 0.05])  # with the second, rows stand on the ball
def test_without_noise_it_is_mt_co2ol(learner, weights, radius):
    settings = {"learner": learner, "weights": weights, "lipschitz": 4.0, "radius": radius}
    plain = mtcool.mt_co2ol(GRAPH, 2, on_excess="clip", **settings)
    privacy = mtcool.Privacy(1.0, 300, aggregator=NoNoise())
    quiet = mtcool.dpmt_co2ol(GRAPH, 2, privacy, **settings)
    one, two = mtcool.simulate(plain, stream_of()), mtcool.simulate(quiet, stream_of())
    np.testing.assert_allclose(one.loss, two.loss, rtol=1e-9)
    for agent in range(7):
        np.testing.assert_allclose(plain.predict(agent), quiet.predict(agent), atol=1e-9)


@pytest.mark.parametrize("aggregator", [BinaryTree(), SmoothTree(), PerGradient(), Doubling()])
def test_with_ever_less_noise_it_becomes_mt_co2ol(aggregator):
    plain = mtcool.simulate(mtcool.mt_co2ol(GRAPH, 2, lipschitz=4.0, on_excess="clip"), stream_of())
    far = [
        abs(mtcool.simulate(private(aggregator, epsilon=e), stream_of()).loss[-1] - plain.loss[-1])
        for e in (1e4, 1e7, 1e10)
    ]
    assert far[0] > far[1] > far[2]
    assert far[2] < 1e-4


@most_mechanisms
def test_simulate_plays_what_predict_and_update_play(aggregator, levels):
    stream = stream_of(120)
    asked, simulated = private(aggregator, **levels), private(aggregator, **levels)
    paid = 0.0
    for agent, loss in stream:
        value, gradient = loss(asked.predict(agent))
        asked.update(agent, gradient)
        paid += value
    trace = mtcool.simulate(simulated, stream)
    assert trace.loss[-1] == pytest.approx(paid, rel=1e-12)
    for agent in range(7):
        np.testing.assert_array_equal(asked.predict(agent), simulated.predict(agent))
    assert asked.ledger() == simulated.ledger()


@every_mechanism
def test_a_seed_repeats_and_another_does_not(aggregator, levels):
    one, two = (mtcool.simulate(private(aggregator, **levels), stream_of()) for _ in range(2))
    np.testing.assert_array_equal(one.loss, two.loss)
    other = mtcool.simulate(private(aggregator, seed=6, **levels), stream_of())
    assert (one.loss[-1] == other.loss[-1]) == isinstance(aggregator, NoNoise)


@most_mechanisms
def test_a_saved_network_goes_on_to_the_bit(aggregator, levels, tmp_path):
    stream = stream_of(200)
    first, rest = stream[:90], stream[90:]
    straight, saved = private(aggregator, **levels), private(aggregator, **levels)
    for net in (straight, saved):
        mtcool.simulate(net, first)
    saved.save(tmp_path / "net.npz")
    loaded, copied = mtcool.load(tmp_path / "net.npz"), pickle.loads(pickle.dumps(saved))
    expected = mtcool.simulate(straight, rest)
    for net in (loaded, copied):
        assert net.settings == straight.settings
        np.testing.assert_array_equal(mtcool.simulate(net, rest).loss, expected.loss)
        assert net.ledger() == straight.ledger()


def test_before_the_first_activation_everybody_has_published_noise():
    net = private(learner=MTFTRL(experts=[0.5]))
    published = net.peers.state.aggregator.published.reshape(7, 2)
    assert (published != 0.0).all()
    assert any(net.predict(agent).any() for agent in range(7))
    assert net.released == 0
    assert all(account.spent == 0.0 for account in net.ledger().values())


@every_mechanism
def test_beyond_the_horizon_nothing_is_released(aggregator, levels):
    net = private(aggregator, horizon=3, **levels)
    for _ in range(3):
        net.update(2, [0.1, 0.1])
    before = pickle.dumps(net)
    with pytest.raises(ValueError, match="horizon of agent 2 is 3 activations, of which 3 are"):
        net.update(2, [0.1, 0.1])
    assert pickle.dumps(net) == before
    net.update(3, [0.1, 0.1])
    assert net.ledger()[2].remaining == 0


def test_a_stream_beyond_the_horizon_is_refused_before_it_begins():
    net, stream = private(horizon=20), stream_of(300)
    before = pickle.dumps(net)
    with pytest.raises(ValueError, match="nothing was released"):
        mtcool.simulate(net, stream)
    assert pickle.dumps(net) == before


@pytest.mark.parametrize("gradient", [[math.nan, 0.0], [math.inf, 0.0], [1.0], "text", lambda x: x])
def test_refused_gradients_release_nothing(gradient):
    net = private()
    net.update(0, [1.0, 0.0])
    before = pickle.dumps(net)
    with pytest.raises(ValueError, match="gradient"):
        net.update(0, gradient)
    assert pickle.dumps(net) == before


@pytest.mark.parametrize("unit", [10.0, 1e200, 4e307])
@pytest.mark.parametrize("way", ["network", "agent", "simulate"])
def test_every_finite_gradient_is_clipped(way, unit):
    """Whether one is refused would tell two losses apart, and no noise hides that."""
    one, two = private(NoNoise()), private(NoNoise())
    gradient = [3.0 * unit, 4.0 * unit]
    two.update(0, [2.4, 3.2])  # norm 4, the bound
    if way == "simulate":
        trace = mtcool.simulate(one, mtcool.Stream([0], mtcool.streams.linear([gradient])))
        assert trace.clipped == 1
    elif way == "network":
        one.update(0, gradient)
    else:
        agents = one.agents()
        activation = agents[0].activate()
        asked = activation.requests.items()
        activation.predict({name: agents[name].receive(request) for name, request in asked})
        activation.learn(gradient)
        assert agents[0].released == 1
        first, other = agents[0].published, two.agents()[0].published
        np.testing.assert_allclose(first, other, rtol=1e-14)
        return
    np.testing.assert_allclose(one.predict(0), two.predict(0), rtol=1e-14)


@pytest.mark.parametrize("released", [False, True])
def test_nothing_of_a_private_network_can_be_changed(released):
    net = private()
    other = private(epsilon=9.0)
    if released:
        net.update(0, [1.0, 0.0])
    for name in ("settings", "exchange", "peers", "weights"):
        with pytest.raises(ValueError, match=f"{name} of a private network cannot be changed"):
            setattr(net, name, getattr(other, name))
    with pytest.raises(ValueError, match=r"epsilon of a private network cannot .* got 3.0"):
        net.epsilon = 3.0
    for name in ("noise", "calibration"):
        with pytest.raises(ValueError, match=f"{name} of a private network cannot change"):
            setattr(net.sanitiser, name, getattr(other.sanitiser, name))


def test_without_noise_in_the_buffer_nothing_is_released():
    """Whoever calls the protocol without providing noise gets a refusal, not a raw value."""
    net = private(dim=1)
    losses = mtcool.streams.linear(np.ones((1, 1)))
    totals = np.zeros(7, np.int64), np.zeros(7), np.zeros(7), np.zeros(7, np.int64)
    rounds = np.zeros((0, 1)), np.zeros(0), np.zeros(0)
    room = np.zeros((0, 1)), np.zeros(1)
    agents = np.zeros(1, np.int64)
    assert play(net.peers, losses, agents, *room, 0, 1, *totals, *rounds) == 0
    assert net.released == 0


def test_levels_by_name():
    graph = nx.path_graph(["rome", "milan"])
    levels = mtcool.Privacy({"milan": 2.0, "rome": 1.0}, 10)
    net = mtcool.dpmt_co2ol(graph, 1, levels, seed=0)
    assert {name: account.budget for name, account in net.ledger().items()} == {
        "rome": 1.0,
        "milan": 2.0,
    }
    with pytest.raises(ValueError, match="epsilon must have every agent as a key"):
        mtcool.dpmt_co2ol(graph, 1, mtcool.Privacy({"milan": 2.0}, 10))
    with pytest.raises(ValueError, match=r"epsilon of agent 'milan' must be positive, got 0.0"):
        mtcool.Privacy({"rome": 1.0, "milan": 0.0}, 10)
    with pytest.raises(ValueError, match=r"epsilon of agent 1 must be positive, got 0.0"):
        mtcool.Privacy([1.0, 0.0], 10)


def test_files_of_private_networks_are_for_their_owner_only(tmp_path):
    private().save(tmp_path / "net.npz")
    assert (tmp_path / "net.npz").stat().st_mode & 0o077 == 0


def test_a_file_with_other_noise_is_refused(tmp_path, monkeypatch):
    private().save(tmp_path / "net.npz")
    monkeypatch.setattr("mtcool.privacy.calibration.ADJACENCIES", {"replace": 1.5, "zero-out": 1})
    with pytest.raises(ValueError, match="path must hold noise scales of this version"):
        mtcool.load(tmp_path / "net.npz")


def test_levels_and_horizons_of_each_agent():
    epsilon, horizon = np.linspace(0.1, 10.0, 7), np.arange(3, 10)
    net = private(epsilon=epsilon, horizon=horizon)
    for agent, account in net.ledger().items():
        assert account.budget == epsilon[agent]
        assert account.promised == pytest.approx(epsilon[agent])
        assert account.remaining == horizon[agent]
    for _ in range(3):
        net.update(0, [0.5, 0.5])
    assert net.ledger()[0].spent == pytest.approx(0.1)
    assert net.ledger()[0].left == pytest.approx(0.0)
    assert net.ledger()[1].spent == 0.0


def test_the_ledger_of_gaussian_noise_speaks_of_its_delta_and_of_rho():
    net = private(BLT(), epsilon=2.0, delta=1e-5, horizon=50)
    levels = []
    for _ in range(50):
        levels.append(net.ledger()[1].spent)
        net.update(1, [0.5, 0.5])
    assert levels == sorted(levels)
    assert levels[0] == 0.0
    assert net.ledger()[1].spent == pytest.approx(2.0, rel=1e-9)
    zero = private(BLT(), rho=0.2, horizon=50)
    zero.update(1, [0.5, 0.5])
    assert 0.0 < zero.ledger()[1].spent < zero.ledger()[1].promised == pytest.approx(0.2)


def test_an_unknown_horizon_needs_none():
    net = mtcool.dpmt_co2ol(GRAPH, 1, mtcool.Privacy(1.0, aggregator=Doubling()), seed=0)
    for _ in range(40):
        net.update(0, [1.0])
    assert net.ledger()[0].released == 40
    assert net.ledger()[0].remaining > 10**9
    privacy = mtcool.Privacy(1.0, aggregator=Doubling(), noise="exact")
    exact = mtcool.dpmt_co2ol(GRAPH, 1, privacy)
    exact.update(0, [1.0])


def test_a_network_without_privacy_has_no_ledger():
    with pytest.raises(ValueError, match="network must be private"):
        mtcool.mt_co2ol(GRAPH, 1).ledger()


def test_messages_carry_experts_and_sums():
    """Agent 0 of a path of 2 fetches 2 rows of 2 experts and their mean, and sends 2 sums."""
    graph = nx.path_graph(2)
    losses = mtcool.streams.linear(np.ones((1, 3)) / 2)
    stream = mtcool.Stream([0], losses)
    privacy = mtcool.Privacy(1.0, 5)
    many = mtcool.dpmt_co2ol(graph, 3, privacy, seed=0)
    single = mtcool.dpmt_co2ol(graph, 3, privacy, seed=0, learner=MTFTRL(experts=[0.5]))
    more = mtcool.simulate(many, stream, times=[1]).message_bytes[0]
    less = mtcool.simulate(single, stream, times=[1]).message_bytes[0]
    assert more - less == 8 * (2 * 3 + 2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epsilon": 0.0}, "epsilon must be positive, got 0.0"),
        ({"epsilon": -1.0}, "epsilon must be positive, got -1.0"),
        ({"epsilon": math.inf}, "epsilon must be finite, got inf"),
        ({"epsilon": math.nan}, "epsilon must be finite, got nan"),
        ({"epsilon": "much"}, "epsilon must be a number, got 'much'"),
        ({"epsilon": None}, "one of epsilon and rho must be given"),
        ({"epsilon": [1.0, 2.0]}, r"epsilon must be one number or one for each of the 7 agents"),
        ({"epsilon": [1.0] * 6 + [0.0]}, "epsilon of agent 6 must be positive"),
        ({"epsilon": [[1.0], [1.0, 2.0]]}, "epsilon must be one number or one for each"),
        ({"epsilon": 1e-200}, "epsilon must give noise scales from"),
        ({"epsilon": 1e-12, "delta": 1e-15}, "epsilon and delta must be larger"),
        ({"delta": 0.0}, "delta must be between 0 and 1, both excluded, got 0.0"),
        ({"delta": 1.0}, "delta must be between 0 and 1"),
        ({"delta": [1e-6] * 3}, "delta must be one number or one for each"),
        ({"horizon": None}, "horizon must be given"),
        ({"horizon": 0}, "horizon must be a whole number of at least 1, got 0"),
        ({"horizon": 2.5}, "horizon must be a whole number"),
        ({"horizon": [3] * 8}, "horizon must be one number or one for each of the 7 agents"),
        ({"horizon": "long"}, "horizon must be a whole number"),
        ({"epsilon": None, "rho": 0.0}, "rho must be positive"),
        ({"epsilon": 1.0, "rho": 0.5}, "one of epsilon and rho must be given"),
        ({"epsilon": None, "rho": 0.5, "delta": 1e-6}, "delta has no meaning with rho"),
        ({"aggregator": "tree"}, "aggregator must be one of BinaryTree"),
        ({"aggregator": BLT()}, "delta or rho must be given for BLT"),
        ({"learner": MTFTRLKT()}, "learner must be MTFTRL"),
        ({"calibration": "loose"}, "calibration must be one of tight, paper"),
        ({"adjacency": "add"}, "adjacency must be one of replace, zero-out"),
        ({"split": 0.0}, "split must be .* between 0 and 1"),
        ({"split": "half"}, "split must be"),
        ({"noise": "none"}, "noise must be one of simulated, exact"),
        ({"noise": "exact", "seed": 1}, 'seed applies only to noise="simulated"'),
        ({"seed": 1.5}, "seed must be a whole number"),
        ({"calibration": "paper", "delta": 1e-6}, 'calibration="paper" needs an epsilon'),
        ({"calibration": "paper", "aggregator": SmoothTree()}, 'calibration must be "tight"'),
        ({"calibration": "paper", "split": 0.5}, "split has no meaning"),
        ({"calibration": "paper", "horizon": 1}, "horizon must be at least 2"),
        ({"calibration": "paper", "adjacency": "zero-out"}, "adjacency must be"),
        ({"rates": "estimated"}, "rates must be one of adversarial, stochastic"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        private(**settings)


def test_without_opendp_exact_noise_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "opendp.prelude", None)
    with pytest.raises(ValueError, match='noise="exact" needs OpenDP'):
        private(noise="exact", seed=None)


def test_exact_noise_runs_and_stays_on_its_grid(tmp_path):
    net = private(noise="exact", seed=None, horizon=20, learner=MTFTRL(experts=[0.2]))
    for t in range(10):
        net.update(t % 7, [0.3, 0.7])
    published = net.peers.state.aggregator.published * 2.0**20
    np.testing.assert_array_equal(published, published.round())
    net.save(tmp_path / "net.npz")
    loaded = mtcool.load(tmp_path / "net.npz")
    np.testing.assert_array_equal(loaded.predict(1), net.predict(1))
    loaded.update(1, [0.3, 0.7])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epsilon": 1e-9}, "epsilon must be larger for exact noise"),
        ({"epsilon": 1e6}, "epsilon must be smaller for exact noise"),
        ({"horizon": 2**33}, "horizon must be at most 2147483648 for exact noise"),
    ],
)
def test_exact_noise_refuses_scales_beyond_its_numbers(settings, message):
    with pytest.raises(ValueError, match=message):
        private(noise="exact", seed=None, **settings)


def test_exact_noise_hides_values_at_large_scales():
    """Noise of scale 10 000, far beyond 2^31 steps of the grid: nothing saturates."""
    single = MTFTRL(experts=[0.2])
    net = private(dim=400, noise="exact", seed=None, epsilon=0.1, learner=single, horizon=255)
    net.update(0, np.zeros(400))
    noisy = net.peers.work.noisy[:400]
    assert np.abs(noisy).max() > 2.0**12
    assert len(set(np.abs(noisy))) > 390


def test_stochastic_rates_are_those_of_mt_co2ol():
    q = np.full(7, 1 / 7)
    settings = {"rates": "stochastic", "q": q, "lipschitz": 4.0}
    plain = mtcool.mt_co2ol(GRAPH, 2, on_excess="clip", **settings)
    privacy = mtcool.Privacy(1.0, 300, aggregator=NoNoise())
    quiet = mtcool.dpmt_co2ol(GRAPH, 2, privacy, **settings)
    one, two = mtcool.simulate(plain, stream_of()), mtcool.simulate(quiet, stream_of())
    np.testing.assert_allclose(one.loss, two.loss, rtol=1e-9)
