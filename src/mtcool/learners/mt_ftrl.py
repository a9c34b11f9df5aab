"""MT-FTRL with Hedge over guesses of the task variance (Algorithm `alg:mt-ftrl`).

Expert k of a clique with N rows guesses a variance xi. It plays the minimiser of
eta <Gamma, X> + |X|_A^2 / 2 over rows in the ball with sigma^2(X) <= xi. While no row leaves the
ball that is, with `mean` and `Gamma_r - mean` taken of the rows of Gamma,

    X_r = -eta mean - shrink (Gamma_r - mean),    shrink = min(eta / (N + 1), sqrt(xi) / deviation),

so a row of the mixture needs two numbers per clique, `level` and `slope`, whatever the number of
experts; the update, which moves every expert's loss and weight, is a few operations for each. Where
a row would leave the ball `argmin.py` takes over for that expert, or `argmin_line.py` if d = 1.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mtcool import validation
from mtcool.kernels import inline, kernel
from mtcool.learners.argmin import (
    Workspace,
    make_workspace,
    minimise,
    project_row,
    start_at_mean,
)
from mtcool.learners.argmin_line import CLOSED_FORM, NEGLIGIBLE, solve_line
from mtcool.learners.exponential import exp_of_nonpositive
from mtcool.learners.learner import Cliques, Floats, Integers, predict_row, update_row

LARGEST = 2.0  # variance of rows in the unit ball, reached by two opposite ones


class MTFTRLState(NamedTuple):
    """State of `MTFTRL` for all cliques."""

    start: Integers
    """Rows of clique j are start[j]:start[j + 1]."""
    gradients: Floats
    """Gamma: the gradient sum of every row, (M, d)."""
    total: Floats
    """Sum of the rows of each clique, (C, d)."""
    deviation: Floats
    """Squared deviation of the rows of each clique from their mean."""
    reach: Floats
    """Upper bound on the largest distance of a row of Gamma from the mean."""
    level: Floats
    """Mean eta of the experts in closed form, by weight."""
    slope: Floats
    """Mean shrink of the experts in closed form, by weight."""
    clipped: Integers
    """Number of experts with a row on the ball, one for each clique."""
    unit: Floats
    """N / beta: an expert's eta is this times its `pull`."""
    inverse: Floats
    """One over the standard deviation of the rows of Gamma; huge, but finite, where it is zero."""
    focus: Floats
    """sqrt(ln K) for the K experts of each clique."""
    mass: Floats
    """Sum of the experts' weights."""
    n: Integers
    """Number of updates received."""
    rate: Floats
    """Factor of beta."""
    expert: Integers
    """Experts of clique j are expert[j]:expert[j + 1]."""
    table: Integers
    """Where the experts of a clique of this size begin in the two tables below."""
    pull: Floats
    """Table of sqrt(1 + xi (N - 1)): eta = N / beta times this."""
    cap: Floats
    """Table of sqrt(xi), the largest standard deviation of the rows; inf if unconstrained."""
    loss: Floats
    """Cumulative loss of every expert."""
    weight: Floats
    """Weight of every expert, to be divided by the mass of its clique."""
    multiplier: Floats
    """s of the solver (`argmin.py`) for experts with clipped rows, or CLOSED_FORM."""
    centre: Floats
    """Mean of the rows of every expert with clipped rows, (E, d)."""
    work: Workspace
    """Workspace of the solvers; no result depends on what it holds between updates."""


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

        >>> MTFTRL().numbers(np.array([0, 1, 5])).tolist()
        [0, 1, 5]
        """
        distinct, which = np.unique(sizes, return_inverse=True)
        return np.array([len(self._constraints(int(size))[0]) for size in distinct])[which]

    def make_state(self, cliques: Cliques, dim: int) -> MTFTRLState:
        """Fresh state for the given cliques."""
        count, sizes = len(cliques.rate), np.diff(cliques.start)
        table, experts, pull, cap = self._tables(sizes)
        expert = np.concatenate(([0], np.cumsum(experts)))
        for constant in (expert, table, pull, cap):
            constant.setflags(write=False)
        return MTFTRLState(
            start=cliques.start,
            gradients=np.zeros((cliques.start[-1], dim)),
            total=np.zeros((count, dim)),
            deviation=np.zeros(count),
            reach=np.zeros(count),
            level=np.zeros(count),
            slope=np.zeros(count),
            clipped=np.zeros(count, np.int64),
            unit=np.zeros(count),
            inverse=np.ones(count),  # finite: times an infinite cap it must not be a NaN
            focus=np.sqrt(np.log(np.maximum(experts, 1))),
            mass=experts.astype(np.float64),
            n=np.zeros(count, np.int64),
            rate=cliques.rate.copy(),
            expert=expert,
            table=table,
            pull=pull,
            cap=cap,
            loss=np.zeros(expert[-1]),
            weight=np.ones(expert[-1]),
            multiplier=np.full(expert[-1], CLOSED_FORM),
            centre=np.zeros((expert[-1], dim)),
            work=make_workspace(dim, cliques.start, int(experts.max())),
        )

    def _tables(self, sizes: Integers) -> tuple[Integers, Integers, Floats, Floats]:
        """Offset and number of experts for each clique, and the tables shared by equal sizes."""
        distinct, which = np.unique(sizes, return_inverse=True)
        variances = [self._constraints(int(size)) for size in distinct]
        lengths = np.array([len(xi) for xi, _ in variances])
        offset = np.cumsum(lengths) - lengths
        pulls = [
            np.sqrt(1.0 + xi * max(size - 1, 0))
            for size, (xi, _) in zip(distinct, variances, strict=True)
        ]
        caps = np.concatenate([cap for _, cap in variances])
        return offset[which], lengths[which], np.concatenate(pulls), caps

    def _constraints(self, size: int) -> tuple[Floats, Floats]:
        """Variances xi and the caps sqrt(xi) on the deviation for cliques with `size` rows."""
        if size <= 1:  # one row has no variance: plain FTRL; no row, no instance
            return np.zeros(size), np.zeros(size)
        xi = self.variances(size)
        cap = np.sqrt(xi)
        if self.free_last:
            cap[-1] = np.inf
        return xi, cap


@inline
def add_expert_losses(
    state: MTFTRLState, clique: int, row: int, weight: float, gradient: Floats
) -> None:
    """Charge every expert of the clique <weight * gradient, its row>."""
    size = state.start[clique + 1] - state.start[clique]
    per_row, per_mode = 1.0 / size, 1.0 / (size + 1.0)
    on_mean, on_row = 0.0, 0.0
    for k in range(gradient.shape[0]):
        mean = state.total[clique, k] * per_row
        on_mean += mean * weight * gradient[k]
        on_row += (state.gradients[row, k] - mean) * weight * gradient[k]
    unit, inverse = state.unit[clique], state.inverse[clique]
    first, table = state.expert[clique], state.table[clique]
    count = state.expert[clique + 1] - first
    pull, cap = state.pull[table : table + count], state.cap[table : table + count]
    loss = state.loss[first : first + count]
    for e in range(count):
        eta = unit * pull[e]
        shrink = least_of(eta * per_mode, cap[e] * inverse)
        loss[e] -= eta * on_mean + shrink * on_row
    if state.clipped[clique] > 0:
        _correct_clipped_losses(state, clique, row, weight, gradient, on_mean, on_row)


@kernel
def _correct_clipped_losses(
    state: MTFTRLState,
    clique: int,
    row: int,
    weight: float,
    gradient: Floats,
    on_mean: float,
    on_row: float,
) -> None:
    """Where the closed form does not hold, replace its loss by that of the solution."""
    per_mode = 1.0 / (state.start[clique + 1] - state.start[clique] + 1.0)
    first, table = state.expert[clique], state.table[clique]
    for e in range(state.expert[clique + 1] - first):
        s = state.multiplier[first + e]
        if s == CLOSED_FORM:
            continue
        eta = state.unit[clique] * state.pull[table + e]
        shrink = least_of(eta * per_mode, state.cap[table + e] * state.inverse[clique])
        project_row(state.gradients, row, eta, s, state.centre[first + e], state.work.row)
        change = eta * on_mean + shrink * on_row
        for k in range(gradient.shape[0]):
            change += state.work.row[k] * weight * gradient[k]
        state.loss[first + e] += change


@inline
def expert_rows(state: MTFTRLState, clique: int, row: int, out: Floats) -> None:
    """Write the `row` of every expert's minimiser into `out`, (experts, d)."""
    size = state.start[clique + 1] - state.start[clique]
    first, table = state.expert[clique], state.table[clique]
    per_row, per_mode = 1.0 / size, 1.0 / (size + 1.0)
    for e in range(state.expert[clique + 1] - first):
        eta = state.unit[clique] * state.pull[table + e]
        if state.clipped[clique] > 0 and state.multiplier[first + e] != CLOSED_FORM:
            s = state.multiplier[first + e]
            project_row(state.gradients, row, eta, s, state.centre[first + e], out[e])
            continue
        shrink = least_of(eta * per_mode, state.cap[table + e] * state.inverse[clique])
        for k in range(out.shape[1]):
            mean = state.total[clique, k] * per_row
            out[e, k] = -eta * mean - shrink * (state.gradients[row, k] - mean)


