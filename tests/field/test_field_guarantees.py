"""Bounds for networks in the field hold on runs made to break them, and some are not far away."""

import itertools

import networkx as nx
import numpy as np
import pytest

import mtcool
from mtcool import Delay, Delays, Messages, theory
from mtcool.learners import MTFTRL, MTFTRLKT

ROUNDS = 90
FREE = MTFTRL(free_last=True)  # else cliques that grow have no guarantee (`docs/bounds.md`)

GRADIENTS = {
    "one-sided": lambda t, agent, x, rng: axis(x, 1.0),
    "opposite": lambda t, agent, x, rng: axis(x, 1.0 if agent % 2 else -1.0),
    "turning": lambda t, agent, x, rng: axis(x, 1.0 if (t // 30 + agent) % 2 else -1.0),
    "adaptive": lambda t, agent, x, rng: x / np.linalg.norm(x) if x.any() else axis(x, 1.0),
    "random": lambda t, agent, x, rng: axis(x, rng.uniform(-1.0, 1.0)),
}

MESSAGES = {
    "always": Messages(),
    "every third": Messages(every=3),
    "half of the time": Messages(probability=0.5),
    "two at random": Messages(partners=2),
    "the two best": Messages(partners=2, choose="best"),
    "until the budget is spent": Messages(budget=60),
}

DELAYS = {
    "in time": Delays(),
    "late gradients": Delays(gradients=3),
    "late rows": Delays(rows=2),
    "overtaking": Delays(gradients=Delay(mean=4.0), rows=Delay(mean=2.0)),
    "lost": Delays(gradients=1, lost=0.2),
}


def axis(x, sign):
    return np.eye(len(x))[0] * sign


# --- what happens to the graph before a round ---------------------------------------------------


def still(run, t, agent, rng):
    return


def blinking(run, t, agent, rng):
    """An edge of the active agent comes or goes."""
    others = [name for name in run.graph if name != agent]
    if t % 3 == 0 and others:
        run.toggle(agent, others[rng.integers(len(others))])


def isolating(run, t, agent, rng):
    """The active agent loses all its neighbours just before its turn, and has them back later."""
    if t % 4 == 0:
        for other in list(run.graph[agent]):
            run.toggle(agent, other)
    else:
        missing = [name for name in run.graph if name != agent and name not in run.graph[agent]]
        for other in missing[:1]:
            run.toggle(agent, other)


def churning(run, t, agent, rng):
    """Agents that nobody knew join around the active one, and others leave: cliques double."""
    if t % 6 == 0:
        run.graph.add_edge(f"new {t}", agent)
        run.net.join(f"new {t}", [agent])
    others = [name for name in run.graph if name != agent]
    if t % 8 == 0 and len(others) > 2:
        gone = others[rng.integers(len(others))]
        run.graph.remove_node(gone)
        run.net.leave(gone)


CHANGES = {"still": still, "blinking": blinking, "isolating": isolating, "churning": churning}


class Run:
    """What a network played on one-dimensional tasks, by ask and tell."""

    def __init__(self, learner, kind, change, messages, delays, seed):
        rng = np.random.default_rng(seed)
        self.graph = nx.gnp_random_graph(5, 0.6, seed=seed)
        self.net = net = mtcool.mt_co2ol(
            self.graph,
            1,
            learner=learner,
            rates="adaptive",
            messages=messages,
            delays=delays,
            seed=seed,
        )
        self.played = []
        for t in range(ROUNDS):
            names = list(self.graph)
            agent = names[0] if kind == "turning" and t < 40 else names[rng.integers(len(names))]
            CHANGES[change](self, t, agent, rng)
            x, i = net.predict(agent), net.names.index(agent)
            g = GRADIENTS[kind](t, i, x, rng)
            net.update(agent, g)
            self.played.append((i, x[0], g[0]))

    def toggle(self, one, two):
        """Let an edge vanish that is there, or appear."""
        if self.graph.has_edge(one, two):
            self.graph.remove_edge(one, two)
            self.net.disconnect(one, two)
        else:
            self.graph.add_edge(one, two)
            self.net.connect(one, two)

    def comparators(self):
        """Best in hindsight, a common point, and in between."""
        totals = np.zeros(self.net.names.size)
        for i, _, g in self.played:
            totals[i] += g
        best, common = -np.sign(totals), np.full(len(totals), -np.sign(totals.sum()))
        return [(mix * best + (1.0 - mix) * common)[:, None] for mix in (0.0, 0.5, 1.0)]

    def regret(self, tasks):
        return sum(g * (x - tasks[i, 0]) for i, x, g in self.played)


def ratios(runs, bound):
    return [
        run.regret(tasks) / float(bound(run.net.received(), tasks))
        for run in runs
        for tasks in run.comparators()
    ]


def hedge_bound(received, tasks):
    bound = theory.changing(received, tasks, experts=FREE.variances, free_last=True)
    assert bound.covers_tasks
    return bound


def cases(delays):
    return itertools.product(GRADIENTS, CHANGES, MESSAGES.values(), delays)


def test_no_run_of_hedge_exceeds_its_bound_and_some_come_near():
    in_time = [Run(FREE, *case, seed) for seed, case in enumerate(cases([Delays()]))]
    late = [
        Run(FREE, kind, change, MESSAGES[said], DELAYS[law], seed)
        for seed, (kind, change, said, law) in enumerate(
            itertools.product(
                GRADIENTS, CHANGES, ("always", "two at random", "every third"), DELAYS
            )
        )
        if law != "in time"
    ]
    assert len(in_time) + len(late) == 360
    assert 0.05 < max(ratios(in_time, hedge_bound)) < 1.0
    assert 0.05 < max(ratios(late, hedge_bound)) < 1.0


def test_no_run_of_kt_exceeds_its_bound_and_some_come_near():
    runs = [
        Run(MTFTRLKT(), *case, seed)
        for seed, case in enumerate(itertools.chain(cases([Delays()]), cases([Delays()])))
    ]
    found = ratios(runs, theory.kt_changing)
    assert len(runs) == 240
    assert 0.05 < max(found) < 1.0


@pytest.mark.parametrize(("late", "rows"), [(0, 0), (1, 0), (5, 0), (0, 4), (3, 2)])
def test_rates_count_what_came_between_a_row_and_its_gradient(late, rows):
    """W is the sum of w^2 + 2 w D, D being the weight received in between (`docs/bounds.md`)."""
    delays = Delays(gradients=late, rows=rows)
    net = mtcool.mt_co2ol(nx.path_graph(2), 1, learner=FREE, rates="adaptive", delays=delays)
    came, total, squares = np.zeros(2), np.zeros(2), 0.0
    stamps, answers, under_way = {}, [], []
    for t in range(40):
        i, j = (t // 3) % 2, 1 - (t // 3) % 2
        net.update(i, [(-1.0) ** t])
        answers.append((t + rows, i, came[j]))
        if rows == 0:
            stamps[i] = came[j]
        weight = 0.5 if i in stamps else 1.0
        learned = [(i, weight, came[i])]
        if i in stamps:
            under_way.append((t + late, j, weight, stamps[i]))
        learned += [message[1:] for message in under_way if message[0] == t]
        for receiver, w, stamp in learned:
            total[receiver] += w**2 + 2.0 * w * (came[receiver] - stamp)
            came[receiver] += w
            squares += w**2
        stamps |= {who: stamp for due, who, stamp in answers if due == t}
    found = net.received()
    np.testing.assert_allclose(found.lagged, total, rtol=1e-12)
    assert (found.lagged.sum() > 1.2 * squares) == (late + rows > 0)


def test_doublings_and_rising_bounds_do_happen_in_the_bank():
    accounts = [
        Run(FREE, "random", change, Messages(), Delays(), 0).net.received()
        for change in ("churning", "isolating")
    ]
    assert accounts[0].doublings.max() >= 2
    assert (accounts[1].bound > accounts[1].first_bound).any()


@pytest.mark.parametrize(("bits", "near"), [(1, 0.01), (6, 0.05)])
def test_rounding_keeps_the_bound_on_average(bits, near):
    graph, dim, found, bounds = mtcool.graphs.complete(3), 3, [], []
    for seed in range(20):
        net = mtcool.mt_co2ol(
            graph, dim, learner=FREE, rates="adaptive", messages=Messages(bits=bits), seed=seed
        )
        paid, total = 0.0, np.zeros(dim)
        for t in range(100):
            x = net.predict(t % 3)
            g = np.eye(dim)[0] if t < 30 else -np.eye(dim)[0]
            net.update(t % 3, g)
            paid, total = paid + g @ x, total + g
        tasks = np.tile(-total / np.linalg.norm(total), (3, 1))
        found.append(paid + np.linalg.norm(total))
        bounds.append(float(hedge_bound(net.received(), tasks)))
    error = np.std(found) / np.sqrt(len(found))
    assert np.mean(found) + 4 * error < np.mean(bounds)
    assert np.mean(found) > near * np.mean(bounds)


@pytest.mark.parametrize("choose", ["best", "random"])
@pytest.mark.parametrize("late", [0, 3])
def test_what_is_rounded_late_and_of_chosen_partners_counts_with_its_largest_square(choose, late):
    """Who was chosen then depends on the rounding, and with it the rate at which it is learned."""
    messages = Messages(partners=1, choose=choose, bits=2)
    net = mtcool.mt_co2ol(
        nx.path_graph(3), 10, rates="adaptive", messages=messages, delays=Delays(gradients=late)
    )
    largest, mean = 1.0 + 2.0 * np.sqrt(10.0) / 3.0, 1.0 + 10.0 / 9.0
    expected = largest**2 if choose == "best" and late else mean
    assert net.received().power == pytest.approx(expected)
    for _ in range(5):
        net.update(0, np.eye(10)[0])
    found = net.received()
    assert found.squares[1] == pytest.approx(expected * 0.25 * found.updates[1])
