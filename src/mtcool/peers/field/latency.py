"""How long the messages of a round take, for all partners at once: loops without branches."""

import math

import numpy as np

from mtcool.field.draws import draw_all
from mtcool.kernels import inline
from mtcool.peers.field.queue import FOREVER, NEVER
from mtcool.peers.field.records import RoundScratch


@inline
def find_waits(
    work: RoundScratch,
    count: int,
    mean: float,
    lost: float,
    seed: np.uint64,
    kinds: tuple[int, int],
    i: int,
    n: int,
) -> None:
    """Write whole rounds into `waits` as `delay` gives them; -1 for a message that is lost.

    The constants are in `keys`, and who is asked in `others`. `kinds` are those of the two draws.
    """
    if mean > 0.0:
        draw_all(seed, kinds[0], i, work.others, n, count, work.draws)
        for k in range(count):
            work.keys[k] -= mean * math.log(1.0 - work.draws[k])
    for k in range(count):
        work.waits[k] = math.floor(min(work.keys[k], FOREVER))
    if lost > 0.0:
        draw_all(seed, kinds[1], i, work.others, n, count, work.draws)
        for k in range(count):
            if work.draws[k] < lost:
                work.waits[k] = NEVER
