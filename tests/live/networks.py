"""Small networks for live tests: how hosts make their agents afresh, again and again."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

import mtcool
from mtcool.learn import Model
from mtcool.live.driving import Driver, GradientDriver, TableDriver
from mtcool.live.share import Share


class Small(NamedTuple):
    """A network for the world of disasters."""

    hosts: list[str]
    make: Callable[[str], tuple[Share, Mapping[object, Driver]]]
    """A host's share, and its agents as they were in the beginning."""
    features: bool = False
    """Whether agents are given features and targets; else gradients."""


def _small(size: int, hosts: int, agent: Callable[[int], Driver], **more: bool) -> Small:
    """A ring of agents, as many on each host."""
    names = [f"host{k}" for k in range(hosts)]
    home = {i: names[i * hosts // size] for i in range(size)}

    def make(name: str) -> tuple[Share, dict[object, Driver]]:
        own = [i for i in home if home[i] == name]
        near = sorted({k % size for i in own for k in (i - 1, i, i + 1)})
        private = more.get("private", False)
        share = Share(name, 7, {i: home[i] for i in near}, private)
        return share, {i: agent(i) for i in own}

    return Small(names, make, more.get("features", False))


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


def tables() -> Small:
    """The learner for tables, six agents on three hosts."""
    return _small(6, 3, lambda i: TableDriver(_model(6).agent(i)), features=True)


@functools.cache
def _private(size: int) -> mtcool.Network:
    level = mtcool.Privacy(1.0, 500, aggregator=mtcool.privacy.SmoothTree())
    experts = mtcool.learners.MTFTRL(experts="geometric")
    return mtcool.dpmt_co2ol(mtcool.graphs.ring(size), 1, level, learner=experts)


def private() -> Small:
    """Private agents, two on each of three hosts, with noise that nobody can draw again."""
    drivers = lambda i: GradientDriver(_private(6).agent(i).with_noise())  # noqa: E731
    return _small(6, 3, drivers, private=True)


NETWORKS = {"private": private, "ring": ring, "shards": shards, "tables": tables}


def feedback(small: Small, rng: np.random.Generator) -> float | np.ndarray:
    """What an agent learns from next."""
    return float(rng.normal()) if small.features else rng.uniform(-1.0, 1.0, 1)
