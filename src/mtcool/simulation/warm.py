"""Compile everything ahead of time: for containers, fleets and continuous integration."""

import functools
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from mtcool import algorithms, graphs, streams, validation
from mtcool.agents import Agent, FieldAgent, FieldRow, Rows
from mtcool.changes import Schedule, leave
from mtcool.field import Messages
from mtcool.learners import FTRL, KT, MTFTRL, MTFTRLKT
from mtcool.learners.panel.fields import FILTERS, SAID
from mtcool.learners.panel.lessons import receive_lesson
from mtcool.learners.panel.play import play
from mtcool.learners.panel.state import make_panel
from mtcool.network import Network
from mtcool.privacy import AGGREGATORS, Aggregator, Privacy
from mtcool.privacy.aggregators.aggregator import Blocks
from mtcool.simulation.progress import progress_bar
from mtcool.simulation.simulate import simulate
from mtcool.simulation.workers import Call, parallel
from mtcool.types import Floats, Given, Label

ROUNDS = 2


def warm(workers: int = 1, *, progress: bool = False) -> int:
    """Compile every algorithm with every learner and loss of the package into the cache.

    Returns the number of combinations. What is in the cache already takes next to no time.
    """
    workers = validation.count("workers", workers)
    _small_kernels()
    _panel_kernels()
    combinations = [
        (make, losses) for make in _networks() for losses in _losses(make.keywords["dim"])
    ]
    jobs: Iterator[Call] = ((_play, combination, {}) for combination in combinations)
    with progress_bar("compile", len(combinations), progress) as advance:
        for _ in parallel(workers, return_as="generator_unordered", batch_size=1)(jobs):
            advance(1)
    return len(combinations)


def _small_kernels() -> None:
    """What graph parameters, weights and ledgers need besides the algorithms themselves."""
    graph = graphs.ring(5)
    graphs.greedy_independent_set(graph)
    graphs.greedy_dominating_set(graph)
    graphs.greedy_clique_cover(graph)
    for kind in AGGREGATORS.values():
        algorithms.dpmt_co2ol(graph, 1, _private(kind()), seed=0).ledger()


def _panel_kernels() -> None:
    """The learner of `mtcool.learn`, in a block and as agents."""
    one, lesson = np.arange(1), np.zeros((2 * FILTERS, 1))
    panel = make_panel(np.arange(2), one, 0, logistic=False, rows=False)
    play(panel, one, np.zeros((1, 0)), np.zeros(1), one, np.zeros((1, SAID)), np.zeros((1, 3)))
    receive_lesson(panel, 0, 0, lesson)


def _networks() -> list[functools.partial[Network]]:
    """Every combination of peers, learner and aggregator, the slowest to compile first."""
    graph = graphs.ring(3)
    private = functools.partial(algorithms.dpmt_co2ol, graph, seed=0)
    shared = functools.partial(algorithms.mt_co2ol, graph, on_excess="clip")
    single = functools.partial(algorithms.st_ftrl, graph, on_excess="clip")
    unknown = functools.partial(shared, rates="estimated", q_min=0.1, horizon=9)
    no_bound = {"lipschitz": "adaptive", "on_excess": "raise"}
    hedge = [
        *(functools.partial(private, privacy=_private(one)) for one in _one_of_each_state()),
        functools.partial(shared, learner=MTFTRL()),
        functools.partial(unknown, learner=MTFTRL()),
        functools.partial(shared, learner=MTFTRL(), rates="adaptive"),
        functools.partial(shared, learner=MTFTRL(), **no_bound),
    ]
    bounds: tuple[dict[str, str], ...] = ({}, no_bound)
    others = [
        *(
            functools.partial(shared, learner=learner, **bound)
            for learner in (MTFTRLKT(), FTRL(), KT())
            for bound in bounds
        ),
        *(
            functools.partial(single, learner=learner, **bound)
            for learner in (FTRL(), KT())
            for bound in bounds
        ),
        functools.partial(unknown, learner=MTFTRLKT()),
        functools.partial(shared, learner=MTFTRLKT(), rates="adaptive"),
    ]
    field = functools.partial(shared, messages=Messages(), rates="adaptive")
    # Hedge's experts have one solver for d = 1 and another one for the rest.
    return [
        *(functools.partial(make, dim=dim) for dim in (1, 2) for make in hedge),
        *(functools.partial(field, learner=MTFTRL(), dim=dim) for dim in (1, 2)),
        functools.partial(field, learner=MTFTRLKT(), dim=1),
        *(functools.partial(make, dim=1) for make in others),
    ]


def _private(aggregator: Aggregator) -> Privacy:
    """With Gaussian noise, which all aggregators can serve."""
    return Privacy(1.0, 9, delta=1e-6, aggregator=aggregator)


def _one_of_each_state() -> list[Aggregator]:
    """What is compiled for one aggregator serves all whose states have the same type."""
    blocks = Blocks(np.ones(1, np.int64), np.full(1, 9))
    kinds: dict[type, Aggregator] = {}
    for kind in AGGREGATORS.values():
        kinds.setdefault(type(kind().make_state(blocks, "gaussian")), kind())
    return list(kinds.values())


def _losses(dim: int) -> list[streams.Losses]:
    ones = np.ones((ROUNDS, dim))
    labelled = (streams.squared, streams.absolute, streams.logistic, streams.hinge)
    return [
        streams.quadratic(ones),
        streams.linear(ones),
        *(make(ones, np.ones(ROUNDS)) for make in labelled),
    ]


def _play(make: Callable[[], Network], losses: streams.Losses) -> None:
    """Do once what has a kernel of its own: ask, tell, simulate, play as agents, compare."""
    network, stream = make(), streams.Stream([0, 1], losses)
    _, loss = next(iter(stream))
    point = network.predict(0)
    gradient = loss(point)[1]
    shared = network.settings.algorithm.shares_losses
    network.update(0, loss.subgradient if shared else gradient)
    simulate(network, stream)
    if network.settings.algorithm.changing and network.settings.field is not None:
        network.join(3, [0])
        simulate(network, stream, changes=Schedule([leave(1, 3)]))
        _play_in_the_field(make, gradient)
    streams.best_in_hindsight(stream, radius=1.0)
    _play_as_agents(make().agents(), loss if shared else gradient)


def _play_as_agents(agents: Mapping[Label, Agent], told: Given) -> None:
    """One round of agent 0 with messages between agents, each a unit of its own."""
    activation = agents[0].activate()
    answers = ((to, agents[to].receive(request)) for to, request in activation.requests.items())
    activation.predict({to: rows for to, rows in answers if isinstance(rows, Rows | FieldRow)})
    for to, message in activation.learn(told).items():
        agents[to].receive(message)


def _play_in_the_field(make: Callable[..., Network], gradient: Floats) -> None:
    """What single agents need where messages are few or small, and neighbours come and go."""
    for messages in (Messages(partners=1, choose="best"), Messages(bits=8)):
        agents = make(messages=messages).agents()
        _play_as_agents(agents, gradient)
        agent = agents[0]
        if isinstance(agent, FieldAgent):
            agent.connect(3, 3)  # its clique has no row left
            for name in (1, 2):  # those that remain weigh more
                agent.disconnect(name)
