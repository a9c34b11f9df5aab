"""All audits of all mechanisms, and of planted bugs, as one list of checks."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from mtcool import validation
from mtcool.algorithms import dpmt_co2ol
from mtcool.audit import planted
from mtcool.audit.black_box import black_box
from mtcool.audit.law import noise_law
from mtcool.audit.subject import Plant
from mtcool.audit.transcript import Leak, Round, forced_transcript, worst_case
from mtcool.graphs import complete, erdos_renyi
from mtcool.learners import MTFTRL
from mtcool.privacy import BLT, Doubling, PerGradient, Privacy, SmoothTree
from mtcool.privacy.noise import make_noise
from mtcool.types import Floats

MECHANISMS = (
    Privacy(1.0, 15),
    Privacy(1.0, 27, aggregator=SmoothTree()),
    Privacy(1.0, 15, aggregator=Doubling()),
    Privacy(1.0, 15, aggregator=PerGradient()),
    Privacy(rho=0.5, horizon=15),
    Privacy(1.0, 20, delta=1e-6, aggregator=BLT()),
)
PAPERS = MECHANISMS[0]
EXACT = tuple(replace(MECHANISMS[k], noise="exact") for k in (1, 5))

BLACK_BOX = "black box"
FEWEST_RUNS = 20_000  # below, the black box is blind


class Verdict(NamedTuple):
    """What one audit said of one network.

    Found and allowed are the privacy loss of forced transcripts (epsilon, or mu of Gaussian noise),
    the mean size of the noise over its expectation, or a lower bound on epsilon.
    """

    audit: str
    """worst case or random pairs (forced transcripts), law of noise, black box."""
    subject: str
    bug: bool
    """A planted bug: the audit must fail."""
    found: float
    allowed: float
    passed: bool

    @property
    def as_it_should(self) -> bool:
        """Whether right code passed or a bug was found; a blind black box has found none."""
        blind = self.audit == BLACK_BOX and self.found <= self.allowed
        return not self.passed and not blind if self.bug else self.passed


def audit_suite(
    pairs: int = 10, runs: int = 100_000, seed: int = 0, exact: bool = False
) -> Iterator[Callable[[], Verdict]]:
    """Checks to call one by one.

    Examples
    --------
    >>> len(list(audit_suite()))
    32
    """
    pairs = validation.count("pairs", pairs)
    runs = validation.count("runs", runs, least=FEWEST_RUNS)
    if exact:
        make_noise("exact")  # says that OpenDP is missing before any work is done
    for privacy in (*MECHANISMS, *(EXACT if exact else ())):
        name, first = _title(privacy), None if privacy.noise == "exact" else seed
        yield partial(_worst, name, privacy, first)
        yield partial(_random, name, privacy, pairs, first)
        yield partial(_law, name, privacy, first)
    for horizon in (3, 7):
        yield partial(_outside, horizon, runs, seed, None)
    for bug in planted.IN_TRANSCRIPTS:
        yield partial(_worst, _name(bug), PAPERS, seed, bug)
    for bug in planted.IN_THE_NOISE:
        yield partial(_law, _name(bug), PAPERS, seed, bug)
    for bug in planted.FROM_OUTSIDE:
        yield partial(_outside, 3, runs, seed, bug)


def _title(privacy: Privacy) -> str:
    aggregator = privacy.aggregator
    gauss = ", Gauss" if privacy.law == "gaussian" and "laplace" in aggregator.laws else ""
    return aggregator.title + gauss + (", exact noise" if privacy.noise == "exact" else "")


def _name(bug: Plant) -> str:
    return "bug: " + bug.__name__.replace("_", " ")


def _worst(name: str, privacy: Privacy, seed: int | None, bug: Plant | None = None) -> Verdict:
    network = dpmt_co2ol(complete(4), 3, privacy, seed=seed)
    return _told("worst case", name, bug, worst_case(network, 1, plant=bug))


def _told(audit: str, name: str, bug: Plant | None, leak: Leak) -> Verdict:
    # Where something other than the owner's noise differs, nothing bounds the loss.
    within = leak.passed or leak.paid > leak.promised
    found = leak.paid if within else float("inf")
    return Verdict(audit, name, bug is not None, found, leak.promised, leak.passed)


def _random(name: str, privacy: Privacy, pairs: int, seed: int | None) -> Verdict:
    rng = np.random.default_rng(0 if seed is None else seed)
    leaks = [_random_leak(privacy, rng, seed) for _ in range(pairs)]
    worst = max(leaks, key=lambda leak: (not leak.passed, leak.paid / leak.promised))
    return _told("random pairs", name, None, worst)


def _random_leak(privacy: Privacy, rng: np.random.Generator, seed: int | None) -> Leak:
    """Quadratic losses with far targets, one of them replaced, on a random graph."""
    graph = erdos_renyi(5, 0.6, seed=int(rng.integers(2**31)))
    network = dpmt_co2ol(graph, 2, privacy, lipschitz=2.0, seed=seed)
    targets, active = 3.0 * rng.standard_normal((11, 2)), rng.integers(0, 5, 10)
    rounds = [Round(int(i), partial(_from, z)) for i, z in zip(active, targets, strict=False)]
    return forced_transcript(network, rounds, int(rng.integers(10)), partial(_from, targets[10]))


def _from(target: Floats, x: Floats) -> Floats:
    """Gradient of |x - target|^2 / 2."""
    return x - target


def _law(name: str, privacy: Privacy, seed: int | None, bug: Plant | None = None) -> Verdict:
    learner = MTFTRL(experts="geometric")
    network = dpmt_co2ol(complete(4), 60, replace(privacy, horizon=40), learner=learner, seed=seed)
    law = noise_law(network, releases=80, plant=bug)
    planted_bug, allowed = bug is not None, 1.0 + law.tolerance
    return Verdict("law of noise", name, planted_bug, law.mean_size, allowed, law.passed)


def _outside(horizon: int, runs: int, seed: int, bug: Plant | None) -> Verdict:
    found = black_box(horizon, runs=runs, seed=seed, plant=bug)
    name = f"{PAPERS.aggregator.title}, T = {horizon}" if bug is None else _name(bug)
    return Verdict(BLACK_BOX, name, bug is not None, found.lower, found.epsilon, found.passed)
