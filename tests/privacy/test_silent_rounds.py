"""Private agents that are silent in some rounds: what stays, what is private, what is refused."""

import pickle

import networkx as nx
import numpy as np
import pytest
from tests.saved_files import forge, taken_apart

import mtcool
from field_cases import only_uncompiled
from mtcool import Delays, Messages, Privacy
from mtcool.agents.traffic import traffic
from mtcool.algorithms import algorithm
from mtcool.algorithms.making import make_network
from mtcool.audit import Round, forced_transcript, noise_law, planted, worst_case
from mtcool.learners import MTFTRL
from mtcool.peers.private import PrivatePeers
from mtcool.privacy import BLT, BinaryTree, Doubling, NoNoise, PerGradient, SmoothTree

GRAPH = mtcool.graphs.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
POLICIES = [Messages(every=3), Messages(probability=0.4), Messages(budget=20)]
MECHANISMS = [
    (BinaryTree(), {"epsilon": 1.0}, 15),
    (SmoothTree(), {"epsilon": 1.0}, 27),
    (Doubling(), {"epsilon": 1.0}, 9),
    (PerGradient(), {"epsilon": 1.0}, 4),
    (BLT(), {"epsilon": 1.0, "delta": 1e-6}, 20),
    (BLT(), {"rho": 0.4}, 20),
]
every_policy = pytest.mark.parametrize("messages", POLICIES, ids=repr)


def made(messages, dim=2, graph=GRAPH, horizon=15, seed=0, **options):
    return mtcool.dpmt_co2ol(
        graph, dim, Privacy(1.0, horizon), messages=messages, seed=seed, **options
    )


def stream_of(graph, rounds=80, dim=2):
    tasks = mtcool.streams.gaussian_tasks(graph, dim=dim, smoothness=2.0, seed=0)
    return mtcool.streams.quadratic_stream(graph, tasks, rounds=rounds, seed=1, noise=0.5)


# --- what it is -------------------------------------------------------------------------------


@pytest.mark.parametrize("messages", [Messages(), Messages(every=1, probability=1.0)], ids=repr)
@pytest.mark.parametrize("seed", [3, "a generator"])
def test_without_silent_rounds_nothing_differs(messages, seed):
    """Nor is anything else compiled, nor kept."""
    seeds = [seed if seed == 3 else np.random.default_rng(3) for _ in range(2)]
    plain, asked = (
        made(one, horizon=80, seed=start)
        for one, start in zip((None, messages), seeds, strict=True)
    )
    assert type(asked.peers) is PrivatePeers
    assert asked.settings == plain.settings
    for net in (plain, asked):
        mtcool.simulate(net, stream_of(GRAPH))
    assert pickle.dumps(plain) == pickle.dumps(asked)


@only_uncompiled
@every_policy
@pytest.mark.parametrize("radius", [1.0, 0.05])  # with the second, rows stand on the ball
def test_without_noise_it_is_mt_co2ol_with_silent_rounds(messages, radius):
    settings = {"messages": messages, "radius": radius, "lipschitz": 4.0, "seed": 7}
    plain = mtcool.mt_co2ol(GRAPH, 2, on_excess="clip", **settings)
    privacy = Privacy(1.0, 80, aggregator=NoNoise())
    quiet = mtcool.dpmt_co2ol(GRAPH, 2, privacy, **settings)
    one, two = (mtcool.simulate(net, stream_of(GRAPH)) for net in (plain, quiet))
    np.testing.assert_allclose(one.loss, two.loss, rtol=1e-9)
    np.testing.assert_array_equal(one.messages, two.messages)
    np.testing.assert_array_equal(one.agent_messages, two.agent_messages)
    for agent in range(4):
        np.testing.assert_allclose(plain.predict(agent), quiet.predict(agent), atol=1e-9)


def test_a_silent_round_is_seen_by_nobody_else():
    net = made(Messages(every=2))
    net.update(0, [0.5, 0.1])
    state = net.peers.state.learner
    own = {int(row) for row in net.peers.row[-4:]}
    others = [row for row in range(len(state.base.gradients)) if row not in own]
    before, counts = state.base.gradients.copy(), state.base.n.copy()
    net.update(0, [0.5, 0.1])
    np.testing.assert_array_equal(state.base.gradients[others], before[others])
    np.testing.assert_array_equal(state.base.n - counts, [1, 0, 0, 0])


