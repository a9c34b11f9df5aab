"""Sums over groups of rows, to the same bits however the rows are cut into batches."""

import numpy as np

from mtcool.types import Floats, Integers


def add_in_order(sums: Floats, groups: Integers, values: Floats) -> None:
    """Add each row of `values` to the row of `sums` that `groups` names, one after the other.

    What `np.add.at` does, in a tenth of its time: NumPy counts with weights in the order of the
    rows, and the sums so far are the first weights.

    Examples
    --------
    >>> sums = np.array([[1.0], [2.0]])
    >>> add_in_order(sums, np.array([1, 1]), np.array([[10.0], [100.0]]))
    >>> sums.tolist()
    [[1.0], [112.0]]
    """
    used, place = np.unique(groups, return_inverse=True)
    order = np.concatenate([np.arange(used.size), place])
    before = sums[used]
    for column in range(values.shape[1]):
        weights = np.concatenate([before[:, column], values[:, column]])
        sums[used, column] = np.bincount(order, weights)
