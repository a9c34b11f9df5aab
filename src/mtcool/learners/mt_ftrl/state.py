"""The state of MT-FTRL with Hedge, for the cliques of all agents together.

The numbers of a clique lie side by side in a record, and those of the experts in the rows of one
array: few arrays, because each of them costs time whenever compiled code is called or compiled.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mtcool.axes import CLIQUE, EXPERT, RECORD, ROW, Location, Span, set_axes, spans
from mtcool.learners.solvers.line import LineScratch
from mtcool.learners.solvers.sweep import SolverScratch
from mtcool.types import Floats, Integers

# What a clique is made of. It never changes, and is not saved.
PLAN = np.dtype(
    [
        ("first", np.int64),  # its first row
        ("size", np.int64),  # N, the number of its rows
        ("expert", np.int64),  # its first expert
        ("experts", np.int64),  # K, the number of its experts
        ("table", np.int64),  # where the experts of a clique of this size begin in `table`
        ("focus", np.float64),  # sqrt(ln K)
    ]
)

# What a clique knows. `unit` and `inverse` are those of the last update.
CLIQUE_RECORD = np.dtype(
    [
        ("n", np.int64),  # number of updates received
        ("clipped", np.int64),  # number of experts with a row on the ball
        ("rate", np.float64),  # factor of beta
        ("deviation", np.float64),  # squared deviation of the rows of Gamma from their mean
        ("reach", np.float64),  # upper bound on the largest distance of a row from the mean
        ("unit", np.float64),  # N / beta: an expert's eta is this times its factor
        ("inverse", np.float64),  # one over the rows' standard deviation; finite where it is zero
        ("mass", np.float64),  # sum of the experts' weights
        ("level", np.float64),  # mean eta of the experts in closed form, by weight
        ("slope", np.float64),  # mean shrink of the experts in closed form, by weight
    ]
)

# Rows of `experts`: cumulative loss; weight, to be divided by the mass of the clique; s of the
# solver for experts with rows on the ball, or CLOSED_FORM.
LOSS, WEIGHT, MULTIPLIER = range(3)
# Rows of `table`: sqrt(1 + xi (N - 1)), of which eta is `unit` times; sqrt(xi), the largest
# standard deviation of the expert's rows, or inf if it is not constrained.
FACTOR, CAP = range(2)


Scratch: TypeAlias = LineScratch | SolverScratch
"""What the solver for d = 1 works on, or the one for d > 1: its type chooses the solver."""


class MTFTRLState(NamedTuple):
    """State of `MTFTRL` for all cliques."""

    gradients: Floats
    """Gamma: the gradient sum of every row, (M, d)."""
    total: Floats
    """Sum of the rows of each clique, (C, d)."""
    plan: NDArray[np.void]
    """What each clique is made of, of type `PLAN`."""
    cliques: NDArray[np.void]
    """What each clique knows, of type `CLIQUE_RECORD`."""
    n: Integers
    """The column `n` of `cliques`."""
    rate: Floats
    """The column `rate` of `cliques`."""
    table: Floats
    """What experts guess, shared by cliques of the same size, (2, guesses)."""
    experts: Floats
    """What every expert knows, (3, E)."""
    centre: Floats
    """Mean of the rows of every expert that has rows on the ball, (E, d)."""
    work: Scratch
    """Scratch of the solver: no result depends on what it holds between updates."""


# Of the plan only the focus goes with a clique: compiled code and NumPy may round it differently.
set_axes(
    MTFTRLState,
    gradients=ROW,
    total=CLIQUE,
    cliques=CLIQUE,
    experts=(RECORD, EXPERT),
    centre=EXPERT,
    **{"plan.focus": CLIQUE},
)


@spans.register
def _(state: MTFTRLState, location: Location) -> dict[str, Span]:
    plan = state.plan[location.cliques.entries]
    experts = Span(plan["expert"], plan["experts"])
    return {CLIQUE: location.cliques, ROW: location.rows, EXPERT: experts}
