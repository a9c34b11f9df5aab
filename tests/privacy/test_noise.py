"""Both sources of noise have the laws that they claim, at the scales that they claim."""

import math

import numpy as np
import pytest
from scipy.stats import kstest, laplace, norm

from mtcool.privacy import ExactNoise, SimulatedNoise
from mtcool.privacy.release import GRID

REJECT = 1e-6
SOURCES = {"simulated": lambda: SimulatedNoise(3), "exact": ExactNoise}
LAWS = {"laplace": laplace, "gaussian": norm}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("law", LAWS)
def test_the_law_is_accepted_and_wrong_scales_are_rejected(source, law):
    scales = np.repeat([0.5, 7.0, 1e3, 1e6], 1000)
    drawn = SOURCES[source]().draw(law, scales) / scales
    expected, n = LAWS[law].expect(np.abs), len(drawn)
    spread = math.sqrt(LAWS[law].var() - expected**2)
    assert abs(np.abs(drawn).mean() - expected) <= 4 * spread / math.sqrt(n)
    assert kstest(drawn, LAWS[law].cdf).pvalue > REJECT
    for wrong in (2 / 3, 3 / 2):
        assert kstest(drawn * wrong, LAWS[law].cdf).pvalue < REJECT
    other = LAWS["gaussian" if law == "laplace" else "laplace"]
    assert kstest(drawn / drawn.std() * other.std(), other.cdf).pvalue < REJECT


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("law", LAWS)
def test_draws_are_independent(source, law):
    drawn = SOURCES[source]().draw(law, np.ones(4000))
    scores = norm.ppf(LAWS[law].cdf(drawn))
    for lag in (1, 2, 7, 100):
        product = (scores[lag:] * scores[:-lag]).mean() * math.sqrt(4000 - lag)
        assert abs(product) < 5.0


def test_simulated_noise_repeats_in_one_call_or_in_many():
    scales = np.linspace(0.1, 5.0, 50)
    for law in LAWS:
        whole = SimulatedNoise(5).draw(law, scales)
        source = SimulatedNoise(5)
        parts = np.concatenate([source.draw(law, part) for part in np.split(scales, [3, 4, 30])])
        np.testing.assert_array_equal(whole, parts)


def test_simulated_noise_resumes():
    source = SimulatedNoise(5)
    source.draw("laplace", np.ones(7))
    state = source.state()
    expected = source.draw("gaussian", np.ones(9))
    again = SimulatedNoise(0)
    again.restore(state)
    np.testing.assert_array_equal(again.draw("gaussian", np.ones(9)), expected)


def test_without_a_seed_nobody_can_repeat_the_noise():
    one, two = SimulatedNoise(), SimulatedNoise()
    assert (one.draw("laplace", np.ones(5)) != two.draw("laplace", np.ones(5))).all()


def test_exact_noise_lies_on_the_grid():
    drawn = ExactNoise().draw("laplace", np.full(100, 3.0))
    assert (drawn / GRID == np.round(drawn / GRID)).all()
    assert len(set(drawn)) > 90


def test_simulated_noise_says_that_it_is_not_private():
    assert "not a private deployment" in repr(SimulatedNoise(0))


def test_generators_that_cannot_be_saved_are_refused():
    with pytest.raises(ValueError, match="seed must be a generator of PCG64"):
        SimulatedNoise(np.random.Generator(np.random.MT19937(0))).state()