def test_an_agent_without_neighbours_has_nothing_to_be_silent_about():
    """Its sums have the noise of one channel, not of two."""
    alone = mtcool.graphs.edgeless(3)
    plain, quiet = made(None, graph=alone), made(Messages(every=2), graph=alone)
    for net in (plain, quiet):
        for _ in range(15):
            net.update(1, [0.3, -0.4])
    np.testing.assert_array_equal(plain.predict(1), quiet.predict(1))
    assert plain.ledger() == quiet.ledger()


def test_budgets_are_never_exceeded_and_nearly_spent():
    net = made(Messages(budget=20, budget_bytes=1500), horizon=80)
    trace = mtcool.simulate(net, stream_of(GRAPH))
    each = traffic(made(None).peers, net.settings, GRAPH, stream_of(GRAPH).losses)
    assert (trace.agent_messages <= 20).all()
    assert (trace.agent_bytes <= 1500).all()
    over = (trace.agent_messages + each.messages > 20) | (trace.agent_bytes + each.size > 1500)
    assert over.all()
    np.testing.assert_array_equal(
        trace.agent_bytes // each.size * each.messages, trace.agent_messages
    )


def test_bytes_are_those_of_private_messages_of_any_names():
    graph = nx.path_graph([("rome", 1), "a long name of an agent", 70_000])
    for learner in (MTFTRL(), MTFTRL(experts=[0.5])):
        plain, quiet = (made(m, graph=graph, learner=learner) for m in (None, Messages(every=2)))
        losses = mtcool.streams.linear(np.ones((1, 2)))
        each = traffic(plain.peers, plain.settings, plain.graph, losses)
        np.testing.assert_array_equal(quiet.peers.messages, each.messages)
        np.testing.assert_array_equal(quiet.peers.size, each.size)


def test_seldom_talk_needs_less_noise():
    """A sum of a tenth of the rounds is made of fewer nodes."""
    often, seldom = (
        made(m, horizon=1000).sanitiser.calibration for m in (None, Messages(every=10))
    )
    assert (seldom.gradient[:4] < 0.75 * often.gradient).all()
    assert (seldom.level == 1.0).all()


def test_stochastic_rates_know_how_often_agents_are_silent():
    """One half of the agent's rounds have weight one in its own clique."""
    pair = mtcool.graphs.complete(2)
    net = made(Messages(every=2), graph=pair, rates="stochastic", q=[0.5, 0.5])
    # Of six updates of a clique, in eight rounds, four have weight 1/2 and two have weight 1.
    np.testing.assert_allclose(net.peers.state.learner.base.rate, np.sqrt((4 / 4 + 2) / 6))
    assert (made(Messages(every=2)).peers.state.learner.base.rate == 1.0).all()


# --- horizons and ledger ----------------------------------------------------------------------


@every_policy
def test_the_horizon_counts_rounds_of_both_kinds(messages):
    net = made(messages, horizon=6)
    for k in range(6):
        assert net.ledger()[2].remaining == 6 - k
        net.update(2, [0.1, 0.1])
    before = pickle.dumps(net)
    with pytest.raises(ValueError, match="horizon of agent 2 is 6 activations, of which 6 are"):
        net.update(2, [0.1, 0.1])
    with pytest.raises(ValueError, match="nothing was released"):
        mtcool.simulate(net, stream_of(GRAPH))
    with pytest.raises(ValueError, match="gradient"):
        net.update(1, [np.nan, 0.0])
    assert pickle.dumps(net) == before
    agent = net.agents()[2].activate()
    agent.predict({to: net.agent(to).rows(2) for to in agent.requests})
    with pytest.raises(ValueError, match="horizon of agent 2 is 6 activations, of which 6 are"):
        agent.learn([0.1, 0.1])
    account = net.ledger()[2]
    assert (account.released, account.remaining) == (6, 0)
    assert 0.0 < account.spent <= account.promised == 1.0