@inline
def add_gradient(
    state: MTFTRLState, clique: int, row: int, weight: float, gradient: Floats
) -> None:
    """Add the weighted gradient to its row of Gamma and keep the sums of the clique."""
    size = state.start[clique + 1] - state.start[clique]
    per_row = 1.0 / size
    across, square = 0.0, 0.0
    for k in range(gradient.shape[0]):
        g = weight * gradient[k]
        across += (state.gradients[row, k] - state.total[clique, k] * per_row) * g
        square += g * g
        state.gradients[row, k] += g
        state.total[clique, k] += g
    deviation = state.deviation[clique] + 2.0 * across + square * (1.0 - per_row)
    # What cancels leaves rounding behind.
    stale = deviation < 0.1 * state.deviation[clique]
    state.deviation[clique] = max(deviation, 0.0)
    state.reach[clique] += np.sqrt(square)
    state.n[clique] += 1
    if stale or state.n[clique] % size == 0:
        refresh(state, clique)


@inline
def refresh(state: MTFTRLState, clique: int) -> None:
    """Compute the sums afresh from Gamma: O(N d) once in N updates, so rounding never builds up."""
    first, last = state.start[clique], state.start[clique + 1]
    total = state.total[clique]
    total[:] = 0.0
    for i in range(first, last):
        for k in range(total.shape[0]):
            total[k] += state.gradients[i, k]
    deviation, furthest = 0.0, 0.0
    for i in range(first, last):
        square = 0.0
        for k in range(total.shape[0]):
            square += (state.gradients[i, k] - total[k] / (last - first)) ** 2
        deviation += square
        furthest = max(furthest, square)
    state.deviation[clique] = deviation
    state.reach[clique] = np.sqrt(furthest)


