"""What a check is: a named claim that holds for every learner, every aggregator, all peers."""

import functools
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Claim = Callable[[T], None]
"""A function whose docstring says what must hold; it raises AssertionError if it does not."""


class Check(NamedTuple):
    """One check of one object, ready to run."""

    name: str
    """Name of the claim, such as "predicting_changes_nothing"."""
    run: Callable[[], None]
    """Raises an AssertionError that names the check if the claim does not hold."""


def checks_of(claims: Iterable[Claim[T]], trial: T, subject: str) -> list[Check]:
    """The claims about one subject, each by its name."""
    return [
        Check(claim.__name__, functools.partial(_run, claim, trial, subject)) for claim in claims
    ]


def run_all(checks: Iterable[Check]) -> None:
    """Run checks one after the other; the first that fails raises."""
    for check in checks:
        check.run()


def _run(claim: Claim[T], trial: T, subject: str) -> None:
    try:
        claim(trial)
    except Exception as error:  # whatever a stranger's code does, the check that met it is named
        found = str(error)
        if not isinstance(error, AssertionError):
            found = f"it raised {type(error).__name__}: {error}"
        rule = " ".join((claim.__doc__ or "").split())
        raise AssertionError(
            f"{subject} fails the check {claim.__name__}: {found}. What must hold: {rule}"
        ) from error


def require(holds: object, otherwise: str) -> None:
    """Raise an AssertionError that says what is wrong, unless the claim holds."""
    if not holds:
        raise AssertionError(otherwise)


def require_equal(found: NDArray[np.generic], wanted: NDArray[np.generic], otherwise: str) -> None:
    """Require the same numbers, to the bit."""
    require(np.array_equal(found, wanted), f"{otherwise}, got {found} and not {wanted}")


def require_close(
    found: NDArray[np.float64], wanted: NDArray[np.float64], tolerance: float, otherwise: str
) -> None:
    """Require the same numbers but for rounding."""
    gap = np.abs(np.asarray(found) - wanted).max(initial=0.0)
    require(gap <= tolerance, f"{otherwise}, got a difference of {gap:.3g}")
