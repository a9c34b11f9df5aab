"""Gaussian tasks that are smooth on a graph: the law of the paper's experiments."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array, eye_array, triu

from mtcool import memory
from mtcool.graphs import GraphLike, as_graph
from mtcool.graphs.components import connected_components
from mtcool.seeds import Seed, generator
from mtcool.streams.losses import Matrix
from mtcool.validation import count, non_negative

Laplacian: TypeAlias = "csr_array[Any, Any]"

DENSE_UP_TO = 2000
"""The largest graph whose Laplacian is diagonalised; larger ones are solved with, never dense."""


def gaussian_tasks(graph: GraphLike, dim: int, smoothness: float, seed: Seed) -> Matrix:
    """Tasks whose columns are independent draws of N(0, (I + smoothness L)^-1).

    L is the Laplacian of the graph. Smoothness 0 makes the tasks independent; the larger it is,
    the more alike neighbours are; `math.inf` gives one task to each connected component, of
    variance one over its size.

    Parameters
    ----------
    graph
        A networkx graph or a `Graph`.
    dim
        Dimension of the tasks.
    smoothness
        How alike neighbours are, from 0 to `math.inf`.
    seed
        A whole number, or a generator that the caller shares.

    Examples
    --------
    >>> from mtcool.graphs import Graph
    >>> path = Graph.from_edges([(0, 1), (1, 2)])
    >>> tasks = gaussian_tasks(path, dim=2, smoothness=math.inf, seed=0)
    >>> bool((tasks == tasks[0]).all())
    True
    """
    agents = as_graph(graph)
    shape = (agents.size, count("dim", dim))
    memory.require("dim", dim, 16 * agents.size * shape[1])
    if smoothness != math.inf:
        smoothness = non_negative("smoothness", smoothness)
    rng = generator(seed)
    # Each method is a linear map of the same noise: under one seed the tasks vary continuously
    # with the smoothness, up to infinity.
    white = rng.standard_normal(shape)
    laplacian = agents.laplacian()
    if smoothness == math.inf:
        return _component_means(laplacian, white)
    if agents.size <= DENSE_UP_TO:
        return _by_diagonalisation(laplacian, smoothness, white)
    return _by_solving(laplacian, smoothness, white, rng)


def _component_means(laplacian: Laplacian, white: Matrix) -> Matrix:
    number, component = connected_components(laplacian)
    totals = np.zeros((number, white.shape[1]))
    np.add.at(totals, component, white)
    means: Matrix = (totals / np.bincount(component)[:, np.newaxis])[component]
    return means


def _by_diagonalisation(laplacian: Laplacian, smoothness: float, white: Matrix) -> Matrix:
    spectrum, basis = np.linalg.eigh(laplacian.toarray())
    # Rounding makes the zeros slightly positive or negative, and a smoothness of 1e10 would
    # take that for a difference between tasks that should be equal.
    spectrum[: connected_components(laplacian)[0]] = 0.0
    scale = 1.0 / np.sqrt(1.0 + smoothness * spectrum)
    # The symmetric square root: it does not depend on the basis that the solver chose.
    tasks: Matrix = basis @ (scale[:, np.newaxis] * (basis.T @ white))
    return tasks


def _by_solving(
    laplacian: Laplacian, smoothness: float, white: Matrix, rng: np.random.Generator
) -> Matrix:
    """Perturb and solve: with L = B'B and M = I + smoothness L, e + sqrt(smoothness) B'f has
    covariance M for white e and f, so M^-1 times it has covariance M^-1.
    """
    from scipy.sparse.linalg import cg  # slow to import, and only large networks need it

    edges = triu(laplacian, k=1, format="coo")
    heads, tails = edges.coords
    # M leaves the component means as they are. Without them the system stays well conditioned
    # however large the smoothness is.
    means = _component_means(laplacian, white)
    system = eye_array(laplacian.shape[0], format="csr") + smoothness * laplacian
    tasks = np.empty_like(white)
    for k in range(white.shape[1]):
        flow = np.sqrt(-smoothness * edges.data) * rng.standard_normal(edges.nnz)
        right = white[:, k] - means[:, k]
        np.add.at(right, heads, flow)
        np.subtract.at(right, tails, flow)
        tasks[:, k], failed = cg(system, right, rtol=1e-12)
        if failed:
            raise RuntimeError(f"no convergence for smoothness {smoothness} after {failed} steps")
    return tasks - _component_means(laplacian, tasks) + means
