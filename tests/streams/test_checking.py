"""A loss from outside is convex, and its subgradients are some: else nothing is played on it."""

import sys

import numpy as np
import pytest

import mtcool
from huber import Distance, Huber
from mtcool.learners import FTRL
from mtcool.streams import Losses, Stream, check_loss, examples, squared
from planted_loss import planted

FEATURES = np.random.default_rng(0).standard_normal((200, 2))
TARGET = FEATURES @ [0.5, -0.3]
ROWS = examples(FEATURES, TARGET)
AGENTS = np.arange(200) % 4


def a_network(radius=1.0):
    graph = mtcool.graphs.ring(4)
    return mtcool.i_ftrl(graph, 2, learner=FTRL(), lipschitz=10.0, radius=radius)


NOT_FINITE = r"losses must be finite, with finite subgradients, in the ball of radius 1, got "
NOT_BELOW = r"losses must be convex, and subgradients support them from below, got "
NOT_CONVEX = r"losses must be convex, got "
WHERE = r"Planted\(mistake=\d+\) in round \d+.* at \[.*\]"
COMPLAINTS = {
    "sign": NOT_BELOW + WHERE,
    "half": NOT_BELOW + WHERE,
    "coordinate": NOT_BELOW + WHERE,
    "unwritten": NOT_FINITE + r".* with \[ *nan .*\] at \[",
    "one side": NOT_BELOW + WHERE,
    "concave": NOT_CONVEX + WHERE,
    "capped": NOT_CONVEX + WHERE,
    "infinite": NOT_FINITE + r".* which is inf with .* at \[",
    "undefined": NOT_FINITE + r".* which is nan with .* at \[",
    "lipschitz": r"no steeper than lipschitz says, which is [\d.]+ for radius 1, got " + WHERE,
    "row": r"losses must leave the point and their rows as they are, got " + WHERE,
    "point": r"losses must leave the point and their rows as they are, got " + WHERE,
}


@pytest.mark.parametrize("mistake", COMPLAINTS)
def test_a_mistake_is_named_with_round_point_and_values(mistake):
    with pytest.raises(ValueError, match=COMPLAINTS[mistake]):
        check_loss(Losses(planted(mistake), ROWS))


@pytest.mark.parametrize("radius", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_losses_without_a_mistake_pass_whatever_their_scale(scale, radius):
    targets = np.append(0.0, TARGET[1:])  # in the first round of `Distance` the corner is in 0
    for losses in (
        Losses(planted("none"), scale * ROWS),
        Losses(Huber(0.5 * scale), scale * ROWS),
        Losses(Distance(scale), scale * np.outer(targets, [1.0, 1.0])),
        Losses(Distance(1.0), np.zeros((3, 1))),
    ):
        check_loss(losses, radius)


def test_no_rounds_cannot_be_wrong():
    check_loss(Losses(planted("sign"), ROWS[:0]))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((Losses(planted("none"), ROWS), 0.0), "radius must be positive"),
        ((ROWS,), "losses must be Losses"),
        ((Losses(Huber(-1.0), ROWS),), r"Huber\.delta must be positive"),
    ],
)
def test_what_cannot_be_checked_is_refused(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        check_loss(*arguments)


def test_the_rounds_that_are_looked_at_are_not_the_first_ones_only():
    rows = ROWS.copy()
    rows[:100] = 0.0  # where a wrong sign does not show
    with pytest.raises(ValueError, match=r"in round 1\d\d with"):
        check_loss(Losses(planted("sign"), rows))


def test_a_wrong_sign_is_refused_before_anything_is_learned():
    network, stream = a_network(), Stream(AGENTS, Losses(planted("sign"), ROWS))
    with pytest.raises(ValueError, match=NOT_BELOW):
        mtcool.simulate(network, stream)
    assert (network.peers.state.n == 0).all()


def test_the_ball_is_that_of_the_network():
    stream = Stream(AGENTS, Losses(planted("capped"), ROWS))
    mtcool.simulate(a_network(radius=0.1), stream)  # where no loss is capped
    with pytest.raises(ValueError, match=NOT_CONVEX):
        mtcool.simulate(a_network(radius=2.0), stream)


def test_losses_of_the_package_are_not_looked_at_again(monkeypatch):
    seen = []
    monkeypatch.setattr(
        sys.modules["mtcool.simulation.simulate"], "check_loss", lambda *given: seen.append(given)
    )
    mtcool.simulate(a_network(), Stream(AGENTS, squared(FEATURES, TARGET)))
    assert not seen
    stream = Stream(AGENTS, Losses(Huber(1.0), ROWS))
    mtcool.simulate(a_network(), stream)
    assert seen == [(stream.losses, 1.0)]


def test_it_is_offered_to_test_suites_as_well():
    assert mtcool.testing.check_loss is check_loss
