"""Networks that change, speak seldom, code their messages and are late, the obvious, slow way.

Written from the definitions alone: agents by their names in dictionaries, explicit matrices, a
plain queue of what is under way, draws with Python's integers. `FieldNetwork` plays MT-CO2OL; as in
`oracle`, but a clique has slots that agents are given, and rows are asked for and answered.
Gradients are at most `lipschitz` long. Weights that are given are positive on all edges and for
the own clique; they are known for every agent and edge that there will be.
"""

import heapq
import itertools
import math
from typing import NamedTuple

import numpy as np

from field_cliques import Clique
from field_messages import (
    DELAY_GRADIENT,
    DELAY_LABEL,
    DELAY_ROW,
    LOST_GRADIENT,
    LOST_ROW,
    PICK,
    ROUND_GRADIENT,
    ROUND_ROW,
    SPEAK,
    Bits,
    code_of,
    draw,
    plain_size,
)

# --- what travels -----------------------------------------------------------------------------


class Row(NamedTuple):
    """A row that an agent holds: of which of its rounds, and what its clique had received."""

    n: int
    point: np.ndarray
    stamp: float


class Answer(NamedTuple):
    """A row on its way from `sender` to `asker`."""

    asker: object
    sender: object
    row: Row
    lost: bool
    delay: int


class Lesson(NamedTuple):
    """A coded gradient on its way to a clique."""

    sender: object
    receiver: object
    gradient: np.ndarray
    weight: float
    stamp: float


class View(NamedTuple):
    """What an agent sees in a round: the rows that it averages, and their weights, by index."""

    agent: object
    n: int
    answers: list
    own: np.ndarray
    rows: dict
    weights: dict


def law_of(delay):
    """The law of a delay: a number of rounds, or a dictionary."""
    law = delay if isinstance(delay, dict) else {"constant": delay}
    return {"constant": 0, "mean": 0, "bandwidth": None, "edges": {}} | law


def may_be_late(law):
    longest = max([0, *law["edges"].values()])
    return law["constant"] > 0 or law["mean"] > 0 or law["bandwidth"] is not None or longest > 0


# --- networks ---------------------------------------------------------------------------------


