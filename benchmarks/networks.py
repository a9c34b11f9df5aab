"""Random networks of any size with random linear losses, for growth and scale."""

import numpy as np

from mtcool import Graph, Network, Stream, mt_co2ol, streams
from mtcool.learners import MTFTRLKT


def kt_network(graph: Graph, dim: int) -> Network:
    """MT-CO2OL with KT; the gradients below have norm one."""
    return mt_co2ol(graph, dim, learner=MTFTRLKT())


def unit_gradients(graph: Graph, dim: int, rounds: int) -> Stream:
    """Random agents, gradients in random directions."""
    rng = np.random.default_rng(1)
    gradients = rng.standard_normal((rounds, dim))
    gradients /= np.linalg.norm(gradients, axis=1, keepdims=True)
    agents = rng.integers(graph.size, size=rounds)
    return Stream(agents, streams.linear(gradients), labels=graph.labels)
