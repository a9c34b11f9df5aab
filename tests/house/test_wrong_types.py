"""Arguments of a wrong type are refused with a ValueError that names the argument and the value."""

import re

import numpy as np
import pytest

import mtcool
from mtcool.agents import Gradient, decode, encode
from mtcool.algorithms import make_network
from mtcool.learners import KT

RING = mtcool.graphs.ring(3)
RECORD = "algorithm must be the record of an algorithm"
CONTENT = encode(Gradient("rome", 1.0, np.ones(2)))


def net():
    return mtcool.i_ftrl(RING, 1, learner=KT())


def shared():
    return mtcool.mt_co2ol(RING, 1, learner=KT())


def released():
    view = memoryview(CONTENT)
    view.release()
    return view


CASES = {
    "answers": (
        lambda: shared().agent(0).activate().predict(None),
        "answers must be rows by the names of agents, got None",
    ),
    "a graph from nothing": (
        lambda: mtcool.graphs.read_graph(None),
        "path must be that of a file, got None",
    ),
    "a name for a record": (lambda: make_network("i_ftrl", RING, 1), f"{RECORD}, .*got 'i_ftrl'"),
    "no record": (lambda: make_network(None, RING, 1), f"{RECORD}, .*got None"),
    "numbers for agents": (
        lambda: mtcool.Network.from_agents([1], RING),
        "agents must be agents of a network, got 1 among them",
    ),
    "a graph for agents": (
        lambda: mtcool.Network.from_agents(RING, list(net().agents().values())),
        r"agents must be agents of a network, got Graph\(3",
    ),
    "a view of a matrix": (
        lambda: decode(memoryview(np.ones((2, 2), np.uint8))),
        "content must be a message",
    ),
    "a view of a number": (
        lambda: decode(memoryview(np.array(1, np.uint8))),
        "content must be a message",
    ),
    "a released view": (lambda: decode(released()), "content must be bytes, got <released"),
    "a number for a message": (lambda: encode(3), "message must be one of .*, got 3"),
    "an object in a message": (
        lambda: encode(Gradient(object(), 1.0, np.ones(2))),
        "message must hold what can be sent, got Gradient.*object cannot be part",
    ),
    "a function that makes no network": (
        lambda: mtcool.testing.check_peers(len),
        "algorithm must be .* a function of a graph and a dimension .*, got <built-in function len",
    ),
    "no levels": (
        lambda: mtcool.Privacy([], 9),
        re.escape("epsilon must be one number or one for each agent, got []"),
    ),
    "no horizons": (
        lambda: mtcool.Privacy(1.0, {}),
        re.escape("horizon must be one number or one for each agent, got {}"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_type_is_refused_by_name(case):
    call, words = CASES[case]
    with pytest.raises(ValueError, match=words):
        call()


def test_a_view_with_strides_is_read():
    twice = b"".join(bytes([byte, 0]) for byte in CONTENT)
    assert decode(memoryview(twice)[::2]).sender == "rome"