def test_the_ledger_tells_of_the_kind_of_round_that_has_spent_most():
    net = made(Messages(every=8), horizon=15)
    net.update(0, [0.1, 0.1])
    assert net.ledger()[0].spent == 0.5  # of two talking rounds, which make two levels
    for _ in range(7):
        net.update(0, [0.1, 0.1])
    assert net.ledger()[0].spent == 0.75  # seven silent ones lie in three of four levels
    net.update(0, [0.1, 0.1])
    assert net.ledger()[0].spent == 1.0


def test_the_paper_s_noise_is_for_the_horizon_and_says_what_it_gives():
    privacy = Privacy(1.0, 15, calibration="paper")
    plain, quiet = (
        mtcool.dpmt_co2ol(GRAPH, 2, privacy, messages=m, seed=0) for m in (None, Messages(every=4))
    )
    one, two = plain.sanitiser.calibration, quiet.sanitiser.calibration
    np.testing.assert_array_equal(two.gradient[:4], one.gradient)
    assert quiet.ledger()[0].promised == two.level[[0, 4]].max() >= one.level[0]


# --- privacy ----------------------------------------------------------------------------------


def random_pair(rng, rounds=12):
    """Rounds of quadratic losses, and another loss for one of them."""
    targets = 2.0 * rng.standard_normal((rounds + 1, 2))
    losses = [lambda x, z=z: x - z for z in targets]
    active = rng.integers(0, 4, rounds).tolist()
    played = [Round(i, loss) for i, loss in zip(active, losses[:-1], strict=True)]
    return played, int(rng.integers(rounds)), losses[-1]


@pytest.mark.parametrize(("aggregator", "levels", "horizon"), MECHANISMS)
@every_policy
def test_the_worst_case_pays_no_more_than_the_budget(aggregator, levels, horizon, messages):
    privacy = Privacy(horizon=horizon, aggregator=aggregator, **levels)
    net = mtcool.dpmt_co2ol(GRAPH, 3, privacy, messages=messages, seed=2)
    leaks = [worst_case(net, agent) for agent in range(4)]
    assert all(leak.passed for leak in leaks)
    most = max(leak.paid / leak.promised for leak in leaks)
    assert most <= 1.0
    if messages.every > 1 or isinstance(aggregator, BinaryTree | PerGradient):
        assert most == pytest.approx(1.0, rel=1e-9)  # every node with the loss is released


def test_silent_losses_attain_the_budget_too():
    """Agents whose first round is silent, by their coins."""
    net = made(Messages(probability=0.3), dim=3)
    silent = [i for i in range(4) if first_is_silent(net, i)]
    assert silent
    for agent in silent:
        leak = worst_case(net, agent)
        assert leak.passed
        assert leak.paid == pytest.approx(1.0, rel=1e-9)


def first_is_silent(net, agent):
    twin = pickle.loads(pickle.dumps(net))
    twin.update(agent, [0.1] * net.settings.dim)
    return twin.peers.state.aggregator.activations[agent] == 0


@every_policy
def test_random_pairs_never_exceed_the_budget(messages):
    rng = np.random.default_rng(5)
    highest = 0.0
    for seed in range(15):
        leak = forced_transcript(made(messages, seed=seed), *random_pair(rng))
        assert leak.passed, leak
        assert leak.strangers == 0.0 or leak.strangers < 1e-9
        highest = max(highest, leak.paid)
    assert highest > 0.3  # the pairs are telling


def test_the_noise_of_both_channels_has_its_law():
    assert noise_law(made(Messages(every=2), dim=60, horizon=25), releases=80).passed


def silent_leaves_in_both_sums(network):
    """What a silent agent learns from enters the sum for its neighbours as well."""
    plain, peers = network.update, network.peers

    def update(agent, gradient):
        aggregator = peers.state.aggregator
        talked = aggregator.activations[agent]
        plain(agent, gradient)
        if aggregator.activations[agent] == talked:
            width, slot = int(aggregator.width[agent]), int(aggregator.slot[agent])
            nodes = aggregator.node[slot : int(aggregator.slot[agent + 1])].reshape(-1, width)
            nodes[:, : network.settings.dim] += peers.work.leaf[: network.settings.dim]

    object.__setattr__(network, "update", update)


