"""epsilon, delta and noise against Google's dp-accounting and against each other."""

import math

import pytest
from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss

from mtcool.privacy import account, gaussian_delta, gaussian_epsilon, gaussian_mu, zcdp_mu

LEVELS = [(0.01, 1e-9), (0.1, 1e-6), (1.0, 1e-6), (1.0, 1e-3), (5.0, 1e-5), (20.0, 1e-12)]


@pytest.mark.parametrize("sigma", [0.3, 1.0, 4.0, 50.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 5.0])
def test_delta_of_gaussian_noise_is_that_of_dp_accounting(sigma, epsilon):
    theirs = GaussianPrivacyLoss(sigma, sensitivity=1.0).get_delta_for_epsilon(epsilon)
    assert gaussian_delta(1.0 / sigma, epsilon) == pytest.approx(theirs, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(("epsilon", "delta"), LEVELS)
def test_noise_for_epsilon_and_delta_is_that_of_dp_accounting(epsilon, delta):
    sigma = account("gaussian", epsilon=epsilon, delta=delta).noise
    theirs = GaussianPrivacyLoss(sigma, sensitivity=1.0).get_delta_for_epsilon(epsilon)
    assert theirs == pytest.approx(delta, rel=1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), LEVELS)
def test_any_two_of_the_three_give_the_third(epsilon, delta):
    mu = gaussian_mu(epsilon, delta)
    assert gaussian_delta(mu, epsilon) == pytest.approx(delta, rel=1e-9)
    assert gaussian_epsilon(mu, delta) == pytest.approx(epsilon, rel=1e-6)
    both = account("gaussian", noise=1.0 / mu, epsilon=epsilon)
    assert both.delta == pytest.approx(delta, rel=1e-9)
    assert account("gaussian", noise=1.0 / mu, delta=delta).epsilon == pytest.approx(epsilon, 1e-6)


def test_gaussian_noise_is_zero_concentrated():
    """rho-zCDP gives (rho + 2 sqrt(rho ln 1/delta), delta): the exact epsilon is below."""
    for rho in (0.01, 0.5, 3.0):
        mu = zcdp_mu(rho)
        for delta in (1e-3, 1e-9):
            loose = rho + 2.0 * math.sqrt(rho * math.log(1.0 / delta))
            assert gaussian_epsilon(mu, delta) <= loose
    assert account("gaussian", noise=1.0, delta=1e-6).rho == 0.5


def test_laplace_noise_is_pure():
    assert account("laplace", epsilon=0.25).noise == 4.0
    assert account("laplace", noise=4.0).epsilon == 0.25
    assert account("laplace", noise=4.0).delta == 0.0


def test_enough_noise_needs_no_epsilon():
    assert gaussian_epsilon(1e-6, 0.1) == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"law": "cauchy", "epsilon": 1.0}, "law must be one of"),
        ({"law": "gaussian", "epsilon": 1.0}, "two of epsilon, delta and noise must be given"),
        ({"law": "gaussian", "epsilon": 0.0, "delta": 1e-6}, "epsilon must be positive"),
        ({"law": "gaussian", "epsilon": math.inf, "delta": 1e-6}, "epsilon must be finite"),
        ({"law": "gaussian", "epsilon": 1.0, "delta": 0.0}, "delta must be between 0 and 1"),
        ({"law": "gaussian", "epsilon": 1.0, "delta": 1.0}, "delta must be between 0 and 1"),
        ({"law": "gaussian", "noise": -1.0, "delta": 0.1}, "noise must be positive"),
        ({"law": "laplace"}, "one of epsilon and noise must be given"),
        ({"law": "laplace", "epsilon": 1.0, "delta": 0.1}, "delta has no meaning"),
        ({"law": "laplace", "epsilon": 1.0, "noise": 1.0}, "one of epsilon and noise"),
    ],
)
def test_wrong_levels_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        account(arguments.pop("law"), **arguments)
