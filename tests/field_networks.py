"""Networks of the library for the cases of `field_cases.py`."""

import networkx as nx
import numpy as np

import mtcool
from mtcool.changes import Schedule, connect, disconnect, join, leave
from mtcool.field.codes import content_bytes
from mtcool.field.sizes import gradient_size, name_sizes, request_size, row_size
from mtcool.learners import FTRL, KT, MTFTRL, MTFTRLKT

LEARNERS = {"MTFTRL": MTFTRL, "MTFTRLKT": MTFTRLKT, "FTRL": FTRL, "KT": KT}
MAKE = {"connect": connect, "disconnect": disconnect, "join": join, "leave": leave}


def network(case):
    """The network of a case."""
    graph = nx.Graph()
    graph.add_nodes_from(case.graph)
    graph.add_edges_from((a, b) for a in case.graph for b in case.graph[a])
    options = dict(case.learner)
    return mtcool.mt_co2ol(
        graph,
        case.dim,
        learner=LEARNERS[options.pop("name")](**options),
        weights="uniform" if case.weights is None else matrix(case),
        rates=case.rates,
        lipschitz=case.lipschitz,
        radius=case.radius,
        on_excess="clip",  # a gradient of length one is a little longer after rounding
        messages=mtcool.Messages(**case.messages),
        delays=mtcool.Delays(**{name: delay(law) for name, law in case.delays.items()}),
        seed=case.seed,
    )


def delay(law):
    return mtcool.Delay(**law) if isinstance(law, dict) else law


def matrix(case):
    names = list(case.graph)
    weights = np.zeros((len(names), len(names)))
    for (a, b), weight in case.weights.items():
        weights[names.index(a), names.index(b)] = weight
    return weights


def schedule_of(case):
    """The changes of a case, with their times."""
    return Schedule([MAKE[kind](time, *about) for time, (kind, *about) in case.changes()])


def stream_of(case):
    """The rounds of a case, with linear losses."""
    rounds = case.rounds()
    names = list(dict.fromkeys([*case.graph, *(name for name, _ in rounds)]))
    agents = [names.index(name) for name, _ in rounds]
    losses = mtcool.streams.linear(np.array([gradient for _, gradient in rounds]))
    return mtcool.Stream(agents, losses, labels=names)


def simulate(case, net):
    """All steps of a case on its network, as a stream with changes; the trace."""
    return mtcool.simulate(net, stream_of(case), changes=schedule_of(case), per_round=True)


def size_of(case):
    """Bytes of a message of this kind and sender, as the library encodes it."""
    content = content_bytes(mtcool.Messages(**case.messages), case.dim)
    without = {
        "request": request_size(),
        "answer": row_size(content),
        "gradient": gradient_size(content),
    }

    def size(kind, sender, _content):
        return without[kind] + int(name_sizes([sender])[0])

    return size


def present(net):
    """Names of the agents that are there."""
    return list(net.graph.labels)


def traffic(net):
    """Messages and bytes that the activations of each agent have caused, by name."""
    agents = net.peers.state.agents
    return {
        name: (int(agents[i]["messages"]), int(agents[i]["bytes"]))
        for i, name in enumerate(net.names.labels)
    }