@inline
def reweigh(state: MTFTRLState, clique: int) -> None:
    """The next prediction: Hedge's weights, and the experts' minimisers in closed form.

    Weights are proportional to exp(-sqrt(ln K) / beta * loss) for K experts; the weighted means of
    their eta and shrink are all that a prediction needs.
    """
    size = state.start[clique + 1] - state.start[clique]
    first, table = state.expert[clique], state.table[clique]
    count = state.expert[clique + 1] - first
    per_beta = 1.0 / (state.rate[clique] * np.sqrt(1.0 + state.n[clique]))
    unit, inverse, per_mode = size * per_beta, 1e300, 1.0 / (size + 1.0)
    if state.deviation[clique] > 0.0 and size > 1:
        inverse = min(inverse, np.sqrt((size - 1) / state.deviation[clique]))
    state.unit[clique], state.inverse[clique] = unit, inverse
    exponent = state.focus[clique] * per_beta
    pull, cap = state.pull[table : table + count], state.cap[table : table + count]
    losses, weights = state.loss[first : first + count], state.weight[first : first + count]
    least = smallest(losses, 0, count)
    for e in range(count):
        weights[e] = exp_of_nonpositive(exponent * (least - losses[e]))
    mass, level, slope = 0.0, 0.0, 0.0
    for e in range(count):
        weight, eta = weights[e], unit * pull[e]
        mass += weight
        level += weight * eta
        slope += weight * least_of(eta * per_mode, cap[e] * inverse)
    per_mass = 1.0 / mass
    state.mass[clique] = mass
    state.level[clique], state.slope[clique] = level * per_mass, slope * per_mass
    # The last expert has the largest eta and cap: if no row of its closed form can leave the ball,
    # no row of any can.
    last = table + count - 1
    eta = unit * state.pull[last]
    furthest = least_of(eta * per_mode, state.cap[last] * inverse) * state.reach[clique]
    if eta * length_of_mean(state, clique) + furthest > 1.0:
        if state.total.shape[1] == 1:
            _solve_each_on_line(state, clique)
        else:
            _solve_each(state, clique)
    elif state.clipped[clique] > 0:
        state.multiplier[first : first + count] = CLOSED_FORM
        state.clipped[clique] = 0


