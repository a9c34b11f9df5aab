"""The floor of Hedge: the least arithmetic for an expert in closed form, on arrays in L1.

Two multiplications (eta and the cap on its deviation), a minimum, and three multiply-adds: two for
its loss, one for its share in the prediction. No exponential, no sum that waits for itself.
"""

from typing import Any

import numpy as np

from benchmarks.timing import Run
from mtcool.kernels import kernel


def floor_run(experts: int, evaluations: int) -> Run:
    """As many evaluations, in sweeps over the experts of one clique."""
    pull, cap, loss, share = np.ones((4, experts))
    sweeps = evaluations // experts
    return lambda: _sweep(pull, cap, loss, share, sweeps)


@kernel
def _sweep(pull: Any, cap: Any, loss: Any, share: Any, sweeps: int) -> None:
    for sweep in range(sweeps):
        # What differs from one update to the next, so that no sweep can be skipped.
        unit, inverse, on_mean, on_row = 1.0 / (1.0 + sweep), 0.5, 1e-6, -1e-6
        for e in range(pull.shape[0]):
            eta, capped = unit * pull[e], cap[e] * inverse
            shrink = eta if eta < capped else capped
            loss[e] = loss[e] + eta * on_mean + shrink * on_row
            share[e] = shrink + eta * loss[e]
