"""Cases for networks as they are: what hypothesis draws to compare the library with its twin.

A `Case` is plain data, and can be made into a network of either kind; its steps are rounds and
changes, each valid when its turn comes. The changes with their times are a schedule.
"""

import dataclasses

import numba
import numpy as np
import pytest
from hypothesis import strategies as st

from field_cliques import learner_of
from field_oracle import FieldNetwork

# Each learner is compiled anew for each kind of rates, in half a minute: so FTRL is not at all, and
# others meet one of them. Uncompiled all meet both (`field/test_uncompiled.py`).
PLAIN = ({"name": "FTRL"},) if numba.config.DISABLE_JIT else ()
CLOSED_FORMS = ({"name": "MTFTRLKT"}, {"name": "KT"}, *PLAIN)
HEDGES = (
    {"name": "MTFTRL"},
    {"name": "MTFTRL", "free_last": True},
    {"name": "MTFTRL", "experts": "geometric"},
    {"name": "MTFTRL", "experts": (0.0, 0.3, 2.0)},
    {"name": "MTFTRL", "experts": (0.2,)},
)
LEARNERS = CLOSED_FORMS + HEDGES
ALL_RATES = dict.fromkeys(("MTFTRL", "MTFTRLKT", "FTRL", "KT"), ("adversarial", "adaptive"))
SOME_RATES = {"MTFTRL": ("adaptive",), "MTFTRLKT": ("adaptive",), "KT": ("adversarial",)}
RATES = ALL_RATES if numba.config.DISABLE_JIT else SOME_RATES
only_uncompiled = pytest.mark.skipif(
    not numba.config.DISABLE_JIT, reason="it runs as Python, from `field/test_uncompiled.py`"
)
"""For networks that no other test plays: compiling one takes longer than playing it as Python."""
ROUNDS = 24
MOST = 8  # agents that are ever there


@dataclasses.dataclass(frozen=True)
class Case:
    """A network, and what happens on it.

    A step is ("round", agent, gradient), ("connect", a, b), ("disconnect", a, b), ("join", agent,
    neighbours) or ("leave", agent). Gradients are in the units of `lipschitz`.
    """

    graph: dict
    dim: int
    learner: dict
    weights: dict | None
    rates: str
    lipschitz: float
    radius: float
    messages: dict
    delays: dict
    seed: int
    steps: tuple

    def twin(self, **other):
        """The slow, obvious network; `other` replaces what the case says, or adds `size`."""
        names = ("graph", "dim", "weights", "rates", "lipschitz", "radius", "messages", "delays")
        given = {name: getattr(self, name) for name in (*names, "seed")}
        return FieldNetwork(**{"learner": learner_of(**self.learner), **given, **other})

    def rounds(self):
        """(agent, gradient) of every round."""
        return [step[1:] for step in self.steps if step[0] == "round"]

    def changes(self):
        """(time, change) of every change: it comes before the round of that number."""
        clock, schedule = 0, []
        for step in self.steps:
            if step[0] == "round":
                clock += 1
            else:
                schedule.append((clock, step))
        return schedule

    def play(self, net, after=None):
        """All steps on the twin, as a simulation; the predictions. `after(step)` comes after each.

        The gradients do not depend on the predictions.
        """
        predictions = []
        for step in self.steps:
            if step[0] == "round":
                predictions.append(net.round(step[1], lambda _, told=step[2]: told))
            else:
                change(net, step)
            if after is not None:
                after(step)
        return np.array(predictions).reshape(-1, self.dim)

    def tell(self, net, step):
        """One step by ask and tell, on the twin or on a network with the same methods."""
        if step[0] == "round":
            net.update(step[1], step[2])
        else:
            change(net, step)


def change(net, step):
    """Let a change happen, on any network with methods of these names."""
    getattr(net, step[0])(*step[1:])


@st.composite
def cases(
    draw,
    learners=LEARNERS,
    rates=RATES,
    rounds=ROUNDS,
    messages=True,
    delays=True,
    changes=True,
    sizes=False,
):
    """A case; `sizes` lets the bytes of messages matter (`budget_bytes`, `bandwidth`).

    `rates` are kinds of rates by the name of the learner. Weights of one's own are for graphs that
    do not change.
    """
    learner = draw(st.sampled_from(learners))
    # Hedge has a solver of its own for d = 1, and the other one is compiled for no network here.
    hedge = learner["name"] == "MTFTRL" and not numba.config.DISABLE_JIT
    dim = 1 if hedge else draw(st.integers(1, 3))
    names = draw(st.sampled_from(["numbers", "words"]))
    label = (lambda k: k) if names == "numbers" else (lambda k: f"agent {k}")
    size = draw(st.integers(2, 6))
    agents = [label(k) for k in range(size)]
    pairs = [(a, b) for k, a in enumerate(agents) for b in agents[k + 1 :]]
    missing = draw(st.sets(st.sampled_from(pairs)))
    edges = {pair for a, b in pairs if (a, b) not in missing for pair in ((a, b), (b, a))}
    graph = {a: {b for b in agents if (a, b) in edges} for a in agents}
    said = draw(message_options(sizes)) if messages else {}
    lipschitz = draw(st.sampled_from([0.25, 1.0, 3.0]))
    weights = None if changes else draw(st.none() | matrices(graph))
    return Case(
        graph=graph,
        dim=dim,
        learner=learner,
        weights=weights,
        rates=draw(st.sampled_from(rates[learner["name"]])),
        lipschitz=lipschitz,
        radius=draw(st.sampled_from([0.5, 1.0, 10.0])),
        messages=said,
        delays=draw(delay_options(graph, sizes)) if delays else {},
        seed=draw(st.integers(0, 2**32 - 1)),
        steps=draw(schedules(graph, dim, lipschitz, rounds, changes, label)),
    )