@inline
def least_of(a: float, b: float) -> float:
    """The smaller of two: one instruction, where Python's min looks after NaNs first."""
    return a if a < b else b


@inline
def smallest(values: Floats, first: int, last: int) -> float:
    """Least of values[first:last], in two lanes: one would wait for itself at every step."""
    even, odd = values[first], values[last - 1]
    for e in range(first + 1, last - 1, 2):
        even = least_of(even, values[e])
        odd = least_of(odd, values[e + 1])
    return least_of(float(even), float(odd))


@inline
def length_of_mean(state: MTFTRLState, clique: int) -> float:
    """Norm of the mean of the rows of Gamma."""
    square = 0.0
    for k in range(state.total.shape[1]):
        square += state.total[clique, k] * state.total[clique, k]
    return math.sqrt(square) / float(state.start[clique + 1] - state.start[clique])


@kernel
def _solve_each(state: MTFTRLState, clique: int) -> None:
    """The experts one by one, where a row of one of them may leave the ball."""
    first, table = state.expert[clique], state.table[clique]
    per_mode = 1.0 / (state.start[clique + 1] - state.start[clique] + 1.0)
    mean = length_of_mean(state, clique)
    level, slope, clipped = 0.0, 0.0, 0
    for e in range(state.expert[clique + 1] - first):
        eta, cap = state.unit[clique] * state.pull[table + e], state.cap[table + e]
        shrink = least_of(eta * per_mode, cap * state.inverse[clique])
        if _stays_inside(state, clique, eta, shrink, mean):
            state.multiplier[first + e] = CLOSED_FORM
            level += state.weight[first + e] * eta
            slope += state.weight[first + e] * shrink
        else:
            clipped += 1
            _solve_clipped(state, clique, first + e, eta, cap)
    mass = state.mass[clique]
    state.level[clique], state.slope[clique] = level / mass, slope / mass
    state.clipped[clique] = clipped


@inline
def _stays_inside(state: MTFTRLState, clique: int, eta: float, shrink: float, mean: float) -> bool:
    """Does every row of the closed form lie in the ball? Bounds first, then the rows themselves."""
    if eta * mean + shrink * state.reach[clique] <= 1.0:
        return True
    if eta * mean > 1.0:  # the rows' mean is outside, so one of them is
        return False
    size = state.start[clique + 1] - state.start[clique]
    for i in range(state.start[clique], state.start[clique + 1]):
        square = 0.0
        for k in range(state.total.shape[1]):
            centre = state.total[clique, k] / size
            square += (eta * centre + shrink * (state.gradients[i, k] - centre)) ** 2
        if square > 1.0:
            return False
    return True


