"""Privacy: aggregators, calibration, accountant, noise and the ledger; `docs/privacy.md`.

- `aggregator.py` says what an aggregator is; `trees.py` and `filters.py` hold them;
- `calibration.py` turns privacy levels into noise scales, `accountant.py` solves for either;
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
from mtcool.privacy.aggregators.aggregator import Aggregator
from mtcool.privacy.aggregators.filters import BLT, NoNoise, PerGradient
from mtcool.privacy.aggregators.trees import BinaryTree, Doubling, SmoothTree
from mtcool.privacy.noise import ExactNoise, SimulatedNoise
from mtcool.privacy.sanitiser import Account

__all__ = [
    "BLT",
    "Account",
    "Aggregator",
    "BinaryTree",
    "Doubling",
    "ExactNoise",
    "Guarantee",
    "NoNoise",
    "PerGradient",
    "SimulatedNoise",
    "SmoothTree",
    "account",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_mu",
    "zcdp_mu",
]
