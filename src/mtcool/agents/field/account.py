"""What the clique of one agent has received, as rates and bounds want to know it."""

from dataclasses import dataclass


@dataclass
class ReceivedWeights:
    """Weights that a clique has received, where messages may be late; else all of them are zero.

    `mtcool.peers.field.records.CLIQUE` has the same numbers.
    """

    first_bound: float
    """The largest weight that it was told to expect at first."""
    received: float = 0.0
    """The sum of the weights that it has received."""
    lag: float = 0.0
    """Most that it received between reading a row and its gradient."""
    lags: float = 0.0
    """Twice the sum of weights times lags."""
    late: float = 0.0
    """Sum of the weights of gradients that may have come after their round: it cannot tell."""
    under_way: float = 0.0
    """What others have promised is not known to it, only what has come of it, below zero."""
    lost: float = 0.0
    """Sum of the weights of gradients that did not come."""

    def take(self, weight: float, stamp: float, late: bool) -> float:
        """Note a gradient for a row of this stamp; returns what makes its rate slower."""
        lag = self.received - stamp
        extra = 2.0 * weight * lag
        self.lags += extra
        self.lag = max(self.lag, lag)
        if late or lag > 0.0:
            self.late += weight
        self.received += weight
        self.under_way -= weight
        return extra
