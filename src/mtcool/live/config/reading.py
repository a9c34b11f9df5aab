"""A network file, read and checked."""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from mtcool import graphs
from mtcool.config.complaints import convert
from mtcool.config.graphs import build_graph, graph_from_file
from mtcool.config.schema import GraphFile
from mtcool.graphs import Graph
from mtcool.graphs.labels import plain_name
from mtcool.live.config import tables
from mtcool.live.config.addresses import HIGHEST, Place, check_places
from mtcool.live.config.names import (
    as_text,
    check_agent_names,
    check_host_names,
    check_network_name,
)
from mtcool.live.config.part import part_of
from mtcool.live.config.sizes import largest_of
from mtcool.live.host_view import Share
from mtcool.live.journal import Changed
from mtcool.types import Label, Plain

SMALL = 2**31
"""Names that are whole numbers below this are in their own order, before all others."""


class Description(NamedTuple):
    """A network: what the file says, who is whose neighbour, and who lives where.

    Examples
    --------
    >>> ring = {"kind": "ring", "agents": 4}
    >>> network = described({"name": "demo", "graph": ring, "learn": {"features": ["x"]},
    ...     "shards": {"count": 2}})
    >>> network.home
    {0: 'host0', 1: 'host0', 2: 'host1', 3: 'host1'}
    """

    file: tables.NetworkFile
    folder: Path
    """Paths in the file are relative to it."""
    graph: Graph
    places: dict[str, Place]
    home: dict[Label, str]
    largest: int
    """Bytes of one question or reply that hosts take from each other."""

    @property
    def number(self) -> int:
        """What all hosts of this network agree on, and others do not; the graph may change."""
        kept = (self.file.name, self.file.learn, self.file.algorithm, self.file.privacy)
        digest = hashlib.sha256(msgspec.json.encode(kept)).digest()
        return int.from_bytes(digest[:6])

    @property
    def features(self) -> list[str]:
        """Names of the features of a network that learns from tables."""
        return [] if self.file.learn is None else self.file.learn.features

    @property
    def private(self) -> bool:
        """Whether its agents publish noisy sums."""
        return self.file.privacy is not None

    @property
    def publishes_losses(self) -> bool:
        """Whether status, metrics and page have losses, from which targets follow."""
        said = self.file.publish_losses
        return not self.private if said is None else said

    def neighbours(self, agent: Label) -> tuple[Label, ...]:
        """Those that an agent talks to.

        Parameters
        ----------
        agent
            Name of an agent of the network.
        """
        labels, i = self.graph.labels, self.graph.index(agent)
        found = self.graph.idx[self.graph.ptr[i] : self.graph.ptr[i + 1]]
        return tuple(labels[int(j)] for j in found if int(j) != i)

    def agents_of(self, host: str) -> tuple[Label, ...]:
        """The agents of a host.

        Parameters
        ----------
        host
            Name of a host of the network.
        """
        return tuple(agent for agent, where in self.home.items() if where == host)

    def share(self, host: str) -> Share:
        """What a host must know of the network.

        Parameters
        ----------
        host
            Name of a host of the network; another one is refused.
        """
        if host not in self.places:
            known = ", ".join(self.places)
            raise ValueError(f"host must be one of {known}, got {host!r}")
        own = self.agents_of(host)
        near = dict.fromkeys(other for agent in own for other in (agent, *self.neighbours(agent)))
        home = {agent: self.home[agent] for agent in near}
        return Share(host, self.number, home, self.file.revision, self.private)

    def change(self, host: str) -> Changed:
        """Who lives on a host and has which neighbours, for a host that reads the file again.

        Parameters
        ----------
        host
            Name of a host of the network.
        """
        share = self.share(host)
        home = [(plain_name(agent, "kept"), where) for agent, where in share.home.items()]
        near = [
            (
                plain_name(agent, "kept"),
                [
                    (plain_name(other, "kept"), index_of(other), len(self.neighbours(other)))
                    for other in self.neighbours(agent)
                ],
            )
            for agent in self.agents_of(host)
        ]
        return Changed(self.file.revision, home, list(self.places), near)

    def with_journal(self) -> Description:
        """The same network, whose hosts write journals."""
        return self._replace(file=msgspec.structs.replace(self.file, journal=True))

    def path(self, relative: str) -> Path:
        """A path in the file, from where the file is.

        Parameters
        ----------
        relative
            As it stands in the file.
        """
        return self.folder / relative


def index_of(agent: Label) -> int:
    """The place of an agent in the order of all, which depends on its name alone.

    Examples
    --------
    >>> index_of(3), index_of("rome")
    (3, 37241700208)
    """
    if isinstance(agent, int) and 0 <= agent < SMALL:
        return agent
    name = msgspec.msgpack.encode(plain_name(agent, "sent"))
    return 2 * SMALL + int.from_bytes(hashlib.sha256(name).digest()[:5])


