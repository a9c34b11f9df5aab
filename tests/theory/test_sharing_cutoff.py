"""The epsilon from which sharing pays, solved from the bounds."""

import math

import numpy as np
import pytest

from mtcool import graphs, theory


def sides(graph, each, mechanism="tree"):
    """The bound of sharing as a function of epsilon, and that of learning alone."""
    tasks, counts = np.ones((graph.size, 1)), np.full(graph.size, each)

    def sharing(epsilon):
        if mechanism == "tree":
            noise = theory.tree_noise(epsilon, 1, each)
            return theory.private_known_variances(graph, tasks, counts, noise)
        return theory.per_gradient_noise(graph, tasks, counts, math.sqrt(8.0) / epsilon)

    own = graphs.own_weights(graph)
    return sharing, theory.known_variances(graph, tasks, counts, weights=own)


@pytest.mark.parametrize("mechanism", ["tree", "each gradient"])
def test_at_the_cutoff_the_two_bounds_are_equal(mechanism):
    sharing, alone = sides(graphs.complete(10), 500, mechanism)
    cutoff = theory.sharing_cutoff(sharing, alone)
    assert sharing(cutoff).value == pytest.approx(alone.value, rel=1e-9)
    assert sharing(1.01 * cutoff).value < alone.value < sharing(0.99 * cutoff).value


def test_for_noise_that_falls_as_one_over_epsilon_it_is_a_fraction():
    sharing, alone = sides(graphs.ring(8), 1000)
    one = sharing(1.0)
    want = one.parts["gradient_noise"] / (alone.value - one.parts["regret"])
    assert theory.sharing_cutoff(sharing, alone) == pytest.approx(want)


def test_with_a_tree_it_vanishes_and_with_noise_on_every_gradient_it_does_not():
    """The remarks after `th:reg-DP_anyG`."""
    graph = graphs.complete(10)

    def cutoffs(mechanism):
        return [theory.sharing_cutoff(*sides(graph, 10**k, mechanism)) for k in (4, 6, 8)]

    tree, each = cutoffs("tree"), cutoffs("each gradient")
    assert tree[0] > 4 * tree[1] > 16 * tree[2]
    assert each[2] == pytest.approx(each[1], rel=0.01)
    assert each[2] > 0.5


def test_where_nothing_can_be_gained_sharing_never_pays():
    assert theory.sharing_cutoff(*sides(graphs.edgeless(5), 100)) == math.inf


def test_where_privacy_costs_nothing_it_always_pays():
    sharing, alone = sides(graphs.complete(10), 100)
    assert theory.sharing_cutoff(lambda epsilon: sharing(1e30), alone) == 0.0


def test_the_papers_noise_and_constants_have_a_cutoff_in_large_cliques_only():
    """Its constant 6 (1 + ln N) is above 2 sqrt(N) up to about N = 460."""
    for size, finite in ((30, False), (1000, True)):
        graph, counts = graphs.star(size), np.full(size, 10**6)  # all delegate to the centre
        tasks = np.zeros((size, 1))

        def sharing(epsilon, graph=graph, tasks=tasks, counts=counts):
            return theory.private(graph, tasks, counts, epsilon, weights="delegation")

        cutoff = theory.sharing_cutoff(sharing, theory.independent(counts))
        assert math.isfinite(cutoff) == finite
