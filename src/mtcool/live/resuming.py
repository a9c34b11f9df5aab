"""A host begins, or begins again from what is on its disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mtcool.graphs.labels import label_of
from mtcool.live.agents import Driver, Near
from mtcool.live.host import Host, HostLimits
from mtcool.live.host_view import Share
from mtcool.live.journal import Changed
from mtcool.live.residents import check_homes, near_in
from mtcool.live.transactions import Checkpoint
from mtcool.types import Label


def resume(
    share: Share,
    change: Changed,
    make: Callable[[Label], Driver],
    kept: Checkpoint | None,
    *,
    limits: HostLimits,
    journal: bool,
    kind: type[Host] = Host,
) -> Host:
    """A host as it was when it stopped, or new, with the neighbours that the description says.

    Parameters
    ----------
    share, change
        What the description says now.
    make
        Makes a fresh agent by its name.
    kept
        What is on disk, if anything is.
    kind
        The class of the host: tests have some that make mistakes.
    """
    near = near_in(change)
    if kept is None:
        drivers = {name: make(name) for name in near}
        for name, driver in drivers.items():
            driver.meet(near[name], skipped=change.revision > 0)
        return kind(share, drivers, limits=limits, journal=journal)
    lives = kept.lives
    if change.revision < lives.revision:
        raise ValueError(
            f"revision must be at least {lives.revision}, which this host has seen, "
            f"got {change.revision}"
        )
    home = {label_of(name): host for name, host in lives.home}
    drivers = {name: make(name) for name in map(label_of, lives.here)}
    before = share._replace(home=home, revision=lives.revision)
    left = {name: make(name) for name in map(label_of, lives.left)}
    host = kind(before, drivers, kept, left, limits=limits, journal=journal)
    if change.revision > lives.revision:
        joining = {name: make(name) for name in near if name not in drivers | left}
        host.change(change, joining)
        return host
    check_homes(home, change)
    if set(near) != set(drivers) or any(
        {one.name for one in near[name]} != set(drivers[name].neighbours)
        and _met(make(name), near[name]) != set(drivers[name].neighbours)
        for name in near
    ):
        raise ValueError(
            f"revision must be above {lives.revision} where the graph has changed, got "
            f"{change.revision}"
        )
    return host


def _met(driver: Driver, near: Sequence[Near]) -> set[Label]:
    """Whom a new agent talks to, who need not be all of its neighbours in the graph."""
    driver.meet(near)
    return set(driver.neighbours)
