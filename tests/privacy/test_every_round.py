"""Private agents talk in every round: messages, delays and changes are refused, and files too."""

import pickle
import re

import pytest
from tests.saved_files import forge, taken_apart

import mtcool
from mtcool import Delays, Messages, Privacy
from mtcool.algorithms import algorithm
from mtcool.algorithms.making import make_network

GRAPH = mtcool.graphs.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
INSTEAD = (
    "messages do not apply to dpmt_co2ol, got {}: private agents send their sums to all neighbours "
    "in every round. Leave messages out, or use mt_co2ol with messages, which keeps nothing private"
)


def made(**options):
    return mtcool.dpmt_co2ol(GRAPH, 2, Privacy(1.0, 15), seed=0, **options)


@pytest.mark.parametrize(
    "messages",
    [
        Messages(),
        Messages(every=3),
        Messages(probability=0.4),
        Messages(budget=20),
        Messages(partners=1),
        Messages(bits=8),
    ],
    ids=repr,
)
def test_messages_are_refused_with_what_to_use_instead(messages):
    with pytest.raises(ValueError, match=re.escape(INSTEAD.format(messages))):
        made(messages=messages)


def test_other_refusals_say_why():
    with pytest.raises(ValueError, match=r"messages must be an mtcool\.Messages, got 3"):
        made(messages=3)
    record = algorithm("dpmt_co2ol")
    with pytest.raises(
        ValueError, match=r"delays do not apply to a network of dpmt_co2ol, .*net\.agents\(\)"
    ):
        make_network(record, GRAPH, 1, privacy=Privacy(1.0, 9), delays=Delays(gradients=2))


def test_the_graph_stays():
    net = made()
    net.update(0, [0.1, 0.1])
    before = pickle.dumps(net)
    with pytest.raises(ValueError, match="the graph of dpmt_co2ol cannot change"):
        net.disconnect(0, 1)
    assert pickle.dumps(net) == before


def test_files_of_networks_with_silent_rounds_are_refused(tmp_path):
    """As release 0.2.0 wrote them: with the messages of any other network in the header."""
    silent, path = Messages(every=3), tmp_path / "net.npz"
    mtcool.mt_co2ol(GRAPH, 2, rates="adaptive", messages=silent).save(path)
    field = taken_apart(path)[0]["setup"]["field"]
    made().save(path)
    header, arrays = taken_apart(path)
    header["setup"]["field"] = field
    forge(path, header, arrays)
    with pytest.raises(ValueError, match=re.escape(INSTEAD.format(silent))):
        mtcool.load(path)
