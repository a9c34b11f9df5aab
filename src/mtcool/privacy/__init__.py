"""Privacy: aggregators, calibration, accountant, noise and the ledger; `docs/privacy.md`.

- `privacy.py` has `Privacy`, what a caller asks for; `settings.py` what that is for every agent;
- `aggregators/` holds the mechanisms, one file each, and the table of them;
- `calibration.py` turns privacy levels into noise scales, `accountant.py` converts both ways;
- `release.py` is the one way out for private values; `noise.py` draws what it adds.
"""

from mtcool.privacy.accountant import (
    Guarantee,
    account,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
    zcdp_mu,
)
from mtcool.privacy.aggregators import (
    AGGREGATORS,
    BLT,
    Aggregator,
    BinaryTree,
    Doubling,
    NoNoise,
    PerGradient,
    SmoothTree,
    register,
)
from mtcool.privacy.aggregators.aggregator import known_horizon
from mtcool.privacy.aggregators.blt import filter_columns
from mtcool.privacy.aggregators.filters import Recurrence, make_filter
from mtcool.privacy.noise import ExactNoise, SimulatedNoise
from mtcool.privacy.privacy import Privacy
from mtcool.privacy.sanitiser import Account

__all__ = [
    "AGGREGATORS",
    "BLT",
    "Account",
    "Aggregator",
    "BinaryTree",
    "Doubling",
    "ExactNoise",
    "Guarantee",
    "NoNoise",
    "PerGradient",
    "Privacy",
    "Recurrence",
    "SimulatedNoise",
    "SmoothTree",
    "account",
    "filter_columns",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_mu",
    "known_horizon",
    "make_filter",
    "register",
    "zcdp_mu",
]
