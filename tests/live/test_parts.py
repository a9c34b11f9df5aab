"""A host makes its agents from its part of the graph, as if it had made the whole network."""

import numpy as np
import pytest

from mtcool import graphs
from mtcool.live.config import described, drivers_of, model_of, network_of
from mtcool.live.config.part import part_of, within
from mtcool.live.config.reading import index_of

GRAPH = {"kind": "erdos_renyi", "agents": 80, "p": 0.03}
KINDS = {
    "tables": {"learn": {"features": ["a", "b"]}},
    "rows of tables": {"learn": {"features": ["a", "b"], "share": "rows"}},
    "hedge": {"algorithm": {"dim": 2, "loss": "squared", "rates": "adaptive"}},
    "kt": {"algorithm": {"dim": 2, "learner": "MTFTRLKT"}},
}


def whole_agent(network, name):
    if network.file.learn is not None:
        return model_of(network).agent(name)
    agent = network_of(network).agent(name)
    agent.order(index_of(name), {other: index_of(other) for other in agent.neighbours})
    return agent


@pytest.mark.parametrize("kind", KINDS)
def test_an_agent_from_its_part_is_the_one_from_the_whole(kind):
    network = described({"name": "part", "graph": GRAPH, "shards": {"count": 10}} | KINDS[kind])
    make = drivers_of(network)
    for name in network.agents_of("host3"):
        part = make(name)
        kept = part.keep()
        assert tuple(part.neighbours) == network.neighbours(name)
        part.agent = whole_agent(network, name)
        assert part.keep() == kept


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_with_the_part_of_a_host_is_enough_for_it(kind):
    """Its agents, their neighbours, and the neighbours of these, each with its host."""
    whole = described({"name": "part", "graph": GRAPH, "shards": {"count": 10}} | KINDS[kind])
    own = np.array([whole.graph.index(name) for name in whole.agents_of("host3")])
    graph = part_of(whole.graph, within(whole.graph, own, 2))
    hosts = {}
    for name in graph.labels:
        host = whole.home[name]
        hosts.setdefault(host, {"agents": [], "listen": whole.places[host].listen})
        hosts[host]["agents"].append(name)
    i, j = np.nonzero(np.triu(edges_of(graph), 1))
    edges = [(graph.labels[a], graph.labels[b]) for a, b in zip(i, j, strict=True)]
    table = {"graph": {"kind": "edges", "agents": list(graph.labels), "edges": edges}}
    part = described({"name": "part", "hosts": hosts} | table | KINDS[kind])
    assert len(part.home) < len(whole.home)
    assert part.share("host3") == whole.share("host3")
    assert part.change("host3").near == whole.change("host3").near
    for name in part.agents_of("host3"):
        assert drivers_of(part)(name).keep() == drivers_of(whole)(name).keep()


def edges_of(graph):
    """Who is in whose neighbourhood, as a table of zeros and ones."""
    return graph.matrix(np.ones(graph.idx.size)).toarray().astype(int)


def test_parts_have_the_edges_between_their_nodes_in_their_order():
    graph = graphs.erdos_renyi(30, 0.2, seed=3)
    nodes = np.random.default_rng(4).permutation(30)[:12]
    part = part_of(graph, nodes)
    assert (np.array(part.labels) == nodes).all()
    assert (edges_of(part) == edges_of(graph)[np.ix_(nodes, nodes)]).all()


def test_what_is_near_is_what_edges_lead_to():
    graph = graphs.erdos_renyi(30, 0.1, seed=5)
    for count in range(4):
        reached = np.linalg.matrix_power(edges_of(graph), count)[[2, 7]].any(0)
        assert (within(graph, np.array([2, 7]), count) == np.flatnonzero(reached)).all()
