"""Connected components, of a graph in the form of a sparse matrix."""

import numpy as np

from mtcool.graphs.graph import Matrix
from mtcool.types import Integers


def connected_components(matrix: Matrix) -> tuple[int, Integers]:
    """Return the number of components, and the component of every agent."""
    from scipy.sparse import csgraph  # slow to import, and most networks do not need it

    number, component = csgraph.connected_components(matrix, directed=False)
    return int(number), component.astype(np.int64)
