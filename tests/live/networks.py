"""Small networks for live tests: how hosts make their agents afresh, again and again."""

from __future__ import annotations

import functools

import mtcool
from mtcool.live.driving import GradientDriver
from mtcool.live.share import Share

HOSTS = ("a", "b", "c", "d")


@functools.cache
def ring():
    return mtcool.mt_co2ol(
        mtcool.graphs.ring(4),
        1,
        learner=mtcool.learners.MTFTRLKT(),
        on_excess="clip",
    )


def make_ring(name: str):
    """One agent of a ring on each of four hosts."""
    i = HOSTS.index(name)
    near = (i - 1) % 4, i, (i + 1) % 4
    home = {k: HOSTS[k] for k in near}
    return Share(name, 7, home), {i: GradientDriver(ring().agent(i))}