@inline
def _solve_equal(state: MTFTRLState, clique: int, e: int, eta: float, cap: float) -> bool:
    """Are the rows of expert e equal, or must be? Then the solution is the mean, in the ball."""
    if cap > NEGLIGIBLE and state.deviation[clique] > 0.0:
        return False
    first, last = state.start[clique], state.start[clique + 1]
    start_at_mean(state.gradients, first, last, eta, state.centre[e])
    state.multiplier[e] = 0.0
    return True


@inline
def _solve_clipped(state: MTFTRLState, clique: int, e: int, eta: float, cap: float) -> None:
    """Solve expert e and keep s and the mean of its rows; all rows follow from the two."""
    if _solve_equal(state, clique, e, eta, cap):
        return
    first, last = state.start[clique], state.start[clique + 1]
    state.multiplier[e] = minimise(
        state.gradients,
        first,
        last,
        eta,
        1.0 / state.inverse[clique],
        cap,
        state.multiplier[e],
        state.centre[e],
        state.work,
    )


@inline
def _solve_each_on_line(state: MTFTRLState, clique: int) -> None:
    """The same for d = 1, where all experts are solved side by side."""
    first, last = state.expert[clique], state.expert[clique + 1]
    start, end, table = state.start[clique], state.start[clique + 1], state.table[clique]
    level, slope, clipped, failed = solve_line(
        state.gradients[start:end],
        state.work.line.order[start:end],
        state.total[clique, 0] / float(end - start),
        state.unit[clique],
        state.inverse[clique],
        state.deviation[clique] == 0.0,
        state.pull[table : table + last - first],
        state.cap[table : table + last - first],
        state.weight[first:last],
        state.multiplier[first:last],
        state.centre[first:last],
        state.work.line,
    )
    mass = state.mass[clique]
    state.level[clique], state.slope[clique] = level / mass, slope / mass
    state.clipped[clique] = clipped
    if failed > 0:
        _solve_failed(state, clique)


@kernel
def _solve_failed(state: MTFTRLState, clique: int) -> None:
    """The experts that `solve_line` left to the general method."""
    first, table = state.expert[clique], state.table[clique]
    for e in range(state.expert[clique + 1] - first):
        if np.isnan(state.multiplier[first + e]):
            eta, cap = state.unit[clique] * state.pull[table + e], state.cap[table + e]
            state.multiplier[first + e] = CLOSED_FORM  # no warm start
            _solve_clipped(state, clique, first + e, eta, cap)


@predict_row.register
def _(state: MTFTRLState, clique: int, row: int, out: Floats) -> None:
    size = state.start[clique + 1] - state.start[clique]
    level, slope, per_row = state.level[clique], state.slope[clique], 1.0 / size
    for k in range(out.shape[0]):
        mean = state.total[clique, k] * per_row
        out[k] = -level * mean - slope * (state.gradients[row, k] - mean)
    if state.clipped[clique] == 0:
        return
    first, table = state.expert[clique], state.table[clique]
    for e in range(first, state.expert[clique + 1]):
        if state.multiplier[e] == CLOSED_FORM:
            continue
        eta = state.unit[clique] * state.pull[table + e - first]
        project_row(state.gradients, row, eta, state.multiplier[e], state.centre[e], state.work.row)
        for k in range(out.shape[0]):
            out[k] += state.weight[e] / state.mass[clique] * state.work.row[k]


@update_row.register
def _(state: MTFTRLState, clique: int, row: int, weight: float, gradient: Floats) -> None:
    add_expert_losses(state, clique, row, weight, gradient)
    add_gradient(state, clique, row, weight, gradient)
    reweigh(state, clique)
