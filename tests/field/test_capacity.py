"""Room for changes is made where it is needed, once for a schedule, and one array at a time."""

import networkx as nx
import numpy as np
import pytest

import mtcool
from field_cases import RATES, only_uncompiled
from mtcool.changes import Schedule, connect, disconnect, join, leave
from mtcool.learners import FTRL, KT, MTFTRL, MTFTRLKT
from mtcool.peers.field.capacity import Need, enlarge, growing
from mtcool.peers.field.exchange import FieldExchange

LEARNERS = [MTFTRLKT(), MTFTRL(), FTRL(), KT()]
CASES = [
    (learner, rates) for learner in LEARNERS for rates in RATES.get(type(learner).__name__, ())
]
every_learner = pytest.mark.parametrize(("learner", "rates"), CASES)


def made(learner=LEARNERS[1], rates="adaptive", size=8):
    return mtcool.mt_co2ol(mtcool.graphs.ring(size), 1, learner=learner, rates=rates)


def arrays(state):
    for value in state:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, tuple):
            yield from arrays(value)


def playing(net, rounds, seed=0):
    """Predictions of random agents who are there, who learn as well."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(rounds):
        agent = net.graph.labels[rng.integers(net.graph.size)]
        found.append(net.predict(agent)[0])
        net.update(agent, [rng.uniform(-1.0, 1.0)])
    return found


def test_a_first_change_copies_nothing_that_was_learned():
    net = made()
    playing(net, 20)
    before = net.peers.state.inner
    net.disconnect(0, 1)
    after = net.peers.state.learner.inner
    assert after.gradients is before.gradients
    assert after.cliques is before.cliques


def test_edges_that_come_back_need_no_room():
    net = made()
    net.disconnect(0, 1)
    before = net.peers.state
    net.connect(0, 1)
    for old, new in zip(arrays(before.learner), arrays(net.peers.state.learner), strict=True):
        assert old is new or old.base is new.base
    assert all(old is new for old, new in zip(before.edges, net.peers.state.edges, strict=True))


@every_learner
def test_room_for_a_schedule_is_made_before_its_first_round(learner, rates, monkeypatch):
    def refuse(exchange, events, cursor, missing):
        raise AssertionError("a change lacked room")

    monkeypatch.setattr(FieldExchange, "make_room_for", refuse)
    net = made(learner, rates)
    newcomers = [
        join(t, f"new {t}", [0, t % 8, *([f"new {t - 1}"] if t > 1 else [])]) for t in range(1, 8)
    ]
    schedule = Schedule(
        [
            *newcomers,
            connect(8, 1, 4),
            disconnect(8, 1, 4),
            connect(8, 1, 4),
            leave(9, 3),
            leave(9, "new 2"),
            join(10, 3, [5, 6, 7]),
            join(10, "alone"),
            connect(11, "alone", 0),
        ]
    )
    labels = schedule.agents(net.graph)
    stream = mtcool.Stream([0] * 12, mtcool.streams.linear(np.ones((12, 1))), labels=labels)
    most = net.graph.neighbourhood_sizes.max()
    mtcool.simulate(net, stream, changes=schedule)
    assert net.graph.neighbourhood_sizes.max() > 2 * most


@every_learner
def test_peers_that_have_grown_by_halves_play_as_before(learner, rates):
    need = Need(agents=99, entries=99, rows=999, experts=999, neighbours=50, sizes=(6, 12, 24),
                messages=9, labels=9)  # fmt: skip
    plain, net = made(learner, rates), made(learner, rates)
    for one in (plain, net):
        one.connect(0, 4)
        playing(one, 10)
    steps = len(list(growing(net.peers, net.settings, need)))
    for step in range(steps):
        # The next step begins with what the last one left, as after Ctrl-C.
        for _, larger in zip(range(step + 1), growing(net.peers, net.settings, need), strict=False):
            net.exchange.peers = larger
        for one in (plain, net):
            one.join(f"new {step}", [0, 2])
        assert playing(net, 10, step) == playing(plain, 10, step)


@only_uncompiled
def test_room_is_made_one_array_at_a_time():
    net = made(MTFTRLKT(), "adversarial", size=50)
    net.connect(0, 2)
    need = Need(agents=10**4, entries=10**4, rows=10**4)
    before, new = net.peers, []
    for larger in growing(before, net.settings, need):
        old = {id(array) for array in arrays(before)}
        fresh = [array for array in arrays(larger) if id(array) not in old]
        new.append([array for array in fresh if array.base is None and array.nbytes > 10**4])
        before = larger
    assert max(map(len, new)) <= 2  # the numbers of cliques and their sums
    assert sum(map(len, new)) >= 6


def test_single_changes_seldom_make_room():
    net, copied = made(size=50), 0
    for k in range(200):
        before = net.peers.state.learner.inner.gradients if k else None
        net.join(f"new {k}", [k % 50])
        copied += net.peers.state.learner.inner.gradients is not before
    assert copied < 12


def test_enlarged_peers_keep_what_is_long_enough():
    net = made()
    net.connect(0, 2)
    same = enlarge(net.peers, net.settings, Need())
    assert all(old is new for old, new in zip(net.peers.state.edges, same.state.edges, strict=True))
    assert same.state.agents is net.peers.state.agents
    assert same.state.learner.inner.gradients is net.peers.state.learner.inner.gradients


def test_a_network_of_a_path_grows_to_a_star_with_the_same_numbers_by_schedule_and_by_hand():
    graph = nx.path_graph(4)
    schedule = Schedule([join(t, t + 4, [0]) for t in range(1, 9)])
    agents = [t % 4 for t in range(12)]
    gradients = np.random.default_rng(0).uniform(-1.0, 1.0, (12, 1))
    stream = mtcool.Stream(agents, mtcool.streams.linear(gradients), labels=schedule.agents(graph))
    one, two = (mtcool.mt_co2ol(graph, 1, learner=MTFTRLKT(), rates="adaptive") for _ in range(2))
    trace, found = mtcool.simulate(one, stream, changes=schedule, per_round=True), []
    for t, agent in enumerate(agents):
        if 1 <= t < 9:
            two.join(t + 4, [0])
        found.append(two.predict(agent)[0])
        two.update(agent, gradients[t])
    assert trace.predictions[:, 0].tolist() == found