class FieldNetwork:
    """MT-CO2OL on a network as it is.

    `graph` has the set of neighbours of each agent, `weights` the weight of each pair (agent,
    clique) or is None; `messages` and `delays` are the fields of those names; `size(kind, sender,
    content)` says how many bytes a "request", an "answer" or a "gradient" is.
    """

    def __init__(
        self,
        graph,
        dim,
        learner,
        weights=None,
        rates="adversarial",
        lipschitz=1.0,
        radius=1.0,
        messages=None,
        delays=None,
        seed=0,
        size=plain_size,
    ):
        self.dim, self.lipschitz, self.radius = dim, lipschitz, radius
        self.learner, self.weights, self.adaptive = learner, weights, rates == "adaptive"
        self.set_messages(**messages or {})
        self.set_delays(**delays or {})
        self.size = size
        self.seed = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])

        self.clock, self.sequence = 0, itertools.count()
        self.labels, self.post = [], []
        self.index = {name: place for place, name in enumerate(graph)}
        self.present, self.fresh = set(graph), set()
        self.edges = {frozenset((a, b)) for a in graph for b in graph[a]}
        self.begun = dict.fromkeys(graph, 0)
        self.messages, self.bytes, self.contents = ({} for _ in range(3))
        self.by_kind = {}
        self.scores, self.used, self.kept = {}, set(), {}
        self.cliques = {}
        for name in graph:
            self.meet(name)
        self.announce()

    def set_messages(
        self,
        every=1,
        probability=1.0,
        partners=None,
        choose="random",
        budget=None,
        budget_bytes=None,
        bits=None,
    ):
        self.every, self.probability = every, probability
        self.partners, self.choose = partners, choose
        self.budget, self.budget_bytes = budget, budget_bytes
        self.code = code_of(self.dim, bits)

    def set_delays(self, gradients=0, rows=0, labels=0, lost=0.0):
        laws = {"gradients": gradients, "rows": rows, "labels": labels}
        self.laws = {name: law_of(delay) for name, delay in laws.items()}
        self.lost = lost
        late = lost > 0 or any(map(may_be_late, self.laws.values()))
        self.power = self.code.kappa**2 if late and self.choose == "best" else self.code.power

    # Who is there.

    def neighbours(self, agent):
        others = (other for other in self.present if frozenset((agent, other)) in self.edges)
        return sorted((other for other in others if other != agent), key=self.index.get)

    def meet(self, agent):
        """An agent that was not known before: its clique, and its counters."""
        members = sorted([agent, *self.neighbours(agent)], key=self.index.get)
        self.cliques[agent] = Clique(members, self.dim, self.learner, self.adaptive)
        for counter in (self.messages, self.bytes, self.contents):
            counter[agent] = 0
        self.by_kind[agent] = {"request": 0, "answer": 0, "gradient": 0}

    def require(self, holds, sentence):
        if not holds:
            raise ValueError(sentence)

    def connect(self, a, b):
        self.require({a, b} <= self.present and a != b, f"{a} and {b} must be two who are here")
        self.require(frozenset((a, b)) not in self.edges, f"{a} and {b} must not be connected")
        self.link(a, b)
        self.announce()

    def disconnect(self, a, b):
        self.require(frozenset((a, b)) in self.edges, f"{a} and {b} must be connected")
        self.cut(a, b)
        self.announce()

    def join(self, agent, neighbours):
        neighbours = list(neighbours)
        self.require(agent not in self.present, f"{agent} must not be here")
        self.require(set(neighbours) <= self.present, f"{neighbours} must be here")
        self.require(len(set(neighbours)) == len(neighbours), f"{neighbours} must be distinct")
        self.index.setdefault(agent, len(self.index))
        self.present.add(agent)
        if self.begun.setdefault(agent, 0) == 0:
            self.fresh.add(agent)
        self.edges |= {frozenset((agent, other)) for other in neighbours}
        if agent not in self.cliques:
            self.meet(agent)
        for other in sorted(neighbours, key=self.index.get):
            self.link(agent, other)
        self.announce()

    def leave(self, agent):
        self.require(agent in self.present, f"{agent} must be here")
        self.require(len(self.present) > 1, f"{agent} must not be the last one")
        for other in self.neighbours(agent):
            self.cut(agent, other)
        self.present.remove(agent)
        self.announce()

    def link(self, a, b):
        self.edges.add(frozenset((a, b)))
        self.cliques[a].admit(b)
        self.cliques[b].admit(a)

    def cut(self, a, b):
        self.edges.remove(frozenset((a, b)))
        for pair in ((a, b), (b, a)):
            self.used.discard(pair)
            for kept in (self.scores, self.kept):
                kept.pop(pair, None)

    # Bounds on the weights.

    def announce(self):
        """Every clique hears the largest weights that the agents here may give it."""
        for agent in sorted(self.present, key=self.index.get):
            own, others = self.largest_weights(agent)
            self.cliques[agent].announce(own)
            for other, weight in others.items():
                self.cliques[other].announce(self.code.kappa * weight)

    def largest_weights(self, i):
        near = self.neighbours(i)
        k = len(near) if self.partners is None else min(self.partners, len(near))
        may_miss = may_be_late(self.laws["rows"]) or self.lost > 0
        budgets = (self.budget, self.budget_bytes)
        silent = self.every > 1 or self.probability < 1 or budgets != (None, None)
        if k == 0:
            return 1.0, {}
        if self.weights is None:
            own = 1.0 if silent or may_miss else 1 / (k + 1)
            if i in self.fresh:
                other = 1.0 if may_miss else 1 / k
            else:
                other = 0.5 if may_miss else 1 / (k + 1)
            return own, dict.fromkeys(near, other)
        some = k < len(near) or may_miss
        shares = self.round_weights(i, [i, *near])
        own = 1.0 if some or silent else shares[i]
        if i in self.fresh:
            alone = self.round_weights(i, near)
            return own, dict.fromkeys(near, 1.0) if some else alone
        if some:
            return own, {j: self.round_weights(i, [i, j])[j] for j in near}
        return own, {j: shares[j] for j in near}

    def round_weights(self, i, listened):
        """The weights of these cliques, given that they are all that i has a row of."""
        listened = sorted(listened, key=self.index.get)
        if self.weights is None:
            return dict.fromkeys(listened, 1 / len(listened))
        given = {j: w for (agent, j), w in self.weights.items() if agent == i and w > 0}
        total = 1.0 if set(given) == set(listened) else sum(given[j] for j in listened)
        return {j: given[j] / total for j in listened}

    # A round.

    def draw(self, kind, i, j, n, c=0):
        other = 0 if j is None else self.index[j]
        return draw(self.seed, kind, self.index[i], other, n, c)

    def delay(self, name, kind, i, j, n, size=0):
        law = self.laws[name]
        rounds = law["constant"] + law["edges"].get((i, j), law["edges"].get((j, i), 0))
        if law["bandwidth"] is not None:
            rounds += size / law["bandwidth"]
        return math.floor(rounds + law["mean"] * -math.log(1 - self.draw(kind, i, j, n)))

    def message_size(self, kind, sender):
        return self.size(kind, sender, 0 if kind == "request" else self.code.content)

    def pick(self, i, n):
        """The partners that i would choose."""
        near = self.neighbours(i)
        if self.partners is None or self.partners >= len(near):
            return near

        def first(j):
            best = self.choose == "best"
            score = self.scores.get((i, j), 0.0) if (i, j) in self.used else math.inf
            return (-score if best else 0.0, self.draw(PICK, i, j, n), self.index[j])

        return sorted(sorted(near, key=first)[: self.partners], key=self.index.get)

    def speaks(self, i, n, partners):
        if n % self.every != 0 or not self.draw(SPEAK, i, None, n) < self.probability:
            return False
        kinds = [("request", i), ("gradient", i)]
        sizes = [self.message_size(*kind) for j in partners for kind in [*kinds, ("answer", j)]]
        if self.budget is not None and self.messages[i] + len(sizes) > self.budget:
            return False
        return self.budget_bytes is None or self.bytes[i] + sum(sizes) <= self.budget_bytes

    def answer(self, i, j, n):
        """What j answers to i in round n of i."""
        clique = self.cliques[j]
        point = clique.row(i)
        if isinstance(self.code, Bits):
            point = self.code.coded(point, [self.draw(ROUND_ROW, i, j, n, c) for c in self.axes])
        lost = self.draw(LOST_ROW, i, j, n) < self.lost
        delay = self.delay("rows", DELAY_ROW, i, j, n, self.message_size("answer", j))
        return Answer(i, j, Row(n, point, clique.R), lost, delay)

    @property
    def axes(self):
        return range(self.dim)

    def view(self, i):
        """Steps 1 to 4, without a trace."""
        self.require(i in self.present, f"{i} must be here")
        n = self.begun[i]
        partners = self.pick(i, n)
        answers = [self.answer(i, j, n) for j in partners] if self.speaks(i, n, partners) else []
        own = Row(n, self.cliques[i].row(i), self.cliques[i].R)
        rows = {i: own}
        for answer in answers:
            row = self.kept.get((i, answer.sender))
            if not answer.lost and answer.delay == 0:
                row = answer.row
            if row is not None:
                rows[answer.sender] = row
        if i in self.fresh and len(rows) > 1:
            del rows[i]
        rows = {j: rows[j] for j in sorted(rows, key=self.index.get)}
        return View(i, n, answers, own.point, rows, self.round_weights(i, rows))

    def point(self, view):
        parts = (view.weights[j] * row.point for j, row in view.rows.items())
        return self.radius * sum(parts, np.zeros(self.dim))

    def predict(self, agent):
        """What the agent would predict now; nothing changes."""
        return self.point(self.view(agent))

    def begin(self, i):
        """Steps 1 to 4, with all that they leave behind."""
        view = self.view(i)
        self.begun[i] += 1
        self.fresh.discard(i)
        self.used |= {(i, j) for j in view.rows if j != i}
        for answer in view.answers:
            pair = (i, answer.sender)
            self.count("request", i, i)
            self.count("answer", i, answer.sender)
            if answer.lost:
                continue
            if answer.delay == 0:
                self.kept[pair] = answer.row
            else:
                self.send(self.clock + answer.delay, answer)
        for _ in [j for j in view.rows if j != i]:
            self.count("gradient", i, i)  # it will be sent, even if its label comes late
        return view

    def update(self, agent, gradient):
        """Ask and tell: a round whose label is there at once."""
        view = self.begin(agent)
        self.learn(view, np.asarray(gradient) / self.lipschitz, self.clock)
        self.end()

    def round(self, agent, gradient):
        """A round of a simulation: the prediction; `gradient` is a function of it."""
        view = self.begin(agent)
        prediction = self.point(view)
        told = np.asarray(gradient(prediction)) / self.lipschitz
        delay = self.delay("labels", DELAY_LABEL, agent, None, view.n)
        if delay == 0:
            self.learn(view, told, self.clock)
        else:
            heapq.heappush(self.labels, (self.clock + delay, self.clock, view, told))
        self.end()
        return prediction

    def learn(self, view, gradient, now):
        """Step 7, in the round `now`."""
        i = view.agent
        partners = [j for j in view.rows if j != i]
        for j in partners:
            if frozenset((i, j)) in self.edges:
                gain = gradient @ (view.own - view.rows[j].point)
                self.scores[i, j] = self.scores.get((i, j), 0.0) + gain
        for j, row in view.rows.items():
            if j == i:
                self.cliques[i].learn(i, gradient, view.weights[i], row.stamp, 1.0)
                continue
            coded = self.coded_gradient(i, j, view.n, gradient)
            if self.draw(LOST_GRADIENT, i, j, view.n) < self.lost:
                continue
            size = self.message_size("gradient", i)
            delay = self.delay("gradients", DELAY_GRADIENT, i, j, view.n, size)
            lesson = Lesson(i, j, coded, view.weights[j], row.stamp)
            if delay == 0:
                self.arrive(lesson)
            else:
                self.send(now + delay, lesson)

    def coded_gradient(self, i, j, n, gradient):
        if isinstance(self.code, Bits):
            uniforms = [self.draw(ROUND_GRADIENT, i, None, n, c) for c in self.axes]
            return self.code.coded(gradient, uniforms)
        return gradient

    def count(self, kind, agent, sender):
        """A message caused by an activation of the agent."""
        self.messages[agent] += 1
        self.by_kind[agent][kind] += 1
        self.bytes[agent] += self.message_size(kind, sender)
        self.contents[agent] += 0 if kind == "request" else self.code.content

    def send(self, due, message):
        heapq.heappush(self.post, (due, next(self.sequence), message))

    def arrive(self, message):
        if isinstance(message, Answer):
            pair = (message.asker, message.sender)
            known = self.kept.get(pair)
            newer = known is None or message.row.n > known.n
            if frozenset(pair) in self.edges and newer:
                self.kept[pair] = message.row
        elif message.receiver in self.present:
            _, receiver, gradient, weight, stamp = message
            clique = self.cliques[receiver]
            clique.learn(message.sender, gradient, weight, stamp, self.power)

    def end(self):
        """Step 8: labels that are due, then messages."""
        now, self.clock = self.clock, self.clock + 1
        while self.labels and self.labels[0][0] <= now:
            _, _, view, gradient = heapq.heappop(self.labels)
            if view.agent in self.present:
                self.learn(view, gradient, now)
        while self.post and self.post[0][0] <= now:
            self.arrive(heapq.heappop(self.post)[2])

    def records(self):
        """W, A, R, b, slots and doublings of every clique."""
        return {name: clique.record() for name, clique in self.cliques.items()}
