from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import chisquare

from mtcool.streams import bursts, round_robin, sequence, stochastic


def counts(agents: np.ndarray, n: int) -> np.ndarray:
    return np.bincount(agents, minlength=n)


def test_stochastic_with_a_number_is_uniform() -> None:
    agents = stochastic(20_000, 7, seed=1)
    assert chisquare(counts(agents, 7)).pvalue > 1e-3


def test_stochastic_follows_the_given_probabilities_and_no_others() -> None:
    q = np.array([0.5, 0.2, 0.3])
    observed = counts(stochastic(20_000, q, seed=2), 3)
    assert chisquare(observed, 20_000 * q).pvalue > 1e-3
    assert chisquare(observed, 20_000 * np.array([0.48, 0.22, 0.3])).pvalue < 1e-6


def test_stochastic_activations_are_independent() -> None:
    agents = stochastic(20_001, 3, seed=3)
    pairs = counts(3 * agents[:-1] + agents[1:], 9)
    assert chisquare(pairs).pvalue > 1e-3


def test_an_agent_of_probability_zero_is_never_active() -> None:
    assert set(stochastic(1000, [0.5, 0.0, 0.5], seed=4)) == {0, 2}


def test_round_robin_takes_turns() -> None:
    assert round_robin(7, 3).tolist() == [0, 1, 2, 0, 1, 2, 0]


def test_bursts_last_as_long_as_said_and_then_another_agent_follows() -> None:
    agents = bursts(1003, 4, length=5, seed=5)
    assert agents.size == 1003
    blocks = agents[:1000].reshape(-1, 5)
    assert (blocks == blocks[:, :1]).all()
    assert (blocks[1:, 0] != blocks[:-1, 0]).all()


def test_every_other_agent_is_equally_likely_to_have_the_next_burst() -> None:
    starts = bursts(20_001, 4, length=1, seed=6)
    moves = (starts[1:] - starts[:-1]) % 4
    assert chisquare(counts(moves, 4)[1:]).pvalue > 1e-3
    first = [bursts(3, 4, length=1, seed=seed)[0] for seed in range(2000)]
    assert chisquare(counts(np.array(first), 4)).pvalue > 1e-3


def test_bursts_of_a_single_agent_never_end() -> None:
    assert not bursts(10, 1, length=2, seed=0).any()


@pytest.mark.parametrize(
    "draw",
    [
        lambda seed: stochastic(50, 5, seed),
        lambda seed: stochastic(50, [0.1, 0.9], seed),
        lambda seed: bursts(50, 5, 3, seed),
    ],
)
def test_a_seed_gives_the_same_agents_and_a_generator_goes_on(draw: Callable) -> None:
    assert (draw(8) == draw(8)).all()
    assert (draw(8) == draw(np.random.default_rng(8))).all()
    shared = np.random.default_rng(8)
    assert (draw(shared) != draw(shared)).any()


def test_every_activation_is_an_int64_array() -> None:
    for agents in (
        stochastic(3, 2, seed=0),
        stochastic(3, [0.5, 0.5], seed=0),
        round_robin(3, 2),
        bursts(3, 2, 1, seed=0),
        sequence(np.array([0, 1], dtype=np.uint8), 2),
        sequence([], 2),
    ):
        assert agents.dtype == np.int64
        assert agents.flags.c_contiguous


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: stochastic(0, 3, 0), "rounds.*0"),
        (lambda: stochastic(5, 0, 0), "q must.*0"),
        (lambda: stochastic(5, 2.5, 0), r"q must.*2\.5"),
        (lambda: stochastic(5, [0.5, 0.4], 0), "q must sum"),
        (lambda: stochastic(5, [1.5, -0.5], 0), "q must not be negative"),
        (lambda: stochastic(5, [[1.0]], 0), "q must have shape"),
        (lambda: stochastic(5, [], 0), "q must sum"),
        (lambda: stochastic(5, "many", 0), "q must.*many"),
        (lambda: stochastic(5, 3, -1), "seed.*-1"),
        (lambda: stochastic(5, 3, None), "seed.*None"),
        (lambda: round_robin(2.5, 3), r"rounds.*2\.5"),
        (lambda: round_robin(5, 0), "n must.*0"),
        (lambda: bursts(5, 3, 0, 0), "length.*0"),
        (lambda: bursts(5, 0, 1, 0), "n must.*0"),
        (lambda: sequence([0, 3], 3), "agents.*below 3, got 3"),
        (lambda: sequence([0, -1], 3), "agents.*got -1"),
        (lambda: sequence([0, -1]), "agents must be at least 0, got -1"),
        (lambda: sequence([[0, 1]], 3), "agents.*shape"),
        (lambda: sequence([0.0, 1.0], 3), "agents must be whole"),
        (lambda: sequence([True], 3), "agents must be whole"),
        (lambda: sequence([[0], [1, 2]], 3), "agents must be a sequence"),
        (lambda: sequence([0], -1), "n must.*-1"),
    ],
)
def test_bad_activations_are_refused(call: Callable[[], object], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        call()