def own_raw_silent_sums(network):
    """The own clique listens to the exact sum of silent rounds."""
    plain, peers, dim = network.update, network.peers, network.settings.dim

    def update(agent, gradient):
        silent = int(peers.silent[agent])
        before = peers.state.aggregator.activations[silent]
        plain(agent, gradient)
        if peers.state.aggregator.activations[silent] > before:
            base, leaf = peers.state.learner.base, peers.work.leaf[:dim]
            base.gradients[int(peers.row[peers.ptr[silent]])] += leaf
            base.total[agent] += leaf

    object.__setattr__(network, "update", update)


def one_sided_noise(network):
    """Noise of silent rounds made for a loss that is zeroed out, not replaced."""
    planted._scale_noise(network, *(np.where(np.arange(8) < 4, 1.0, 0.5) for _ in range(2)))


@pytest.mark.parametrize(
    "bug",
    [silent_leaves_in_both_sums, own_raw_silent_sums, one_sided_noise, planted.missing_factor_two],
)
def test_planted_bugs_are_found(bug):
    """A loss of a silent round differs: the second of three."""
    net = made(Messages(every=2), learner=MTFTRL(experts=[0.3]))
    far = np.array([10.0, 0.0])
    rounds = [Round(1, lambda x: 0.0 * far) for _ in range(15)]
    rounds[1] = Round(1, lambda x: far)
    assert forced_transcript(net, rounds, 1, lambda x: -far).passed
    assert not forced_transcript(net, rounds, 1, lambda x: -far, plant=bug).passed


# --- refusals ---------------------------------------------------------------------------------

REFUSED = {
    "partners": (Messages(partners=1), "partners of messages must be None .* one noisy sum serves"),
    "best": (Messages(every=2, partners=1, choose="best"), "partners of messages must be None"),
    "bits": (Messages(every=2, bits=8), "bits of messages must be None for dpmt_co2ol, got 8"),
    "coordinates": (Messages(coordinates=1), "coordinates of messages .* gives the data away"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_not_private_is_refused(kind):
    messages, sentence = REFUSED[kind]
    with pytest.raises(ValueError, match=sentence):
        made(messages)


def test_other_refusals_say_why():
    with pytest.raises(ValueError, match=r"messages must be an mtcool\.Messages, got 3"):
        made(3)
    with pytest.raises(ValueError, match=r"rates must be 'adversarial' .* with a budget"):
        made(Messages(budget=9), rates="stochastic", q=[0.25] * 4)
    with pytest.raises(ValueError, match="weights must be positive for the agents themselves"):
        made(Messages(every=2), graph=mtcool.graphs.star(4), weights="delegation")
    record = algorithm("dpmt_co2ol")
    with pytest.raises(
        ValueError, match=r"delays do not apply to a network of dpmt_co2ol, .*PrivateCarrier"
    ):
        make_network(record, GRAPH, 1, privacy=Privacy(1.0, 9), delays=Delays(gradients=2))


@pytest.mark.parametrize("messages", [None, Messages(every=2)])
def test_the_graph_stays(messages):
    net = made(messages)
    net.update(0, [0.1, 0.1])
    before = pickle.dumps(net)
    with pytest.raises(ValueError, match="the graph of dpmt_co2ol cannot change"):
        net.disconnect(0, 1)
    assert pickle.dumps(net) == before


def test_files_with_more_rounds_than_there_can_be_are_refused(tmp_path):
    net, path = made(Messages(every=2), horizon=6), tmp_path / "net.npz"
    for _ in range(5):
        net.update(0, [0.1, 0.1])
    net.save(path)
    header, arrays = taken_apart(path)
    name = "state.aggregator"
    assert arrays[f"{name}.activations"].tolist() == [3, 0, 0, 0, 2, 0, 0, 0]
    for channel, rounds in ((0, 4), (4, 4), (4, 7)):  # of three, three more, and six at most
        forged = {key: array.copy() for key, array in arrays.items()}
        for field in ("activations", "word"):
            forged[f"{name}.{field}"][channel] = rounds
        forge(path, header, forged)
        with pytest.raises(ValueError, match="activations must be what a network of these"):
            mtcool.load(path)
    forge(path, header | {"setup": header["setup"] | {"field": None}}, arrays)
    with pytest.raises(ValueError, match="path must hold a network"):
        mtcool.load(path)
