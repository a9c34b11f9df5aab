"""Small networks for live tests: how hosts make their agents afresh, again and again."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import mtcool
from mtcool.agents import FieldAgent
from mtcool.learn import Model
from mtcool.live.agents import Driver, GradientDriver, TableDriver
from mtcool.live.host_view import Share
from mtcool.live.journal import Changed


class Small(NamedTuple):
    """A network for the world of disasters."""

    hosts: list[str]
    descriptions: list[Callable[[str], tuple[Share, Changed]]]
    """What a host must know of the network, in each of its revisions."""
    make: Callable[[object], Driver]
    """Makes a fresh agent by its name."""
    features: bool = False
    """Whether agents are given features and targets; else gradients."""


def _small(
    size: int, hosts: int, agent: Callable[[int], Driver], revisions: int = 1, **more: bool
) -> Small:
    """A ring of agents, as many on each host; in later revisions some edges and agents change."""
    names = [f"host{k}" for k in range(hosts)]

    def describe(revision: int, name: str) -> tuple[Share, Changed]:
        edges = [(i, (i + 1) % size) for i in range(size)]
        if revision >= 1:  # an edge vanishes, another one appears
            edges[0] = (0, size // 2)
        if revision >= 2:  # an agent leaves, and a new one joins at the last host
            edges = [edge for edge in edges if size - 2 not in edge]
            edges += [(size, 0), (size, size - 1)]
        ends = sorted({end for edge in edges for end in edge})
        home = {i: names[min(i, size - 1) * hosts // size] for i in ends}
        near = {i: sorted(a + b - i for a, b in edges if i in (a, b)) for i in ends}
        own = [i for i in ends if home[i] == name]
        known = sorted({*own, *(k for i in own for k in near[i])})
        share = Share(name, 7, {i: home[i] for i in known}, revision, more.get("private", False))
        told = [(i, [(k, k, len(near[k])) for k in near[i]]) for i in own]
        return share, Changed(revision, list(share.home.items()), names, told)

    descriptions = [functools.partial(describe, k) for k in range(revisions)]
    return Small(names, descriptions, agent, more.get("features", False))


@functools.cache
def _ring(size: int, field: bool) -> mtcool.Network:
    more = {"rates": "adaptive", "messages": mtcool.Messages()} if field else {}
    return mtcool.mt_co2ol(
        mtcool.graphs.ring(size),
        1,
        learner=mtcool.learners.MTFTRLKT(),
        on_excess="clip",
        **more,
    )


@functools.cache
def _model(size: int) -> Model:
    model = Model(mtcool.graphs.ring(size))
    model.expect_features(1)
    return model


def ring() -> Small:
    """One agent of a ring on each of four hosts."""
    return _small(4, 4, lambda i: GradientDriver(_ring(4, False).agent(i)))


def shards() -> Small:
    """Six agents in the field on three hosts."""
    return _small(6, 3, lambda i: GradientDriver(_ring(6, True).agent(i)))


def larger() -> Small:
    """Nine agents on three hosts: one of each has no neighbours elsewhere."""
    return _small(9, 3, lambda i: GradientDriver(_ring(9, False).agent(i)))


def tables() -> Small:
    """The learner for tables, six agents on three hosts."""
    return _small(6, 3, lambda i: TableDriver(_model(6).agent(i)), features=True)


@functools.cache
def _private(size: int) -> mtcool.Network:
    level = mtcool.Privacy(1.0, 500, aggregator=mtcool.privacy.SmoothTree())
    experts = mtcool.learners.MTFTRL(experts="geometric")
    return mtcool.dpmt_co2ol(mtcool.graphs.ring(size), 1, level, learner=experts)


def private(size: int = 6) -> Small:
    """Private agents on three hosts, with noise that nobody can draw again."""
    drivers = lambda i: GradientDriver(_private(size).agent(i).with_noise())  # noqa: E731
    return _small(size, 3, drivers, private=True)


def changing() -> Small:
    """Agents in the field that come and go, with edges that do."""

    def agent(i: int) -> Driver:
        net = _ring(6, True)
        return GradientDriver(net.agent(i) if i < 6 else FieldAgent(i, i, net.settings))

    return _small(6, 3, agent, revisions=3)


def changing_tables() -> Small:
    """The same for tables."""

    def agent(i: int) -> Driver:
        if i < 6:
            return TableDriver(_model(6).agent(i))
        alone = Model(mtcool.Graph.from_edges([], labels=[i]))
        alone.expect_features(1)
        return TableDriver(alone.agent(i))

    return _small(6, 3, agent, revisions=3, features=True)


NETWORKS = {
    "private": private,
    "changing": changing,
    "changing_tables": changing_tables,
    "ring": ring,
    "shards": shards,
    "tables": tables,
}


def feedback(small: Small, rng: np.random.Generator) -> float | np.ndarray:
    """What an agent learns from next."""
    return float(rng.normal()) if small.features else rng.uniform(-1.0, 1.0, 1)
