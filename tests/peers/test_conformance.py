"""The peers of every algorithm pass the checks that `mtcool.testing` has for peers."""

import functools

import numpy as np
import pytest

import mtcool
from mtcool.algorithms import ALGORITHMS
from mtcool.learners import FTRL, KT, MTFTRL, MTFTRLKT
from mtcool.privacy import AGGREGATORS, BLT, BinaryTree, Doubling, NoNoise, PerGradient, SmoothTree
from mtcool.testing import peers_checks
from mtcool.testing.peers.trial import AGENTS

ESTIMATED = {"rates": "estimated", "q_min": 1 / AGENTS, "horizon": 1}
NO_BOUND = {"lipschitz": "adaptive"}
PLAIN = {
    "mt_co2ol, Hedge": (mtcool.mt_co2ol, {"learner": MTFTRL()}),
    "mt_co2ol, KT": (mtcool.mt_co2ol, {"learner": MTFTRLKT()}),
    "mt_co2ol, FTRL": (mtcool.mt_co2ol, {"learner": FTRL()}),
    "two phases": (mtcool.mt_co2ol, {"learner": MTFTRLKT(), **ESTIMATED}),
    "adaptive rates": (mtcool.mt_co2ol, {"learner": MTFTRLKT(), "rates": "adaptive"}),
    "no L, Hedge": (mtcool.mt_co2ol, {"learner": MTFTRL(experts="geometric"), **NO_BOUND}),
    "no L, mt_co2ol, KT": (mtcool.mt_co2ol, {"learner": MTFTRLKT(), **NO_BOUND}),
    "no L, i_ftrl, KT": (mtcool.i_ftrl, {"learner": KT(), **NO_BOUND}),
    "no L, st_ftrl, FTRL": (mtcool.st_ftrl, {"learner": FTRL(), **NO_BOUND}),
    "no L, st_ftrl, KT": (mtcool.st_ftrl, {"learner": KT(), **NO_BOUND}),
    "pairwise, Hedge": (mtcool.pairwise, {"learner": MTFTRL()}),
    "pairwise, KT": (mtcool.pairwise, {"learner": MTFTRLKT()}),
    "st_ftrl, FTRL": (mtcool.st_ftrl, {"learner": FTRL()}),
    "st_ftrl, KT": (mtcool.st_ftrl, {"learner": KT()}),
    "i_ftrl, FTRL": (mtcool.i_ftrl, {"learner": FTRL()}),
    "i_ftrl, KT": (mtcool.i_ftrl, {"learner": KT()}),
}
PRIVATE = {
    "binary tree": (BinaryTree(), {}),
    "smooth tree": (SmoothTree(), {}),
    "doubling": (Doubling(), {}),
    "BLT": (BLT(), {"delta": 1e-6}),
    "per gradient": (PerGradient(), {}),
    "no noise": (NoNoise(), {}),
}


def private(name, dim):
    """Agents with levels and horizons of their own."""
    aggregator, levels = PRIVATE[name]
    rng = np.random.default_rng(dim)
    epsilon, horizon = rng.uniform(10.0, 100.0, AGENTS), rng.integers(100, 2_000, AGENTS)
    return mtcool.Privacy(epsilon, horizon, aggregator=aggregator, **levels)


@functools.cache
def checks_of(name, dim):
    """Made when a test asks for them: making a private network compiles."""
    if name in PLAIN:
        make, settings = PLAIN[name]
    else:
        settings = {"privacy": private(name, dim), "seed": 1}
        make = mtcool.dpmt_co2ol
    return {check.name: check for check in peers_checks(make, dim=dim, **settings)}


def cases():
    """All checks in three dimensions; on the line, where solvers differ, those of the numbers."""
    names = [check.name for check in peers_checks(ALGORITHMS["i_ftrl"])]
    for dim in (1, 3):
        for name in (*PLAIN, *PRIVATE):
            # A tree and a filter stand for the others.
            every = dim == 3 and name in (*PLAIN, "binary tree", "BLT")
            for check in names:
                if every or check == "agents_play_as_their_network_does":
                    yield pytest.param(name, dim, check, id=f"{name}, dim {dim}: {check}")


@pytest.mark.parametrize(("name", "dim", "check"), list(cases()))
def test_peers_pass_every_check(name, dim, check):
    checks_of(name, dim)[check].run()


def test_every_algorithm_and_aggregator_of_the_package_is_checked():
    assert {make.__name__ for make, _ in PLAIN.values()} | {"dpmt_co2ol"} == set(ALGORITHMS)
    assert {type(aggregator) for aggregator, _ in PRIVATE.values()} == set(AGGREGATORS.values())
