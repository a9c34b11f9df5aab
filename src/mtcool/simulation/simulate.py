"""Play a stream through a network at the speed of the machine."""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from operator import ne
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from mtcool import memory, validation
from mtcool.changes import Schedule
from mtcool.kernels import CompileError
from mtcool.network.network import Network
from mtcool.peers.exchange import Names
from mtcool.peers.protocol import count_clipped
from mtcool.simulation.changing import PlayedChanges, check_places, check_present
from mtcool.simulation.communication import Counting
from mtcool.simulation.loop import play
from mtcool.simulation.progress import Advance, progress_bar
from mtcool.simulation.trace import Trace
from mtcool.streams import Stream, check_loss
from mtcool.streams.by_number import by_number
from mtcool.streams.kinds import is_own
from mtcool.streams.loss import loss_of
from mtcool.types import Floats, Integers

CHUNK_SECONDS = 0.1  # rounds between two looks at the clock double while they take less than this


def simulate(
    network: Network,
    stream: Stream,
    *,
    changes: Schedule | None = None,
    times: ArrayLike | None = None,
    comparator: ArrayLike | None = None,
    per_agent: bool = False,
    per_round: bool = False,
    progress: bool = False,
) -> Trace:
    """Play all rounds of `stream`, with the same code and the same numbers as `predict`/`update`.

    The network learns: it starts from its present state and ends in the state after the stream. If
    a gradient is refused, the network has learned the rounds before it. The agents of a labelled
    stream are found by name, in any order; agents that it does not name are never active. Other
    threads that use the network wait until the stream has been played.

    Parameters
    ----------
    network
        The network that learns, made by `mtcool.mt_co2ol` or another algorithm.
    stream
        Active agents and their losses; its dimension is that of the network.
    changes
        A schedule of changes of the graph (`mtcool.changes`), whose times count the rounds of this
        stream. An agent that joins may be active from then on.
    times
        Numbers of rounds after which to record, ascending; by default 100 of them up to the end.
    comparator
        Tasks to measure the regret against, (agents, dim), in the order of the stream's labels; by
        default the stream's own.
    per_agent
        Record the agents' totals at every time, not only at the end.
    per_round
        Record every round: the active agent, its prediction, its loss and its regret.
    progress
        Show a progress bar.

    Examples
    --------
    >>> import mtcool
    >>> graph = mtcool.graphs.ring(5)
    >>> tasks = mtcool.streams.gaussian_tasks(graph, dim=1, smoothness=10.0, seed=0)
    >>> stream = mtcool.streams.quadratic_stream(graph, tasks, rounds=1000, seed=1)
    >>> net = mtcool.mt_co2ol(graph, dim=1, lipschitz=stream.lipschitz(radius=1.0))
    >>> trace = mtcool.simulate(net, stream, times=[10, 1000])
    >>> trace.times, int(trace.messages[-1])
    (array([  10, 1000]), 6000)
    """
    _check_types(network, stream)
    with network.turn.lock:  # what is checked must still be true when it is played
        return _simulated(
            network, stream, changes, times, comparator, per_agent, per_round, progress
        )


