"""MT-FTRL with Hedge over guesses of the task variance (Algorithm `alg:mt-ftrl`).

Expert k of a clique with N rows guesses a variance xi. It plays the minimiser of
eta <Gamma, X> + |X|_A^2 / 2 over rows in the ball with sigma^2(X) <= xi. While no row leaves the
ball it has a closed form (`closed_form.py`), and else a solver (`clipped.py`), one for d = 1
(`on_line.py`) and one for the rest (`in_lanes.py`).
"""

from dataclasses import dataclass

import numpy as np

from mtcool import validation
from mtcool.learners.learner import (
    Cliques,
    StateSize,
    predict_row,
    smallest_state,
    update_row,
    updates_at_once,
)
from mtcool.learners.mt_ftrl import in_lanes, on_line, single_expert_batch  # noqa: F401 (the solvers)
from mtcool.learners.mt_ftrl.clipped import add_clipped_rows
from mtcool.learners.mt_ftrl.closed_form import add_expert_losses, add_gradient, reweigh
from mtcool.learners.mt_ftrl.state import CLIQUE_RECORD, MULTIPLIER, PLAN, WEIGHT, MTFTRLState
from mtcool.learners.solvers.line import CLOSED_FORM, make_line
from mtcool.learners.solvers.sweep import make_scratch
from mtcool.types import Floats, Integers

EXPERTS_AT_ONCE = 100_000  # experts to be moved between two looks at Ctrl-C
LARGEST = 2.0  # variance of rows in the unit ball, reached by two opposite ones


