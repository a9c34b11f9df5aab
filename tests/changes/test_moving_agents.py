"""Agents that move: edges are distances, walks are walks, in their steady state from the start."""

import itertools

import numpy as np
import pytest
from scipy.stats import chisquare, ks_2samp, kstest

from mtcool.changes import moving_agents
from mtcool.changes.moving import MEAN_DISTANCE, _share_within, walks
from mtcool.graphs import complete

SPEED, PAUSE = 0.01, 30


def places(agents, times, speed=SPEED, pause=PAUSE, seed=1):
    return np.array(list(walks(agents, times, speed, pause, np.random.default_rng(seed))))


def adjacency(graph):
    return graph.matrix(np.ones(graph.idx.size)).toarray() == 1


@pytest.mark.parametrize(
    ("radius", "speed", "pause", "every"),
    [(0.2, 0.01, 0, 1), (0.3, 0.05, 7.5, 4), (0.1, 1.0, 0.0, 50), (2.0, 0.1, 0, 10)],
)
def test_edges_are_the_pairs_within_the_radius_at_every_look(radius, speed, pause, every):
    graph, schedule = moving_agents(25, 60, radius, speed, pause, every, seed=3)
    times = range(0, 60, every)
    for time, where in zip(times, places(25, times, speed, pause, seed=3), strict=True):
        distance = np.hypot(*(where[:, None] - where[None]).transpose(2, 0, 1))
        for moment in {time, min(time + every - 1, 59)}:
            found = adjacency(schedule.graph_at(graph, moment))
            np.testing.assert_array_equal(found, distance <= radius)


def test_who_reaches_everybody_always_does():
    graph, schedule = moving_agents(6, 100, 1.5, 0.1, 0, 1, seed=0)
    np.testing.assert_array_equal(adjacency(graph), adjacency(complete(6)))
    assert len(schedule) == 0
    assert moving_agents(1, 5, 0.1, 0.1, 0, 1, seed=0)[0].size == 1


@pytest.fixture(scope="module")
def steps():
    """Places of many agents at short intervals, and the steps between them."""
    where = places(400, np.arange(0, 600, 0.5))
    return where, np.diff(where, axis=0)


def test_walks_stay_in_the_square_and_keep_their_speed(steps):
    where, step = steps
    assert where.min() >= 0
    assert where.max() <= 1
    length = np.hypot(step[..., 0], step[..., 1])
    assert length.max() < 0.5 * SPEED * (1 + 1e-9)
    walking, resting = np.isclose(length, 0.5 * SPEED), length < 1e-12
    # Who neither walks nor rests for the whole interval arrives, leaves or turns in it.
    between = 0.5 / (PAUSE + MEAN_DISTANCE / SPEED) * 2
    assert (walking | resting).mean() > 1 - 1.5 * between


def test_rests_last_for_the_pause_and_legs_are_straight(steps):
    where, step = steps
    resting = np.hypot(step[..., 0], step[..., 1]) < 1e-12
    for agent in range(50):
        changes = np.flatnonzero(np.diff(resting[:, agent].astype(int)))
        for first, last in itertools.pairwise(changes):
            if resting[first + 1, agent]:
                assert abs(0.5 * (last - first) - PAUSE) <= 1
            else:
                leg = where[first + 2 : last, agent] - where[first + 2, agent]
                turn = leg[:, 0] * leg[-1, 1] - leg[:, 1] * leg[-1, 0]
                assert abs(turn).max() < 1e-12


@pytest.mark.parametrize("time", [0, 10, 29, 60, 3000])
def test_the_share_of_time_at_rest_is_that_of_the_steady_state(time):
    agents = 20_000
    one, other = places(agents, [time, time + 1e-3])
    share = PAUSE / (PAUSE + MEAN_DISTANCE / SPEED)
    error = np.sqrt(share * (1 - share) / agents)
    resting = (one == other).all(axis=1).mean()
    assert abs(resting - share) < 4 * error + 1e-4  # a few start or stop in between
    assert abs(resting - 1.1 * share) > 6 * error


def test_where_agents_are_has_the_same_law_at_any_time():
    start, late = (places(20_000, [time], seed=time)[0] for time in (0, 3000))
    for one, other in zip(start.T, late.T, strict=True):
        assert ks_2samp(one, other).pvalue > 1e-3
        # It is not the uniform law: those who walk meet in the middle.
        assert kstest(one, "uniform").pvalue < 1e-6


@pytest.mark.parametrize("time", [0, 500])
def test_points_of_rest_are_uniform(time):
    one, other = places(20_000, [time, time + 1e-3])
    resting = one[(one == other).all(axis=1)]
    cells = (4 * resting).astype(int) @ [4, 1]
    assert len(resting) > 5000
    assert chisquare(np.bincount(cells, minlength=16)).pvalue > 1e-3


def test_the_mean_distance_and_the_share_within_reach_are_those_of_random_points():
    points = np.random.default_rng(0).random((200_000, 2, 2))
    distance = np.hypot(*(points[:, 0] - points[:, 1]).T)
    assert abs(distance.mean() - MEAN_DISTANCE) < 4 * distance.std() / np.sqrt(200_000)
    for radius in (0.1, 0.5, 1.0):
        share = _share_within(radius)
        error = np.sqrt(share * (1 - share) / 200_000)
        assert abs((distance <= radius).mean() - share) < 4 * error


def test_a_seed_gives_the_same_schedule():
    arguments = (20, 50, 0.3, 0.05, 2, 5)
    graph, schedule = moving_agents(*arguments, seed=8)
    again = moving_agents(*arguments, seed=np.random.default_rng(8))
    assert schedule == again[1]
    np.testing.assert_array_equal(graph.idx, again[0].idx)
    assert schedule != moving_agents(*arguments, seed=9)[1]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"agents": 0}, "agents must be .*got 0"),
        ({"rounds": 0}, "rounds must be .*got 0"),
        ({"radius": 0}, "radius must be positive, got 0"),
        ({"speed": 0}, "speed must be positive, got 0"),
        ({"speed": 1.5}, r"speed must be at most 1, the side of the square, got 1\.5"),
        ({"pause": -1}, "pause must not be negative, got -1"),
        ({"every": 0}, "every must be .*got 0"),
        ({"every": 2.5}, r"every must be .*got 2\.5"),
        ({"seed": None}, "seed must be .*got None"),
    ],
)
def test_bad_arguments_are_refused(change, complaint):
    right = {"agents": 5, "rounds": 5, "radius": 1, "speed": 0.1, "pause": 0, "every": 1, "seed": 0}
    with pytest.raises(ValueError, match=complaint):
        moving_agents(**{**right, **change})
