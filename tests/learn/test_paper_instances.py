"""The benchmark on the paper's instances: what is played, and what is compared."""

import numpy as np
import pytest
from benchmarks.learn.paper_instances import SMOOTHNESS, instance, regrets

from mtcool.streams import mean_local_deviation


def test_the_learner_is_far_below_the_papers_algorithms_on_a_short_stream():
    found = regrets(instance(1, 6.0, seed=0, quick=True))
    assert 0.0 < found.learned < found.best / 3.0
    assert found.best == min(found.i_ftrl, found.st_ftrl, found.mt_co2ol)


@pytest.mark.parametrize("dim", SMOOTHNESS)
def test_the_grid_takes_the_deviation_of_the_tasks_from_0_to_1(dim):
    given = [instance(dim, smoothness, seed=0, quick=True) for smoothness in SMOOTHNESS[dim]]
    sigma = [mean_local_deviation(one.graph, one.stream.comparator) for one in given]
    assert sigma[0] < 1e-3
    assert (np.diff(sigma) > 0.0).all()
    assert sigma[-1] > 0.9