@dataclass(frozen=True)
class MTFTRL:
    """MT-FTRL with Hedge: the algorithm that the paper analyses.

    Parameters
    ----------
    experts
        "paper": variances 1/N, 2/N, ..., 1 for a clique of N; "geometric": 1, 1/2, 1/4, ... down to
        at most 1/N; or a sequence of variances, used by every clique. One variance, known in
        advance, needs no Hedge.
    free_last
        Lift the variance constraint of the largest expert. As published it caps the variance at
        one, although rows in the ball reach N / (N - 1); the proof takes it for no constraint.

    Examples
    --------
    >>> import networkx as nx, numpy as np, mtcool
    >>> net = mtcool.mt_co2ol(nx.complete_graph(3), dim=1, learner=mtcool.learners.MTFTRL())
    >>> net.update(0, np.array([-1.0]))
    >>> net.predict(0) > net.predict(1)
    array([ True])
    """

    experts: str | tuple[float, ...] = "paper"
    free_last: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.free_last, bool | np.bool_):
            raise ValueError(f"free_last must be True or False, got {self.free_last!r}")
        object.__setattr__(self, "free_last", bool(self.free_last))
        if isinstance(self.experts, str):
            validation.one_of("experts", self.experts, ("paper", "geometric"))
            return
        given = np.atleast_1d(validation.numbers("experts", self.experts))
        if given.ndim != 1 or given.size == 0 or (given < 0).any() or (given > LARGEST).any():
            raise ValueError(
                f"experts must be variances from 0 to {LARGEST} (of the unit ball), "
                f"got {self.experts!r}"
            )
        object.__setattr__(self, "experts", tuple(np.unique(given).tolist()))

    def variances(self, size: int) -> Floats:
        """The experts of a clique with `size` rows, ascending.

        Examples
        --------
        >>> MTFTRL().variances(4)
        array([0.25, 0.5 , 0.75, 1.  ])
        >>> MTFTRL(experts="geometric").variances(4)
        array([0.25, 0.5 , 1.  ])
        """
        if not isinstance(self.experts, str):
            return np.array(self.experts)
        if self.experts == "paper":
            return np.arange(1, size + 1) / size
        return 0.5 ** np.arange(np.ceil(np.log2(size)), -1.0, -1.0)

    def numbers(self, sizes: Integers) -> Integers:
        """How many experts cliques of these sizes have.

        Examples
        --------
        >>> MTFTRL().numbers(np.array([0, 1, 5])).tolist()
        [0, 1, 5]
        """
        distinct, which = np.unique(sizes, return_inverse=True)
        return np.array([len(self._constraints(int(size))[0]) for size in distinct])[which]

    def make_state(self, cliques: Cliques, dim: int) -> MTFTRLState:
        """Fresh state for the given cliques."""
        count, sizes = len(cliques.rate), np.diff(cliques.start)
        plan, table = self._plan(cliques.start)
        most, total = int(plan["experts"].max()), int(plan["experts"].sum())
        numbers = np.zeros(count, CLIQUE_RECORD)
        # An inverse of zero times an infinite cap would be a NaN.
        numbers["rate"], numbers["inverse"] = cliques.rate, 1.0
        numbers["mass"] = plan["experts"]
        experts = np.zeros((3, total))
        experts[WEIGHT], experts[MULTIPLIER] = 1.0, CLOSED_FORM
        for constant in (plan, table):
            constant.setflags(write=False)
        return MTFTRLState(
            gradients=np.zeros((cliques.start[-1], dim)),
            total=np.zeros((count, dim)),
            plan=plan,
            cliques=numbers,
            n=numbers["n"],
            rate=numbers["rate"],
            table=table,
            experts=experts,
            centre=np.zeros((total, dim)),
            work=make_line(sizes, most) if dim == 1 else make_scratch(dim, int(sizes.max())),
        )

    def table(self, size: int) -> Floats:
        """What the experts of a clique with `size` rows guess: factors and caps, (2, experts).

        Examples
        --------
        >>> MTFTRL(experts=(0.25,)).table(5)
        array([[1.41421356],
               [0.5       ]])
        """
        xi, cap = self._constraints(size)
        return np.stack((np.sqrt(1.0 + xi * max(size - 1, 0)), cap))

    def _plan(self, start: Integers) -> tuple[np.ndarray, Floats]:
        """What cliques with these rows are made of, and the table shared by equal sizes."""
        sizes = np.diff(start)
        distinct, which = np.unique(sizes, return_inverse=True)
        tables = [self.table(int(size)) for size in distinct]
        lengths = np.array([table.shape[1] for table in tables])
        plan = np.zeros(len(sizes), PLAN)
        plan["first"], plan["size"] = start[:-1], sizes
        plan["experts"] = lengths[which]
        plan["expert"] = np.cumsum(plan["experts"]) - plan["experts"]
        plan["table"] = (np.cumsum(lengths) - lengths)[which]
        plan["focus"] = np.sqrt(np.log(np.maximum(plan["experts"], 1)))
        return plan, np.concatenate(tables, axis=1)

    def _constraints(self, size: int) -> tuple[Floats, Floats]:
        """Variances xi and the caps sqrt(xi) on the deviation for cliques with `size` rows."""
        if size <= 1:  # one row has no variance: plain FTRL; no row, no instance
            return np.zeros(size), np.zeros(size)
        xi = self.variances(size)
        cap = np.sqrt(xi)
        if self.free_last:
            cap[-1] = np.inf
        return xi, cap


@smallest_state.register
def _(learner: MTFTRL, sizes: Integers) -> StateSize:
    return StateSize(int(sizes.sum()), int(learner.numbers(sizes).sum()))


@updates_at_once.register
def _(state: MTFTRLState) -> int:
    # An expert with rows on the ball takes up to some microseconds.
    return max(1, EXPERTS_AT_ONCE // int(state.plan["experts"].max(initial=1)))


@predict_row.register
def _(state: MTFTRLState, clique: int, row: int, out: Floats) -> None:
    c = state.cliques[clique]
    level, slope, per_row = c["level"], c["slope"], 1.0 / state.plan[clique]["size"]
    for k in range(out.shape[0]):
        mean = state.total[clique, k] * per_row
        out[k] = -level * mean - slope * (state.gradients[row, k] - mean)
    if c["clipped"] > 0:
        add_clipped_rows(state.work, state, clique, row, out)


@update_row.register
def _(state: MTFTRLState, clique: int, row: int, weight: float, gradient: Floats) -> None:
    add_expert_losses(state, clique, row, weight, gradient)
    add_gradient(state, clique, row, weight, gradient)
    reweigh(state, clique)
