"""Checks of aggregators: `aggregator_checks` lists them, `check_aggregator` runs them."""

from mtcool.privacy import Aggregator
from mtcool.testing.aggregators import agents, noise, privacy, sums
from mtcool.testing.aggregators.trial import HORIZONS, AggregatorTrial
from mtcool.testing.checks import Check, checks_of, run_all


def aggregator_checks(
    aggregator: Aggregator | type[Aggregator], *, horizons: tuple[int, ...] = HORIZONS
) -> list[Check]:
    """The checks that an aggregator must pass, each with its name.

    They find the matrices B and C of `docs/add-an-aggregator.md` from the compiled functions, for
    every law of noise that the aggregator serves, and compare them with what its methods say.

    Parameters
    ----------
    aggregator
        An aggregator, or its class if it needs no parameters.
    horizons
        Numbers of activations to plan for; the matrices have as many rows.

    Examples
    --------
    >>> from mtcool.privacy import BinaryTree
    >>> [check.name for check in aggregator_checks(BinaryTree)][:2]
    ['aggregator_says_what_it_is', 'published_sums_are_prefix_sums']
    """
    made: Aggregator = aggregator() if isinstance(aggregator, type) else aggregator
    claims = (*sums.CLAIMS, *privacy.CLAIMS, *noise.CLAIMS, *agents.CLAIMS)
    return checks_of(claims, AggregatorTrial(made, horizons), repr(made))


def check_aggregator(
    aggregator: Aggregator | type[Aggregator], *, horizons: tuple[int, ...] = HORIZONS
) -> None:
    """Check that an aggregator publishes the right sums, with the noise that it claims.

    Raises an AssertionError that names the first check that fails, says what was found and what
    must hold.

    Parameters
    ----------
    aggregator, horizons
        As in `aggregator_checks`.

    Examples
    --------
    >>> from mtcool.privacy import PerGradient
    >>> check_aggregator(PerGradient())
    """
    run_all(aggregator_checks(aggregator, horizons=horizons))