def _simulated(
    network: Network,
    stream: Stream,
    changes: Schedule | None,
    times: ArrayLike | None,
    comparator: ArrayLike | None,
    per_agent: bool,
    per_round: bool,
    progress: bool,
) -> Trace:
    """`simulate`, while no other thread uses the network."""
    marks = _times(times, len(stream))
    network.exchange.finish()
    coming = None if changes is None else PlayedChanges(network, changes)
    names = network.names if coming is None else coming.names
    nodes = _nodes(network, names, stream)
    size, rounds = names.size, len(stream) if per_round else 0
    tasks = _comparator(comparator, stream, size, nodes)
    if nodes is not None:
        stream = Stream(nodes[stream.agents], stream.losses, labels=names.labels)
    check_present(network, names, coming, stream.agents)
    if not is_own(stream.losses.kind):
        check_loss(stream.losses, network.settings.radius)
    if per_agent:
        memory.require("times", f"{len(marks):,}", 48 * len(marks) * size)
    if per_round:
        memory.require("per_round", True, rounds * 8 * (stream.dim + 2), f" for {rounds:,} rounds")
    totals, every = _Totals.of(size), _Rounds.of(rounds, stream.dim)
    agents = _Totals.of((len(marks) if per_agent else 1, size))
    loss, regret = np.zeros(len(marks)), np.zeros(len(marks))
    clipped = np.zeros(len(marks), np.int64)
    if coming is not None:
        coming.register()
    # Before anything is learned: it may refuse.
    counting = Counting(network, stream, marks, per_agent)
    with progress_bar("simulate", len(stream), progress) as advance:
        network.exchange.check(stream.agents)
        network.exchange.provide(
            stream.agents[:0]
        )  # a forked process is refused before the first round
        done, chunk = 0, 1
        for k, mark in enumerate((*marks.tolist(), len(stream))):
            while done < mark:
                goal = mark if coming is None else min(mark, coming.until(done))
                chunk = _advance(
                    network, stream, tasks, coming, done, goal, totals, every, chunk, advance
                )
                done = goal
            if k < len(marks):
                counting.mark(k)
                loss[k], regret[k] = totals.loss.sum(), totals.regret.sum()
                clipped[k] = totals.clipped.sum()
            if k < len(marks) or not per_agent:
                for recorded, current in zip(agents, totals, strict=True):
                    recorded[k if per_agent else 0] = current
        if not per_agent:
            counting.finish()
    if not per_agent:
        agents = _Totals(*(recorded[0] for recorded in agents))
    compared = tasks.shape[0] > 0
    messages, message_bytes = counting.totals
    agent_messages, agent_bytes = counting.of_agents(agents.activations)
    return Trace(
        times=marks,
        loss=loss,
        regret=regret if compared else None,
        messages=messages,
        message_bytes=message_bytes,
        clipped=clipped,
        agents=names.labels,
        agent_activations=agents.activations,
        agent_loss=agents.loss,
        agent_regret=agents.regret if compared else None,
        agent_clipped=agents.clipped,
        agent_messages=agent_messages,
        agent_bytes=agent_bytes,
        round_agents=stream.agents.copy() if per_round else None,
        predictions=every.predictions if per_round else None,
        round_loss=every.loss if per_round else None,
        round_regret=every.regret if per_round and compared else None,
    )


class _Totals(NamedTuple):
    """Running totals of the agents."""

    activations: Integers
    loss: Floats
    regret: Floats
    clipped: Integers

    @classmethod
    def of(cls, shape: int | tuple[int, int]) -> _Totals:
        return cls(
            np.zeros(shape, np.int64), np.zeros(shape), np.zeros(shape), np.zeros(shape, np.int64)
        )


class _Rounds(NamedTuple):
    """Single rounds, or empty arrays if they are not asked for."""

    predictions: Floats
    loss: Floats
    regret: Floats

    @classmethod
    def of(cls, rounds: int, dim: int) -> _Rounds:
        return cls(np.zeros((rounds, dim)), np.zeros(rounds), np.zeros(rounds))


def _advance(
    network: Network,
    stream: Stream,
    tasks: Floats,
    coming: PlayedChanges | None,
    first: int,
    last: int,
    totals: _Totals,
    every: _Rounds,
    chunk: int,
    advance: Advance,
) -> int:
    """Play the rounds first:last in chunks, so that progress shows and Ctrl-C works.

    Returns the size of the next chunk.
    """
    losses = stream.losses
    if network.settings.field is not None:
        losses = by_number(losses)  # its rounds are much code
    while first < last:
        if network.is_slow:
            _play_one_round(network, stream, tasks, first, totals, every)
            advance(1)
            first += 1
            continue
        goal = min(first + chunk, last)
        given = losses, stream.agents, tasks, np.empty(stream.dim)
        try:
            goal = first + network.exchange.provide(stream.agents[first:goal])
            began = time.perf_counter()
            if coming is None:
                stop = play(network.peers, *given, first, goal, *totals, *every)
            else:
                stop = coming.play(first, goal, given, (*totals, *every))
        except CompileError as error:
            raise network.blamed(error) from None
        finally:
            network.exchange.settle()
        if stop < goal:
            _refuse(network, stream, stop)
        if goal - first == chunk and time.perf_counter() - began < CHUNK_SECONDS:
            chunk *= 2
        advance(goal - first)
        first = goal
    return chunk


