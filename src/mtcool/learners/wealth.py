"""The wealth of a bettor, which may grow beyond any number of the machine and be lost again.

It is kept as `wealth * 2^(500 * power)`: the logarithm in two parts, with `wealth` between 2^-250
and 2^250. Multiplying by a power of two rounds nothing, so a fortune that was made and lost leaves
no trace, and ordinary amounts (power 0) are plain numbers.

A bet is placed with at most `LARGEST`. Once the true wealth exceeds it, predictions stay at the
magnitude that `LARGEST` gives, until enough of the fortune is lost: they are finite, and so are
their squares.
"""

from mtcool.kernels import inline

HIGHEST, LOWEST = 2.0**250, 2.0**-250
STEP = 2.0**500
LARGEST = 2.0**490  # about 3e147


@inline
def after_bet(wealth: float, power: int, gain: float) -> tuple[float, int]:
    """Wealth after it was multiplied by `gain` > 0."""
    wealth *= gain
    if wealth > HIGHEST:
        return wealth / STEP, power + 1
    if wealth < LOWEST:
        return wealth * STEP, power - 1
    return wealth, power


@inline
def available(wealth: float, power: int) -> float:
    """What can be bet: the wealth, but at most `LARGEST`."""
    if power == 0:
        return wealth
    if power < 0:
        return wealth / STEP if power == -1 else 0.0
    return LARGEST if power > 1 or wealth > LARGEST / STEP else wealth * STEP
