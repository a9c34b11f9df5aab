"""What a file keeps of a network in the field: no holes, no free places, no scratch.

Agents stand in the order in which they became known. The entries of an agent are those of its
neighbours, ascending, then of neighbours that vanished, ascending; rows are counted from the first
of their clique. What is under way is in the order in which it will be due, and of what is due
together, in the order in which it was sent. Whatever follows from this, from names and from
settings is not kept: clock and places, sizes of names, delays of edges, experts of a clique.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtcool.axes import counted
from mtcool.peers.field.queue import END
from mtcool.peers.field.records import FieldPeers, Queue
from mtcool.types import AnyArray, Floats, Indices, Integers

# As in `mtcool.peers.field.records`, without what follows from something else.
AGENT = np.dtype(
    [
        (name, np.int64)
        for name in ("count", "ever", "present", "fresh", "begun", "messages", "bytes")
    ]
)
WEIGHTS = ("bound", "first_bound", "received", "lag", "lags", "late", "under_way", "lost")
CLIQUE = np.dtype(
    [("slots", np.int64), ("doublings", np.int64), *((name, np.float64) for name in WEIGHTS)]
)
MESSAGE = np.dtype(
    [
        *((name, np.int64) for name in ("due", "sender", "receiver", "row", "number")),
        ("weight", np.float64),
        ("stamp", np.float64),
    ]
)
LABEL = np.dtype([(name, np.int64) for name in ("due", "agent", "number", "count")])
TARGET = np.dtype(
    [
        ("clique", np.int64),
        *((name, np.float64) for name in ("weight", "stamp", "help")),
    ]
)


class Form(NamedTuple):
    """All arrays but those of the learner."""

    agents: NDArray[np.void]
    """Of type `AGENT`."""
    cliques: NDArray[np.void]
    """Of type `CLIQUE`."""
    clique: Indices
    """The neighbour of every entry."""
    row: Indices
    score: Floats
    """This and the three that follow are of present neighbours only, or empty if nobody needs them.

    `mtcool.peers.field.records.Edges` says what they are.
    """
    number: Integers
    stamp: Floats
    kept: Floats
    messages: NDArray[np.void]
    """Of type `MESSAGE`."""
    content: Floats
    labels: NDArray[np.void]
    """Of type `LABEL`."""
    gradients: Floats
    targets: NDArray[np.void]
    """Of type `TARGET`: those of the labels, one label after the other."""


OF_PRESENT = ("score", "number", "stamp", "kept")
"""Arrays with one entry for each neighbour that is there."""


def form_of(peers: FieldPeers, known: int) -> Form:
    """The form of a network that knows so many agents."""
    edges, queue = peers.state.edges, peers.state.queue
    agents, cliques = peers.state.agents[:known], peers.state.cliques[:known]
    entries = counted(agents["first"], agents["ever"])
    owner = np.repeat(np.arange(known), agents["ever"])
    vanished = entries >= (agents["first"] + agents["count"])[owner]
    entries = entries[np.lexsort((edges.clique[entries], vanished, owner))]
    present, clique = entries[~vanished], edges.clique[entries]
    said = {name: getattr(edges, name) for name in OF_PRESENT}
    messages = _in_order(queue.first, queue.messages)
    labels = _in_order(queue.label_first, queue.labels)
    return Form(
        agents=copy_fields(agents, np.zeros(known, AGENT)),
        cliques=copy_fields(cliques, np.zeros(known, CLIQUE)),
        clique=clique,
        row=(edges.row[entries] - cliques["first"][clique]).astype(np.uint32),
        **{name: array[present] if len(array) else array for name, array in said.items()},
        messages=copy_fields(queue.messages[messages], np.zeros(len(messages), MESSAGE)),
        content=queue.content[messages],
        labels=copy_fields(queue.labels[labels], np.zeros(len(labels), LABEL)),
        gradients=queue.gradients[labels],
        targets=_targets(queue, labels),
    )


def owners(form: Form) -> Integers:
    """The agent of every entry."""
    return np.repeat(np.arange(len(form.agents)), form.agents["ever"])


def present_entries(form: Form) -> Integers:
    """Places of the entries of neighbours that are there."""
    ever = form.agents["ever"]
    return counted(np.cumsum(ever) - ever, form.agents["count"])


def copy_fields(source: AnyArray, target: NDArray[np.void]) -> NDArray[np.void]:
    """Copy the fields that both kinds of records have; returns the target."""
    for name in set(source.dtype.names or ()) & set(target.dtype.names or ()):
        target[name] = source[name]
    return target


def _in_order(first: Integers, waiting: AnyArray) -> Integers:
    """Places of what is under way, by the round in which it is due; those of a round as sent."""
    following, places = waiting["next"].tolist(), []
    for place in first[first != END].tolist():
        while place != END:
            places.append(place)
            place = following[place]
    found = np.array(places, np.int64)
    return found[np.argsort(waiting["due"][found], kind="stable")]


def _targets(queue: Queue, labels: Integers) -> NDArray[np.void]:
    """The targets of the labels, one label after the other."""
    chosen = counted(queue.labels["first"][labels], queue.labels["count"][labels])
    return copy_fields(queue.targets[chosen], np.zeros(len(chosen), TARGET))