def _play_one_round(
    network: Network, stream: Stream, tasks: Floats, t: int, totals: _Totals, every: _Rounds
) -> None:
    """Play a round by ask and tell, if it may take so long that Ctrl-C must work inside it."""
    i, loss = int(stream.agents[t]), loss_of(stream.losses, t)
    label = network.names.labels[i]
    x = network.predict(label)
    paid, gradient = loss(x)
    seen: list[Floats] = []

    def gradient_at(point: Floats) -> Floats:
        seen.append(loss.subgradient(point))
        return seen[-1]

    try:
        if network.settings.algorithm.shares_losses:
            network.update(label, gradient_at)
        else:
            network.update(label, gradient)
            seen.append(gradient)
    except ValueError as error:
        _refuse(network, stream, t, error)
    totals.activations[i] += 1
    totals.loss[i] += paid
    totals.clipped[i] += count_clipped(np.array(seen), network.peers.units)
    more = paid - loss.value(tasks[i]) if len(tasks) > 0 else 0.0
    totals.regret[i] += more
    if len(every.loss) > 0:
        every.predictions[t], every.loss[t], every.regret[t] = x, paid, more


def _refuse(network: Network, stream: Stream, t: int, cause: ValueError | None = None) -> NoReturn:
    label, settings = network.names.labels[stream.agents[t]], network.settings
    what, advice = "not finite", ""
    if settings.adaptive:
        what = "too long to be measured or not finite"
    elif settings.on_excess != "clip":
        what = f"not finite or longer than lipschitz = {settings.lipschitz}"
        advice = '. Give a larger lipschitz, or ask for on_excess="clip"'
    raise ValueError(
        f"stream has a gradient in round {t} of agent {label!r} that is {what}; the network holds "
        f"the {t} rounds before it{advice}"
    ) from cause


def _check_types(network: Network, stream: Stream) -> None:
    if not isinstance(network, Network):
        raise ValueError(f"network must be a Network, got {network!r}")
    if not isinstance(stream, Stream):
        raise ValueError(f"stream must be a Stream, got {stream!r}")


def _nodes(network: Network, names: Names, stream: Stream) -> Integers | None:
    """The network's node of each label of the stream; None if the stream is in node order."""
    if stream.dim != network.settings.dim:
        raise ValueError(f"stream must have dim {network.settings.dim}, got {stream.dim}")
    ours, theirs = names.labels, stream.labels
    same = len(ours) == len(theirs) and (ours == theirs or not any(map(ne, ours, theirs)))
    nodes = None if same or not stream.named else np.array([_node(names, k) for k in theirs])
    if not stream.named:
        check_places(network)
    if not (same or stream.named):
        _check_unnamed(ours, theirs)
    # Its arrays can be written to, and the compiled code trusts them.
    most = len(ours if nodes is None else nodes)
    strange = stream.agents[(stream.agents < 0) | (stream.agents >= most)]
    if strange.size:
        raise ValueError(f"stream must have agents from 0 to {most - 1}, got {strange[0]}")
    return nodes


def _node(names: Names, label: Hashable) -> int:
    try:
        return names.index(label)
    except ValueError:
        raise ValueError(
            f"stream must name agents of the network only, got {label!r}, which is none of its "
            f"{names.size}"
        ) from None


def _check_unnamed(ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> None:
    """Check an unlabelled stream, whose agents are node indices.

    An index must not be the name of another agent: `predict` and `update` would take it for that.
    """
    if len(theirs) > len(ours):
        raise ValueError(
            f"stream must be labelled with the network's {len(ours)} agents, or be unlabelled with "
            f"at most {len(ours)} agents, got {len(theirs)} agents"
        )
    if ours != range(len(ours)) and any(label in theirs for label in ours):
        raise ValueError(
            f"stream must be labelled with the network's {len(ours)} agents, because 0, 1, ... "
            "could be their names or their positions, which differ, got no labels"
        )


def _times(times: ArrayLike | None, rounds: int) -> Integers:
    if times is None:
        return np.unique(np.ceil(np.linspace(0, rounds, 101)[1:]).astype(np.int64))
    marks = np.atleast_1d(validation.numbers("times", times))
    if marks.ndim != 1 or (marks != marks.round()).any():
        raise ValueError(f"times must be whole numbers of rounds, got {times!r}")
    if len(marks) == 0 or (np.diff(marks) <= 0).any() or marks[0] < 0 or marks[-1] > rounds:
        raise ValueError(f"times must ascend and lie between 0 and {rounds}, got {times!r}")
    return marks.astype(np.int64)


def _comparator(
    comparator: ArrayLike | None, stream: Stream, agents: int, nodes: Integers | None
) -> Floats:
    """The tasks in node order, zero for agents that the stream does not name."""
    given = stream.comparator if comparator is None else comparator
    if given is None:
        return np.zeros((0, stream.dim))
    if nodes is None:
        return validation.matrix("comparator", given, (agents, stream.dim))
    tasks = np.zeros((agents, stream.dim))
    tasks[nodes] = validation.matrix("comparator", given, (len(nodes), stream.dim))
    return tasks
