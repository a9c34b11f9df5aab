"""Random histories of a network, each with what networkx makes of it."""

import networkx as nx
from hypothesis import strategies as st

from mtcool.changes import connect, disconnect, join, leave

NAMES = ["rome", 3, "7a", ("a", 1), "new york, ny"]
STRANGERS = ["oslo", 12, "semi;colon", 'a "quoted" name']


def _possible(graph, names):
    """Every change that is possible now, by event, as arguments."""
    present = list(graph)
    found = {
        "connect": [(a, b) for a, b in nx.non_edges(graph)],
        "disconnect": list(graph.edges),
        "join": [name for name in names if name not in graph],
        "leave": present if len(present) > 1 else [],
    }
    return {event: choices for event, choices in found.items() if choices}


@st.composite
def histories(draw, names=NAMES, strangers=STRANGERS, longest=12):
    """A start graph, its changes, and the graph after each of them (networkx is the oracle)."""
    graph = nx.Graph()
    graph.add_nodes_from(draw(st.lists(st.sampled_from(names), min_size=1, unique=True)))
    pairs = st.tuples(*[st.sampled_from(list(graph))] * 2)
    graph.add_edges_from((a, b) for a, b in draw(st.lists(pairs, max_size=6)) if a != b)
    start, changes, after, time = graph.copy(), [], [], 0
    for step in draw(st.lists(st.sampled_from([0, 0.25, 1, 3]), max_size=longest)):
        time += step
        possible = _possible(graph, [*names, *strangers])
        event = draw(st.sampled_from(sorted(possible)))
        who = draw(st.sampled_from(possible[event]))
        if event == "connect":
            changes.append(connect(time, *who))
            graph.add_edge(*who)
        elif event == "disconnect":
            changes.append(disconnect(time, *who))
            graph.remove_edge(*who)
        elif event == "join":
            others = draw(st.lists(st.sampled_from(list(graph)), unique=True))
            changes.append(join(time, who, others))
            graph.add_node(who)
            graph.add_edges_from((who, other) for other in others)
        else:
            changes.append(leave(time, who))
            graph.remove_node(who)
        after.append(graph.copy())
    return start, changes, after
