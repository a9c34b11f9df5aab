"""Experts of MT-FTRL while no row leaves the ball: a closed form of running sums.

With `mean` and `Gamma_r - mean` taken of the rows of Gamma, the rows of an expert are

    X_r = -eta mean - shrink (Gamma_r - mean),    shrink = min(eta / (N + 1), sqrt(xi) / deviation),

so a row of the mixture needs two numbers per clique, `level` and `slope`, whatever the number of
experts; the update, which moves every expert's loss and weight, is a few operations for each.
"""

import math

import numpy as np

from mtcool.kernels import inline
from mtcool.learners.exponential import exp_of_nonpositive
from mtcool.learners.mt_ftrl.clipped import correct_clipped_losses, solve_experts
from mtcool.learners.mt_ftrl.state import CAP, FACTOR, LOSS, MULTIPLIER, WEIGHT, MTFTRLState
from mtcool.learners.solvers.line import CLOSED_FORM
from mtcool.types import Floats


@inline
def add_expert_losses(
    state: MTFTRLState, clique: int, row: int, weight: float, gradient: Floats
) -> None:
    """Charge every expert of the clique <weight * gradient, its row>."""
    plan, c = state.plan[clique], state.cliques[clique]
    size = plan["size"]
    per_row, per_mode = 1.0 / size, 1.0 / (size + 1.0)
    on_mean, on_row = 0.0, 0.0
    for k in range(gradient.shape[0]):
        mean = state.total[clique, k] * per_row
        on_mean += mean * weight * gradient[k]
        on_row += (state.gradients[row, k] - mean) * weight * gradient[k]
    unit, inverse = c["unit"], c["inverse"]
    first, count, table = plan["expert"], plan["experts"], plan["table"]
    factor = state.table[FACTOR, table : table + count]
    cap = state.table[CAP, table : table + count]
    loss = state.experts[LOSS, first : first + count]
    for e in range(count):
        eta = unit * factor[e]
        shrink = least_of(eta * per_mode, cap[e] * inverse)
        loss[e] -= eta * on_mean + shrink * on_row
    if c["clipped"] > 0:
        correct_clipped_losses(state, clique, row, weight, gradient, on_mean, on_row)


@inline
def add_gradient(
    state: MTFTRLState, clique: int, row: int, weight: float, gradient: Floats
) -> None:
    """Add the weighted gradient to its row of Gamma and keep the sums of the clique."""
    c, size = state.cliques[clique], state.plan[clique]["size"]
    per_row = 1.0 / size
    across, square = 0.0, 0.0
    for k in range(gradient.shape[0]):
        g = weight * gradient[k]
        across += (state.gradients[row, k] - state.total[clique, k] * per_row) * g
        square += g * g
        state.gradients[row, k] += g
        state.total[clique, k] += g
    deviation = c["deviation"] + 2.0 * across + square * (1.0 - per_row)
    # What cancels leaves rounding behind.
    stale = deviation < 0.1 * c["deviation"]
    c["deviation"] = max(deviation, 0.0)
    c["reach"] += np.sqrt(square)
    c["n"] += 1
    if stale or c["n"] % size == 0:
        refresh(state, clique)


@inline
def refresh(state: MTFTRLState, clique: int) -> None:
    """Compute the sums afresh from Gamma: O(N d) once in N updates, so rounding never builds up."""
    c, first, size = state.cliques[clique], state.plan[clique]["first"], state.plan[clique]["size"]
    total = state.total[clique]
    total[:] = 0.0
    for i in range(first, first + size):
        for k in range(total.shape[0]):
            total[k] += state.gradients[i, k]
    deviation, furthest = 0.0, 0.0
    for i in range(first, first + size):
        square = 0.0
        for k in range(total.shape[0]):
            square += (state.gradients[i, k] - total[k] / size) ** 2
        deviation += square
        furthest = max(furthest, square)
    c["deviation"] = deviation
    c["reach"] = np.sqrt(furthest)


@inline
def reweigh(state: MTFTRLState, clique: int) -> None:
    """Compute Hedge's weights and the experts' minimisers, for the next prediction."""
    if weigh(state, clique):
        solve_experts(state.work, state, clique)


@inline
def weigh(state: MTFTRLState, clique: int) -> bool:
    """Compute Hedge's weights and the closed forms; return True if a solver must follow.

    Weights are proportional to exp(-sqrt(ln K) / beta * loss) for K experts; the weighted means of
    their eta and shrink are all that a prediction needs.
    """
    plan, c = state.plan[clique], state.cliques[clique]
    size, first, count, table = plan["size"], plan["expert"], plan["experts"], plan["table"]
    per_beta = 1.0 / (c["rate"] * np.sqrt(1.0 + c["n"]))
    unit, inverse, per_mode = size * per_beta, 1e300, 1.0 / (size + 1.0)
    if c["deviation"] > 0.0 and size > 1:
        inverse = min(inverse, np.sqrt((size - 1) / c["deviation"]))
    c["unit"], c["inverse"] = unit, inverse
    exponent = plan["focus"] * per_beta
    factor = state.table[FACTOR, table : table + count]
    cap = state.table[CAP, table : table + count]
    losses = state.experts[LOSS, first : first + count]
    weights = state.experts[WEIGHT, first : first + count]
    least = smallest(losses)
    for e in range(count):
        weights[e] = exp_of_nonpositive(exponent * (least - losses[e]))
    mass, level, slope = 0.0, 0.0, 0.0
    for e in range(count):
        weight, eta = weights[e], unit * factor[e]
        mass += weight
        level += weight * eta
        slope += weight * least_of(eta * per_mode, cap[e] * inverse)
    per_mass = 1.0 / mass
    c["mass"], c["level"], c["slope"] = mass, level * per_mass, slope * per_mass
    # The last expert has the largest eta and cap: if no row of its closed form can leave the ball,
    # no row of any can.
    eta = unit * factor[count - 1]
    furthest = least_of(eta * per_mode, cap[count - 1] * inverse) * c["reach"]
    if eta * _length_of_mean(state.total[clique], size) + furthest > 1.0:
        return True
    if c["clipped"] > 0:
        state.experts[MULTIPLIER, first : first + count] = CLOSED_FORM
        c["clipped"] = 0
    return False


@inline
def least_of(a: float, b: float) -> float:
    """The smaller of two: one instruction, where Python's min looks after NaNs first."""
    return a if a < b else b


@inline
def smallest(values: Floats) -> float:
    """The least of the values, by two running minima that the processor computes side by side."""
    even, odd = values[0], values[values.shape[0] - 1]
    for e in range(1, values.shape[0] - 1, 2):
        even = least_of(even, values[e])
        odd = least_of(odd, values[e + 1])
    return least_of(float(even), float(odd))


@inline
def _length_of_mean(total: Floats, size: int) -> float:
    square = 0.0
    for k in range(total.shape[0]):
        square += total[k] * total[k]
    return math.sqrt(square) / float(size)
