"""Networks that change: edges appear and vanish, agents join and leave, at given times.

A `Schedule` is a list of such changes. It is written by hand, read from a file, made from a series
of graphs, or drawn: links that fail, agents that move, agents that come and go. It is checked
against the graph that the network starts from.

Examples
--------
>>> import networkx as nx
>>> from mtcool.changes import Schedule, activations, connect, join, leave
>>> start = nx.path_graph(["rome", "milan", "turin"])
>>> edge, newcomer = connect(50, "rome", "turin"), join(80, "oslo", ["rome"])
>>> schedule = Schedule([edge, newcomer, leave(90, "turin")])
>>> schedule.check(start)
>>> schedule.graph_at(start, 95).labels
('rome', 'milan', 'oslo')

Who is active in each of 100 rounds, as indices in `schedule.agents(start)`:

>>> activations(start, schedule, 100, seed=1)[90:]
array([1, 1, 3, 1, 3, 3, 0, 0, 1, 3])
"""

from typing import TYPE_CHECKING

from mtcool.changes.change import Change, connect, disconnect, join, leave
from mtcool.changes.events import CONNECT, DISCONNECT, JOIN, LEAVE, Events
from mtcool.lazy import attach

if TYPE_CHECKING:
    from mtcool.changes.active import activations
    from mtcool.changes.arrivals import churn
    from mtcool.changes.blinking import blinking_edges
    from mtcool.changes.files import read_changes, write_changes
    from mtcool.changes.moving import moving_agents
    from mtcool.changes.schedule import Schedule
    from mtcool.changes.snapshots import from_graphs
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "active": ("activations",),
            "arrivals": ("churn",),
            "schedule": ("Schedule",),
            "blinking": ("blinking_edges",),
            "files": ("read_changes", "write_changes"),
            "moving": ("moving_agents",),
            "snapshots": ("from_graphs",),
        },
    )

__all__ = [
    "CONNECT",
    "DISCONNECT",
    "JOIN",
    "LEAVE",
    "Change",
    "Events",
    "Schedule",
    "activations",
    "blinking_edges",
    "churn",
    "connect",
    "disconnect",
    "from_graphs",
    "join",
    "leave",
    "moving_agents",
    "read_changes",
    "write_changes",
]
