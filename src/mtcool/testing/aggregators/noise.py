"""Claims about the noise in what is published."""

import math

import numpy as np

from mtcool.testing.aggregators.trial import AggregatorTrial, Machine
from mtcool.testing.checks import require


def sums_have_the_claimed_variance(trial: AggregatorTrial) -> None:
    """`variance` is the squared norm of each row of B and of the padding: independent draws."""
    for case in trial.cases():
        b = case.matrices.b if case.law != "none" else np.zeros_like(case.matrices.b)
        found = (b**2).sum(1) + (case.matrices.pad**2).sum(1)
        said = trial.aggregator.variance(np.arange(case.horizon + 1), case.horizon, case.law)
        require(
            np.allclose(found, said, rtol=1e-9, atol=0.0),
            f"with {case} the variances of the sums are {found}, variance says {said}",
        )


def every_number_of_a_leaf_has_noise_of_its_own(trial: AggregatorTrial) -> None:
    """The numbers of a wide leaf are as many samples, of the variance that is claimed."""
    horizon, width = 100, 4000
    rng, aggregator = np.random.default_rng(0), trial.aggregator
    for law in aggregator.laws:
        machine = Machine(aggregator, law, horizon, width)
        found = [machine.begin(rng.standard_normal((machine.padding, width))).var()]
        growth = aggregator.growth(np.arange(1, horizon + 1), law)
        silent = 0.0 if law == "none" else 1.0
        for t in range(horizon):
            noise = silent * growth[t] * rng.standard_normal(width)
            found.append(machine.step(np.zeros(width), noise)[1].var())
        said = aggregator.variance(np.arange(horizon + 1), horizon, law)
        # variance of a sample variance of normal variables: 2 sigma^4 / n, here within 5 sigmas
        near = np.isclose(found, said, rtol=5 * math.sqrt(2 / width), atol=1e-12)
        require(
            near.all(),
            f"with {law} noise sums of {width} numbers have variance {found[near.argmin()]:.6g} "
            f"after {near.argmin()} activations, variance says {said[near.argmin()]:.6g}",
        )


CLAIMS = (sums_have_the_claimed_variance, every_number_of_a_leaf_has_noise_of_its_own)
