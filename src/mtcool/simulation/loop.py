"""The simulator's loops: the protocol over a whole stream, for every learner and every loss."""

import numpy as np
from numpy.typing import NDArray

from mtcool.changes.events import Events
from mtcool.kernels import kernel
from mtcool.peers.field.events import DONE, happen
from mtcool.peers.field.records import FieldPeers
from mtcool.peers.protocol import play_round
from mtcool.streams.losses import Losses, value
from mtcool.types import Floats, Integers, PeersBlock


@kernel
def play(
    peers: PeersBlock,
    losses: Losses,
    agents: Integers,
    comparator: Floats,
    x: Floats,
    first: int,
    last: int,
    activations: Integers,
    paid: Floats,
    regret: Floats,
    clipped: Integers,
    predictions: Floats,
    round_loss: Floats,
    round_regret: Floats,
) -> int:
    """Play the rounds first:last and add to the agents' totals; returns the next round.

    That is `last`, unless a gradient was refused. An empty comparator means none is given, and the
    single rounds are recorded unless the arrays for them are empty.
    """
    compare, record = comparator.shape[0] > 0, round_loss.shape[0] > 0
    for t in range(first, last):
        i, row = agents[t], losses.rows[t]
        loss, accepted, shortened = play_round(peers, i, losses.kind, row, x)
        if not accepted:
            return t
        activations[i] += 1
        paid[i] += loss
        clipped[i] += shortened
        if compare:
            more = loss - value(losses.kind, row, comparator[i])
            regret[i] += more
            if record:
                round_regret[t] = more
        if record:
            round_loss[t] = loss
            for k in range(x.shape[0]):
                predictions[t, k] = x[k]
    return last


@kernel
def play_on(
    peers: FieldPeers,
    first: int,
    last: int,
    events: Events,
    cursor: Integers,
    slow: NDArray[np.void],
    losses: Losses,
    agents: Integers,
    comparator: Floats,
    x: Floats,
    activations: Integers,
    paid: Floats,
    regret: Floats,
    clipped: Integers,
    predictions: Floats,
    round_loss: Floats,
    round_regret: Floats,
) -> tuple[int, int]:
    """As `play`, with the events that are due before each round.

    Returns the next round, and what an event before it lacks, or DONE.
    """
    t = first
    while True:
        while cursor[0] < events.time.shape[0] and events.time[cursor[0]] <= t:
            missing = happen(peers, events, cursor, slow)
            if missing != DONE:
                return t, missing
        goal = last
        if cursor[0] < events.time.shape[0]:
            goal = min(last, events.time[cursor[0]])
        t = play(
            peers,
            losses,
            agents,
            comparator,
            x,
            t,
            goal,
            activations,
            paid,
            regret,
            clipped,
            predictions,
            round_loss,
            round_regret,
        )
        if t < goal or goal == last:
            return t, DONE
