"""The simulator's loop: the protocol over a whole stream, for every learner and every loss."""

from mtcool.kernels import kernel
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