def read_description(path: str | os.PathLike[str]) -> Description:
    """Read a network file; what is wrong is said in one sentence.

    Parameters
    ----------
    path
        The network's TOML file; paths in it are relative to its folder.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "demo.toml"
    ...     lines = ['name = "demo"', 'learn.features = ["x"]', "shards.count = 2",
    ...         'graph = { kind = "ring", agents = 4 }']
    ...     _ = path.write_text("\\n".join(lines))
    ...     network = read_description(path)
    >>> list(network.places)
    ['host0', 'host1']
    """
    file = Path(path)
    try:
        table = tomllib.loads(file.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{file} must be a TOML file, got one with an error: {error}") from None
    try:
        return described(table, file.parent)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def described(table: Mapping[str, Plain], folder: str | os.PathLike[str] = ".") -> Description:
    """The network that a table describes.

    Parameters
    ----------
    table
        What a network file says.
    folder
        Where the file is: paths in it are relative to its folder.

    Examples
    --------
    >>> ring = {"kind": "ring", "agents": 4}
    >>> described({"name": "demo", "graph": ring, "lern": {"features": ["x"]}})
    Traceback (most recent call last):
    ...
    ValueError: unknown key lern; did you mean learn?
    """
    file, folder = _checked(dict(table)), Path(folder)
    check_network_name(file.name)
    if (file.learn is None) == (file.algorithm is None):
        given = "none of them" if file.learn is None else "both"
        raise ValueError(f"one of learn and algorithm must be given, got {given}")
    private = file.algorithm is not None and file.algorithm.algorithm == "dpmt_co2ol"
    if private != (file.privacy is not None):
        must = "must be given for" if private else "applies only to"
        raise ValueError(f"privacy {must} dpmt_co2ol")
    if file.learn is not None and len(set(file.learn.features)) < len(file.learn.features):
        raise ValueError(f"learn.features must be different, got {file.learn.features!r}")
    graph = _graph(file, folder)
    check_agent_names(graph.labels)
    places, home = _places(file, graph)
    return Description(file, folder, graph, places, home, largest_of(file, graph, home))


def _checked(table: dict[str, Plain]) -> tables.NetworkFile:
    try:
        return convert(table, tables.NetworkFile)
    except ValueError:
        hosts = table.get("hosts")
        if not isinstance(hosts, dict):
            raise
    for name, host in hosts.items():  # msgspec does not say which of them is wrong
        if not isinstance(host, dict):
            raise ValueError(f"hosts.{name} must be a table, got {host!r}")
        try:
            convert(host, tables.HostTable)
        except ValueError as error:
            raise ValueError(f"hosts.{name}: {error}") from None
    return convert(table, tables.NetworkFile)


def _graph(file: tables.NetworkFile, folder: Path) -> Graph:
    match file.graph:
        case tables.EdgesTable(edges=edges, agents=agents):
            labels = tuple(dict.fromkeys([*agents, *(end for edge in edges for end in edge)]))
            if not labels:
                raise ValueError("graph.edges must not be empty, got no edges and no agents")
            return graphs.Graph.from_edges(edges, labels=sorted(labels, key=index_of))
        case GraphFile():
            return _in_order(graph_from_file(file.graph, folder))
        case tables.BirthsGraph() | tables.FlightsGraph() | tables.SchoolsGraph() as built_in_graph:
            from mtcool.learn.running.built_in import built_in

            name = type(built_in_graph).__struct_config__.tag
            return _in_order(built_in(name).graph)  # type: ignore[arg-type]
    return build_graph(file.graph, np.random.default_rng(file.seed))


def _in_order(graph: Graph) -> Graph:
    """The graph with its agents in the order that agents everywhere have."""
    labels = graph.labels
    return part_of(graph, np.array(sorted(range(graph.size), key=lambda i: index_of(labels[i]))))


def _places(file: tables.NetworkFile, graph: Graph) -> tuple[dict[str, Place], dict[Label, str]]:
    if (file.shards is None) == (not file.hosts):
        given = "neither" if file.shards is None else "both"
        raise ValueError(f"one of hosts and shards must be given, got {given}")
    if file.shards is not None:
        return _shards(file.shards, graph)
    check_host_names(file.hosts)
    places = {
        name: Place(host.listen, host.listen if host.address is None else host.address, host.http)
        for name, host in file.hosts.items()
    }
    check_places(places)
    home: dict[Label, str] = {}
    for name, host in file.hosts.items():
        for agent in host.agents:
            if agent in home:
                raise ValueError(
                    f"agent {agent!r} must have one host, got {home[agent]} and {name}"
                )
            home[agent] = name
    known = set(graph.labels)
    for agent_name, where in home.items():
        if agent_name not in known:
            alike = [label for label in graph.labels if as_text(label) == as_text(agent_name)]
            has = f", which has {alike[0]!r}" if alike else ""
            raise ValueError(f"hosts.{where}.agents must be in the graph{has}, got {agent_name!r}")
    for label in graph.labels:
        if label not in home:
            raise ValueError(f"agent {label!r} of the graph must have a host, got none")
    return places, {label: home[label] for label in graph.labels}


def _shards(shards: tables.Shards, graph: Graph) -> tuple[dict[str, Place], dict[Label, str]]:
    if shards.count > graph.size:
        raise ValueError(f"shards.count must be at most {graph.size} agents, got {shards.count}")
    for key, first in (("port", shards.port), ("http", shards.http or 1)):
        if first + shards.count - 1 > HIGHEST:
            raise ValueError(
                f"shards.{key} must be at most {HIGHEST + 1 - shards.count} for {shards.count} "
                f"processes, got {first}"
            )
    if shards.http is not None and abs(shards.http - shards.port) < shards.count:
        raise ValueError(
            f"shards.http must be at least {shards.count} away from shards.port, got "
            f"{shards.http} and {shards.port}"
        )
    places = {
        f"host{k}": Place(
            f"127.0.0.1:{shards.port + k}",
            f"127.0.0.1:{shards.port + k}",
            None if shards.http is None else f"127.0.0.1:{shards.http + k}",
        )
        for k in range(shards.count)
    }
    home: dict[Label, str] = {
        label: f"host{i * shards.count // graph.size}" for i, label in enumerate(graph.labels)
    }
    return places, home
