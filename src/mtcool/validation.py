"""Checks of public arguments: each refuses with a ValueError that names the argument and its value.

Callers check everything before they change anything, so refused input leaves state untouched.
"""

import math
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

S = TypeVar("S", bound=str)

LARGEST_SUM = 1e140
"""Of gradients and noise, whose scale is at most 1e100: squares are finite."""
SMALLEST, LARGEST = 1e-100, 1e100  # of units and scales: squares must neither vanish nor overflow
FEW = 64


def positive(name: str, value: float) -> float:
    """A finite number above zero."""
    number = finite(name, value)
    if number <= 0:
        raise ValueError(f"{name} must be positive, got {value!r}")
    return number


def non_negative(name: str, value: float) -> float:
    """A finite number that is zero or above."""
    number = finite(name, value)
    if number < 0:
        raise ValueError(f"{name} must not be negative, got {value!r}")
    return number


def finite(name: str, value: float) -> float:
    """A finite real number; strings, booleans and arrays are refused."""
    if type(value) is float and math.isfinite(value):
        return value  # nearly always, and messages have many
    try:
        fits = not isinstance(value, str | bytes | bool | np.bool_) and np.ndim(value) == 0
        number = float(value) if fits and not np.iscomplexobj(value) else None
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None:
        raise ValueError(f"{name} must be a number, got {value!r}")
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return number


def count(name: str, value: int, least: int = 1) -> int:
    """A whole number of at least `least`; 3.0 counts, True and 2.5 do not."""
    try:
        fits = not isinstance(value, bool | np.bool_) and not np.iscomplexobj(value)
        whole = fits and value == int(value)
    except (TypeError, ValueError, OverflowError):
        whole = False
    if not whole or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def one_of(name: str, value: S, allowed: tuple[str, ...]) -> S:
    """One of the words in `allowed`."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
    return value


def vector(name: str, value: ArrayLike, length: int) -> NDArray[np.float64]:
    """A finite float vector of the given length."""
    array = numbers(name, value)
    if array.shape != (length,):
        raise ValueError(f"{name} must have shape ({length},), got shape {array.shape}")
    return array


def matrix(
    name: str, value: ArrayLike, shape: tuple[int | None, int | None]
) -> NDArray[np.float64]:
    """A finite float matrix; None in `shape` leaves a side free."""
    array = numbers(name, value)
    fits = array.ndim == 2 and all(
        want is None or want == have for want, have in zip(shape, array.shape, strict=True)
    )
    if not fits:
        wanted = " x ".join("any" if side is None else str(side) for side in shape)
        raise ValueError(f"{name} must be a matrix of {wanted}, got shape {array.shape}")
    return array


def numbers(name: str, value: ArrayLike, *, unknown: bool = False) -> NDArray[np.float64]:
    """A contiguous array of finite floats, any shape; NaN passes where some may be `unknown`."""
    plain = type(value) is np.ndarray and value.dtype == np.float64 and value.flags.c_contiguous
    if plain and _all_finite(value):  # type: ignore[arg-type]  # as `plain` says
        return value  # type: ignore[return-value]
    try:
        given = np.asarray(value)
        # NumPy would read numbers from strings and dates, and drop masks and imaginary parts.
        fits = given.dtype.kind in "biuf" or (
            given.dtype.kind == "O" and not any(isinstance(x, str | bytes) for x in given.flat)
        )
        fits = fits and not np.ma.is_masked(value)
        array = np.ascontiguousarray(given, dtype=np.float64) if fits else None
    except (TypeError, ValueError, OverflowError):
        array = None
    if array is None:
        raise ValueError(f"{name} must be an array of numbers, got {value!r}")
    wrong = np.isinf(array) if unknown else ~np.isfinite(array)
    if wrong.any():
        wanted = "finite or NaN" if unknown else "finite"
        raise ValueError(f"{name} must be {wanted}, got {_first_unfinite(array, wrong, value)}")
    # ascontiguousarray makes a scalar a vector of one; a scalar is not a vector.
    return array if given.ndim else array.reshape(())


def _all_finite(array: NDArray[np.float64]) -> bool:
    """Whether all numbers are finite; few are added up, which is faster than NumPy's functions."""
    if array.ndim == 1 and array.size <= FEW and math.isfinite(sum(array.tolist())):
        return True  # a sum with NaN or infinity in it is never finite
    return bool(np.isfinite(array).all())


def _first_unfinite(array: NDArray[np.float64], wrong: NDArray[np.bool_], given: ArrayLike) -> str:
    """The first entry that is not finite, where it is, and how many there are; all count from 0."""
    places = np.argwhere(wrong)
    place = tuple(places[0].tolist())
    where = f" at position {place[0]}" if array.ndim == 1 and array.size > 1 else ""
    if array.ndim == 2:
        columns = getattr(given, "columns", None)  # of a data frame
        named = "" if columns is None else f" ({columns[place[1]]!r})"
        where = f" in row {place[0]}, column {place[1]}{named}"
    more = f"; {len(places)} entries are not finite" if len(places) > 1 else ""
    return f"an entry {array[place]}{where}{more}"


def probabilities(name: str, value: ArrayLike, length: int) -> NDArray[np.float64]:
    """Non-negative numbers that sum to one (to 1e-9), returned as given."""
    array = vector(name, value, length)
    if (array < 0).any():
        raise ValueError(f"{name} must not be negative, got {array.min()}")
    if abs(array.sum() - 1.0) > 1e-9:
        raise ValueError(f"{name} must sum to 1, got a sum of {array.sum()!r}")
    return array
