"""Claims about what a leaf costs: what noise is calibrated by, and what the ledger says."""

import numpy as np

from mtcool.testing.aggregators.trial import AggregatorTrial, column_norms
from mtcool.testing.checks import require


def no_column_is_longer_than_claimed(trial: AggregatorTrial) -> None:
    """`column_norm` bounds the norm of every column of C: noise is calibrated by it.

    The norm is l1 for Laplace noise and l2 for Gaussian noise, and every row of C is divided by
    the growth of its node's noise. If it is too small, the noise is too small.
    """
    for case in trial.cases():
        longest = column_norms(case.matrices.scaled, case.law).max()
        claimed = trial.aggregator.column_norm(case.horizon, case.law)
        require(
            longest <= claimed * (1 + 1e-12),
            f"with {case} a column of C has norm {longest:.6g}, column_norm says {claimed:.6g}",
        )


def noise_begins_at_its_base_scale(trial: AggregatorTrial) -> None:
    """`growth` is 1 at the first activation, and positive and finite at all of them."""
    for case in trial.cases():
        growth = case.matrices.growth
        require(growth[0] == 1.0, f"with {case} the first growth is {growth[0]}")
        require((growth > 0.0).all() and np.isfinite(growth).all(), f"with {case}, got {growth}")


def the_ledger_says_what_is_out(trial: AggregatorTrial) -> None:
    """`spent` is the norm of the published part of a column of C, over `column_norm`.

    After t activations that is its first t rows. The ledger shows this share of the budget.
    """
    for case in trial.cases():
        claimed = trial.aggregator.column_norm(case.horizon, case.law)
        for t in range(case.horizon + 1):
            out = column_norms(case.matrices.scaled[:t], case.law).max(initial=0.0) / claimed
            share = trial.aggregator.spent(t, case.horizon, case.law)
            require(
                abs(share - out) <= 1e-9 * out,
                f"with {case}, {out:.6g} of a column are published after {t} activations, "
                f"spent says {share:.6g}",
            )


CLAIMS = (
    no_column_is_longer_than_claimed,
    noise_begins_at_its_base_scale,
    the_ledger_says_what_is_out,
)