@st.composite
def matrices(draw, graph):
    """Positive weights of each agent for its closed neighbourhood, of sum one."""
    weights = {}
    for agent, near in graph.items():
        around = [other for other in graph if other == agent or other in near]
        parts = [draw(st.sampled_from([0.1, 1.0, 2.0])) for _ in around]
        weights |= {(agent, j): part / sum(parts) for j, part in zip(around, parts, strict=True)}
    return weights


def some(options):
    """Some of these strategies, as a dictionary of what they draw."""
    return st.fixed_dictionaries({}, optional=options)


@st.composite
def message_options(draw, sizes):
    """The fields of `Messages`."""
    options = {
        "every": st.integers(1, 3),
        "probability": st.sampled_from([0.3, 0.8, 1.0]),
        "partners": st.integers(1, 3),
        "choose": st.sampled_from(["random", "best"]),
        "budget": st.integers(1, 40),
    }
    if sizes:
        options["budget_bytes"] = st.integers(1, 1500)
    said = draw(some(options))
    if "partners" not in said:
        said.pop("choose", None)
    bits = draw(st.none() | st.sampled_from([1, 2, 3, 8, 52]))
    return said if bits is None else said | {"bits": bits}


@st.composite
def laws(draw, edges, sizes):
    """A number of rounds, or the fields of `Delay`. What may be late is late now and then."""
    if draw(st.booleans()):
        return draw(st.integers(0, 3))
    options = {"constant": st.integers(0, 2), "mean": st.sampled_from([0.5, 2.0])}
    if edges:  # both directions of an edge are as slow
        options["edges"] = st.dictionaries(st.sampled_from(edges), st.integers(1, 3)).map(
            lambda slow: slow | {(b, a): rounds for (a, b), rounds in slow.items()}
        )
    if sizes:
        options["bandwidth"] = st.sampled_from([7.0, 20.0])
    return draw(some(options))


@st.composite
def delay_options(draw, graph, sizes):
    """The fields of `Delays`."""
    edges = sorted({edge(a, b) for a in graph for b in graph[a]})
    options = {"gradients": laws(edges, sizes), "labels": laws([], False)}
    options |= {"rows": laws(edges, sizes), "lost": st.sampled_from([0.0, 0.2, 0.7])}
    return draw(some(options))


def edge(a, b):
    """The same for (a, b) and (b, a)."""
    return tuple(sorted((a, b)))


class Sketch:
    """Who is there and who is connected, as changes are drawn."""

    def __init__(self, graph, label):
        self.known, self.present = list(graph), list(graph)
        self.edges = {edge(a, b) for a in graph for b in graph[a]}
        self.label = label

    def options(self):
        """What each kind of change may be about."""
        here = self.present
        pairs = {edge(a, b) for a in here for b in here if a != b}
        away = [agent for agent in self.known if agent not in here]
        new = len(self.known) < MOST
        return {
            "connect": pairs - self.edges,
            "disconnect": self.edges,
            "join": [*away, *([self.label(len(self.known))] if new else [])],
            "leave": here if len(here) > 1 else [],
        }

    def change(self, draw):
        """One change that is valid now, and happens here; None if there is none."""
        options = {kind: about for kind, about in self.options().items() if about}
        if not options:
            return None
        kind = draw(st.sampled_from(list(options)))
        about = draw(st.sampled_from(sorted(options[kind])))
        if kind in ("connect", "disconnect"):
            self.edges ^= {about}
            return (kind, *about)
        if kind == "leave":
            self.present.remove(about)
            self.edges = {pair for pair in self.edges if about not in pair}
            return (kind, about)
        far = draw(st.sets(st.sampled_from(self.present)))
        near = [j for j in self.present if j not in far]
        self.known += [about] if about not in self.known else []
        self.present.append(about)
        self.edges |= {edge(about, j) for j in near}
        return (kind, about, tuple(near))


@st.composite
def schedules(draw, graph, dim, lipschitz, rounds, changes, label):
    """Rounds with changes in between."""
    sketch, steps = Sketch(graph, label), []
    number = max(draw(st.integers(1, rounds)) for _ in range(2))
    kind = draw(st.sampled_from(["any", "push", "tiny"]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    for gradient in gradients(number, dim, kind, rng):
        while changes and draw(st.integers(0, 3)) == 3:
            steps.append(sketch.change(draw))
        steps.append(("round", draw(st.sampled_from(sketch.present)), lipschitz * gradient))
    return tuple(step for step in steps if step is not None)


def gradients(number, dim, kind, rng):
    """Vectors of length at most one: "push" drives rows onto the ball, some others are zero."""
    vectors = rng.standard_normal((number, dim))
    if kind == "push":
        vectors = np.abs(vectors) + 0.3
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    if kind != "push":
        vectors *= rng.random((number, 1)) * (1.0 if kind == "any" else 1e-3)
        vectors[rng.random(number) < 0.1] = 0.0
    return vectors
