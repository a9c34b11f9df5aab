"""`Privacy`: one value for networks, noise tables, experiment files and commands."""

import inspect
import math
import pickle
from dataclasses import FrozenInstanceError, replace

import networkx as nx
import numpy as np
import pytest

import mtcool
from mtcool import Privacy
from mtcool.algorithms.published_noise import published_noise
from mtcool.privacy import BLT, BinaryTree, Doubling, NoNoise, SmoothTree

PATH = nx.path_graph(["rome", "milan"])


def test_levels_are_written_in_three_ways():
    same = [
        Privacy([1.0, 0.5], (9, 7)),
        Privacy(np.array([1.0, 0.5]), np.array([9, 7])),
        Privacy({"milan": 0.5, "rome": 1.0}, {"rome": 9, "milan": 7}),
    ]
    spread = {privacy.of_agents(("rome", "milan")) for privacy in same}
    assert len(spread) == 1
    (settings,) = spread
    assert (settings.budget.epsilon, settings.horizon) == ((1.0, 0.5), (9, 7))
    assert Privacy(1.0, 9).of_agents(range(3)).budget.epsilon == (1.0, 1.0, 1.0)


def test_the_network_and_the_table_of_noise_take_nothing_but_the_value():
    for make in (mtcool.dpmt_co2ol, published_noise):
        parameters = inspect.signature(make).parameters
        assert list(parameters)[:3] == ["graph", "dim", "privacy"]
        assert not {"epsilon", "horizon", "delta", "rho", "aggregator", "noise"} & set(parameters)
        with pytest.raises(ValueError, match=r"privacy must be a Privacy, such as .* got 1\.0"):
            make(PATH, 1, 1.0)


def test_it_cannot_change_and_does_not_share_what_the_caller_gave():
    levels = np.array([1.0, 0.5])
    privacy = Privacy(levels, 9)
    levels[:] = 100.0
    assert privacy.epsilon == (1.0, 0.5)
    with pytest.raises(FrozenInstanceError):
        privacy.epsilon = 3.0
    assert pickle.loads(pickle.dumps(privacy)) == privacy == replace(privacy)


def test_it_is_written_as_it_was_given():
    text = "Privacy(epsilon=1.0, horizon=9, delta=1e-06, aggregator=SmoothTree())"
    assert repr(Privacy(1, 9, delta=1e-6, aggregator=SmoothTree())) == text
    assert eval(text) == Privacy(1.0, 9.0, delta=1e-6, aggregator=SmoothTree())


@pytest.mark.parametrize(
    ("privacy", "law"),
    [
        (Privacy(1.0, 9), "laplace"),
        (Privacy(1.0, 9, delta=1e-6), "gaussian"),
        (Privacy(rho=0.5, horizon=9), "gaussian"),
        (Privacy(1.0, aggregator=Doubling()), "laplace"),
        (Privacy(1.0, 9, aggregator=NoNoise()), "none"),
    ],
)
def test_the_levels_and_the_aggregator_say_the_law(privacy, law):
    assert privacy.law == law
    assert privacy.of_agents(range(2)).law == law


class Strange(BinaryTree):
    """Not ours, although it has the name of one of ours."""


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "one of epsilon and rho must be given, got neither"),
        ({"epsilon": 1.0, "rho": 1.0}, "one of epsilon and rho must be given, got both"),
        ({"epsilon": math.nan}, "epsilon must be finite, got nan"),
        ({"epsilon": True}, "epsilon must be a number, got True"),
        ({"epsilon": [1.0, -1.0]}, "epsilon of agent 1 must be positive, got -1.0"),
        ({"epsilon": {"rome": 0}}, "epsilon of agent 'rome' must be positive, got 0"),
        ({"epsilon": np.ones((2, 2))}, "epsilon must be one number or one for each agent"),
        ({"epsilon": 1.0, "horizon": None}, "horizon must be given for this aggregator, got None"),
        ({"epsilon": 1.0, "horizon": [9, 2**41]}, "horizon must be at most"),
        ({"epsilon": 1.0, "aggregator": BinaryTree}, r"aggregator must be one of BinaryTree\(\)"),
        ({"epsilon": 1.0, "aggregator": Strange()}, r"aggregator must be one of BinaryTree\(\)"),
        ({"epsilon": 1.0, "aggregator": BLT()}, "delta or rho must be given for BLT"),
        ({"epsilon": 1.0, "split": math.nan}, "split must be finite, got nan"),
        ({"epsilon": 1.0, "calibration": ["paper"]}, "calibration must be one of tight, paper"),
        (
            {"rho": 1.0, "calibration": "paper"},
            'calibration="paper" needs an epsilon and no delta',
        ),
        (
            {"epsilon": 1.0, "calibration": "paper", "aggregator": SmoothTree()},
            'calibration must be "tight" except for BinaryTree, got "paper" with SmoothTree',
        ),
        (
            {"epsilon": 1.0, "calibration": "paper", "horizon": {"rome": 9, "milan": 1}},
            'horizon must be at least 2 for calibration="paper", got 1',
        ),
    ],
)
def test_what_needs_no_graph_is_refused_at_once(settings, message):
    with pytest.raises(ValueError, match=message):
        Privacy(**{"horizon": 9} | settings)


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ([1.0], "epsilon must be one number or one for each of the 2 agents, got 1"),
        ({"rome": 1.0}, "epsilon must have every agent as a key, and no other, got {'milan'}"),
    ],
)
def test_levels_that_do_not_fit_the_agents_are_refused(levels, message):
    for make in (mtcool.dpmt_co2ol, published_noise):
        with pytest.raises(ValueError, match=message):
            make(PATH, 1, Privacy(levels, 9))
