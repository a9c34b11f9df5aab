"""What the cliques of a form know: as in any saved network, but bounds may have risen."""

import numpy as np

from mtcool.axes import counted
from mtcool.learners.mt_ftrl_kt import MTFTRLKTState
from mtcool.learners.squared_weights import SquaredWeightsState
from mtcool.network.saved_states import check_fit, check_parts
from mtcool.network.saved_states.checks import SLACK, Saved, close, within
from mtcool.peers.field.records import Rules
from mtcool.types import AnyArray, Floats, Integers, State


def check_learner(
    fresh: State, arrays: Saved, cliques: AnyArray, used: Integers, rules: Rules
) -> None:
    """Refuse what cliques, fresh in `fresh`, could not know; its rates and coins are set.

    `used` says how many slots of each clique somebody has.
    """
    check_fit(fresh, arrays)
    bound = cliques["bound"]
    inner: State = getattr(fresh, "inner", fresh)
    saved = {name.rpartition(".")[2]: array for name, array in arrays.items()}
    numbers = saved.get("cliques", saved)
    if isinstance(fresh, SquaredWeightsState):
        squares, n = saved["received"], numbers["n"]
        # A gradient adds the square of its weight, more if it was coded, and more if it is late.
        lags = cliques["lags"]
        within("received", squares, lags / SLACK, SLACK * (n * rules.power * bound**2 + lags))
        inner.rate[:] = np.sqrt((bound**2 + squares) / (1.0 + n))
        close("rate", numbers["rate"], inner.rate, inner.rate)
    if isinstance(inner, MTFTRLKTState):
        slots = cliques["slots"] >> cliques["doublings"]
        roots = np.where(slots == 1, 1.0, np.sqrt(slots / 2.0))
        coin = np.divide(roots, bound, out=np.zeros_like(roots), where=bound > 0.0)
        close("coin", numbers["coin"], coin, coin)
        inner.cliques["coin"] = numbers["coin"]
    if "gradients" in saved:
        _check_vacant(saved["gradients"], cliques["slots"], used)
    check_parts(fresh, arrays, np.maximum(bound, 1.0))


def _check_vacant(gradients: Floats, slots: Integers, used: Integers) -> None:
    """Refuse sums in rows that nobody has yet."""
    vacant = counted(np.cumsum(slots) - slots + used, slots - used)
    within("gradients", gradients[vacant], 0.0, 0.0)
