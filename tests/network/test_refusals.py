"""Bad input is refused with a ValueError that names it, and changes nothing."""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from tests.private import private_network

import mtcool
from mtcool.learners import FTRL, KT, MTFTRL, MTFTRLKT, first_phase
from mtcool.streams import Stream, quadratic


def private(graph, dim, on_excess="clip", **settings):
    """A private network, which always clips; two of them have the same noise."""
    assert on_excess == "clip"
    return private_network(graph, dim, **{"epsilon": 20.0, "horizon": 60, "seed": 0} | settings)


MAKERS = {
    "mt_co2ol": mtcool.mt_co2ol,
    "pairwise": mtcool.pairwise,
    "i_ftrl": mtcool.i_ftrl,
    "st_ftrl": mtcool.st_ftrl,
    "dpmt_co2ol": private,
}
OPEN = [name for name in MAKERS if name != "dpmt_co2ol"]  # those that may refuse long gradients
NAN, INF = float("nan"), float("inf")
STAR = nx.star_graph(4)
ROOMS = {"gradients", "point", "models"}  # of the peers: scratch, not state


def contents(record, prefix=""):
    """Every array of a NamedTuple of arrays and NamedTuples, by name, as bytes."""
    found = {}
    for name, field in zip(record._fields, record, strict=True):
        if hasattr(field, "_fields"):
            found |= contents(field, f"{prefix}{name}.")
        else:
            found[prefix + name] = np.asarray(field).tobytes()
    return found


def memory(network):
    """All that the network knows; ST-FTRL's rooms hold the points that it asked gradients at."""
    everything = contents(network.peers)
    if network.settings.algorithm.name == "st_ftrl":
        return {name: value for name, value in everything.items() if name not in ROOMS}
    return everything


def used_network(algorithm, **settings):
    """A network with some past, so that a state set back to zero would show."""
    network = MAKERS[algorithm](STAR, 2, **settings)
    for agent, direction in [(0, [0.6, 0.8]), (3, [-1.0, 0.0]), (3, [0.0, 1.0])]:
        tell(network, agent, np.array(direction) * network.settings.lipschitz)
    return network


def tell(network, agent, gradient):
    single_task = network.settings.algorithm.name == "st_ftrl"
    network.update(agent, (lambda x: gradient) if single_task else gradient)


def refused(words):
    return pytest.raises(ValueError, match=re.escape(words))


BAD_GRADIENTS = {
    "a NaN": ([NAN, 0.0], "gradient must be finite, got an entry nan"),
    "an infinity": ([0.0, -INF], "gradient must be finite, got an entry -inf"),
    "too short": ([0.5], "gradient must have shape (2,), got shape (1,)"),
    "too long a vector": ([0.0, 0.0, 0.0], "gradient must have shape (2,), got shape (3,)"),
    "empty": ([], "gradient must have shape (2,), got shape (0,)"),
    "a scalar": (0.5, "gradient must have shape (2,), got shape ()"),
    "a matrix": ([[0.5, 0.0]], "gradient must have shape (2,), got shape (1, 2)"),
    "a column": (np.zeros((2, 1)), "gradient must have shape (2,), got shape (2, 1)"),
    "complex": (np.array([0.5j, 0.0]), "gradient must be an array of numbers, got array([0."),
    "complex and real": (np.zeros(2, complex), "gradient must be an array of numbers"),
    "texts of numbers": (["0.5", "0.5"], "gradient must be an array of numbers, got ['0.5'"),
    "texts as objects": (np.array(["0.5", 0.0], object), "gradient must be an array of numbers"),
    "bytes": (b"ab", "gradient must be an array of numbers, got b'ab'"),
    "a text": ("gradient", "gradient must be an array of numbers, got 'gradient'"),
    "dates": (np.zeros(2, "M8[s]"), "gradient must be an array of numbers"),
    "durations": (np.zeros(2, "m8[s]"), "gradient must be an array of numbers"),
    "None": (None, "gradient must"),
    "one None": ([None, 0.0], "gradient must be finite, got an entry nan"),
    "ragged": ([[1.0], [0.0, 1.0]], "gradient must be an array of numbers, got [[1.0]"),
    "a whole number beyond floats": ([10**400, 0], "gradient must be an array of numbers"),
    "a dictionary": ({0: 1.0, 1: 0.0}, "gradient must be an array of numbers, got {0: 1.0"),
    "masked": (np.ma.masked_greater([0.1, 0.9], 0.5), "gradient must be an array of numbers"),
    "an iterator": (iter([0.5, 0.0]), "gradient must be an array of numbers"),
}


LONG_GRADIENTS = {
    "too large": (
        [3.0, 4.0],
        "gradient must have norm at most lipschitz = 1.0, got norm 5.0; give a larger lipschitz, "
        'or on_excess="clip"',
    ),
    "a little too large": ([1.0 + 1e-8, 0.0], "gradient must have norm at most lipschitz = 1.0"),
    "too large to square": ([1e200, 0.0], "lipschitz = 1.0, got norm 1e+200"),
}
# A private network clips what the others refuse.
BAD = dict.fromkeys(OPEN, BAD_GRADIENTS | LONG_GRADIENTS)
BAD["dpmt_co2ol"] = BAD_GRADIENTS


@pytest.mark.parametrize(
    ("algorithm", "kind"), [(name, kind) for name in BAD for kind in BAD[name]]
)
def test_a_bad_gradient_is_refused_and_changes_nothing(algorithm, kind):
    gradient, words = BAD[algorithm][kind]
    network = used_network(algorithm)
    before = memory(network)
    with refused(words):
        tell(network, 0, gradient)
    assert memory(network) == before


@pytest.mark.parametrize("algorithm", MAKERS)
def test_a_gradient_of_norm_lipschitz_passes_however_it_is_rounded(algorithm):
    rng = np.random.default_rng(0)
    network = MAKERS[algorithm](STAR, 2, lipschitz=0.3)
    for _ in range(50):
        direction = rng.normal(size=2)
        tell(network, 0, 0.3 * direction / np.linalg.norm(direction))
    assert np.isfinite(network.predict(0)).all()


@pytest.mark.parametrize("unit", [10.0, 1e200, 4e307])
@pytest.mark.parametrize("algorithm", MAKERS)
def test_clipping_equals_sending_the_shortened_gradient(algorithm, unit):
    """Also where its square, or its norm, is larger than all numbers."""
    clipping = used_network(algorithm, on_excess="clip", lipschitz=2.0)
    shortened = used_network(algorithm, lipschitz=2.0)
    tell(clipping, 0, [3.0 * unit, -4.0 * unit])
    tell(shortened, 0, [1.2, -1.6])
    for agent in STAR:
        np.testing.assert_allclose(clipping.predict(agent), shortened.predict(agent), rtol=1e-14)


@pytest.mark.parametrize("algorithm", OPEN)
def test_clipping_leaves_short_gradients_as_they_are(algorithm):
    clipping = used_network(algorithm, on_excess="clip")
    assert memory(clipping)["state.total"] == memory(used_network(algorithm))["state.total"]


@pytest.mark.parametrize("algorithm", MAKERS)
@pytest.mark.parametrize("gradient", [[NAN, 0.0], [INF, 0.0], [1e200, -INF]])
def test_clipping_refuses_what_cannot_be_shortened(algorithm, gradient):
    network = used_network(algorithm, on_excess="clip")
    before = memory(network)
    with refused("gradient must"):
        tell(network, 0, gradient)
    assert memory(network) == before


STRANGERS = ["nobody", -1, 5, 0.5, None, (0, 1), [0], {0}, {"agent": 0}, np.array([0, 1]), ([],)]


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("agent", STRANGERS, ids=repr)
def test_an_unknown_agent_is_refused_and_changes_nothing(agent, named):
    graph = nx.relabel_nodes(STAR, dict(zip(range(5), "abcde", strict=True))) if named else STAR
    network = mtcool.i_ftrl(graph, 2)
    before = memory(network)
    words = f"agent must be a node of the graph, got {agent!r}"
    with refused(words):
        network.predict(agent)
    with refused(words):
        network.update(agent, [1.0, 0.0])
    assert memory(network) == before


BAD_GRAPHS = {
    "directed": (
        nx.DiGraph([(0, 1)]),
        "graph must be undirected (to_undirected() makes it), got a DiGraph",
    ),
    "directed multigraph": (nx.MultiDiGraph([(0, 1)]), "graph must be undirected"),
    "empty": (nx.Graph(), "graph must have a node, got a Graph with 0 nodes"),
    "edges": (
        [(0, 1)],
        "graph must be a networkx graph or a Graph (Graph.from_edges makes one), got [(0, 1)]",
    ),
    "a matrix": (
        np.eye(2),
        "graph must be a networkx graph or a Graph (Graph.from_edges makes one), got an array",
    ),
    "None": (
        None,
        "graph must be a networkx graph or a Graph (Graph.from_edges makes one), got None",
    ),
    "a class": (
        nx.Graph,
        "graph must be a networkx graph or a Graph (Graph.from_edges makes one), got <class",
    ),
}


@pytest.mark.parametrize("algorithm", MAKERS)
@pytest.mark.parametrize("kind", BAD_GRAPHS)
def test_a_bad_graph_is_refused(algorithm, kind):
    graph, words = BAD_GRAPHS[kind]
    with refused(words):
        MAKERS[algorithm](graph, 2)


BAD_SETTINGS = {
    "dim 0": ({"dim": 0}, "dim must be a whole number of at least 1, got 0"),
    "dim 10^20": ({"dim": 10**20}, "dim must be at most 1099511627776, got 1" + 20 * "0"),
    "dim -2": ({"dim": -2}, "dim must be a whole number of at least 1, got -2"),
    "dim 1.5": ({"dim": 1.5}, "dim must be a whole number of at least 1, got 1.5"),
    "dim nan": ({"dim": NAN}, "dim must be a whole number of at least 1, got nan"),
    "dim inf": ({"dim": INF}, "dim must be a whole number of at least 1, got inf"),
    "dim True": ({"dim": True}, "dim must be a whole number of at least 1, got True"),
    "dim text": ({"dim": "2"}, "dim must be a whole number of at least 1, got '2'"),
    "dim None": ({"dim": None}, "dim must be a whole number of at least 1, got None"),
    "dim list": ({"dim": [2]}, "dim must be a whole number of at least 1, got [2]"),
    "dim complex": ({"dim": np.complex128(2)}, "dim must be a whole number of at least 1"),
    "radius 0": ({"radius": 0.0}, "radius must be positive, got 0.0"),
    "radius -1": ({"radius": -1}, "radius must be positive, got -1"),
    "radius nan": ({"radius": NAN}, "radius must be finite, got nan"),
    "radius inf": ({"radius": INF}, "radius must be finite, got inf"),
    "radius text": ({"radius": "2.0"}, "radius must be a number, got '2.0'"),
    "radius True": ({"radius": True}, "radius must be a number, got True"),
    "radius None": ({"radius": None}, "radius must be a number, got None"),
    "radius vector": ({"radius": np.ones(1)}, "radius must be a number, got array([1.])"),
    "radius complex": ({"radius": 1 + 0j}, "radius must be a number, got (1+0j)"),
    "radius complex128": ({"radius": np.complex128(1)}, "radius must be a number, got np.comp"),
    "radius beyond floats": ({"radius": 10**400}, "radius must be a number, got 1000"),
    "radius too large to square": ({"radius": 1e200}, "radius must be between 1e-100 and 1e+100"),
    "lipschitz 0": ({"lipschitz": 0}, "lipschitz must be positive, got 0"),
    "lipschitz -inf": ({"lipschitz": -INF}, "lipschitz must be finite, got -inf"),
    "lipschitz nan": ({"lipschitz": NAN}, "lipschitz must be finite, got nan"),
    "lipschitz text": ({"lipschitz": "one"}, "lipschitz must be a number, got 'one'"),
    "lipschitz whose square vanishes": ({"lipschitz": 1e-310}, "lipschitz must be between 1e-100"),
    "a class as learner": (
        {"learner": KT},
        "learner must be an object, such as KT(), got",
    ),
    "a word as learner": ({"learner": "KT"}, "learner must be a learner such as MTFTRL(), got 'K"),
    "a number as learner": ({"learner": 3}, "learner must be a learner such as MTFTRL(), got 3"),
}


@pytest.mark.parametrize("algorithm", MAKERS)
@pytest.mark.parametrize("kind", BAD_SETTINGS)
def test_a_bad_setting_is_refused(algorithm, kind):
    settings, words = BAD_SETTINGS[kind]
    with refused(words):
        MAKERS[algorithm](STAR, **{"dim": 2} | settings)


@pytest.mark.parametrize("algorithm", OPEN)
@pytest.mark.parametrize("word", ["ignore", None, ["clip"]], ids=repr)
def test_a_bad_choice_for_long_gradients_is_refused(algorithm, word):
    with refused(f"on_excess must be one of raise, clip, got {word!r}"):
        MAKERS[algorithm](STAR, 2, on_excess=word)


BAD_PRIVACY = {
    "epsilon 0": ({"epsilon": 0.0}, "epsilon must be positive, got 0.0"),
    "epsilon nan": ({"epsilon": NAN}, "epsilon must be finite, got nan"),
    "epsilon text": ({"epsilon": "1"}, "epsilon must be a number, got '1'"),
    "epsilon short": (
        {"epsilon": [1.0] * 4},
        "epsilon must be one number or one for each",
    ),
    "no epsilon": ({"epsilon": None}, "epsilon"),
    "delta 1": ({"delta": 1.0}, "delta must be"),
    "horizon 0": ({"horizon": 0}, "horizon must be a whole number of at least 1, got 0"),
    "horizon 2.5": ({"horizon": 2.5}, "horizon must be a whole number of at least 1, got 2.5"),
    "no horizon": ({"horizon": None}, "horizon must be given for this aggregator, got None"),
    "rates": ({"rates": "estimated"}, "rates must be one of adversarial, stochastic, got 'estimat"),
    "no q": ({"rates": "stochastic"}, 'q must be given for rates="stochastic", got None'),
    "q without use": ({"q": [0.2] * 5}, "q applies only to"),
    "aggregator": ({"aggregator": "tree"}, "aggregator must be one of BinaryTree"),
    "learner": ({"learner": MTFTRLKT()}, "learner must be"),
    "noise": ({"noise": "loud"}, "noise must be one of simulated, exact, got 'loud'"),
    "adjacency": ({"adjacency": "add"}, "adjacency must be one of replace, zero-out, got 'add'"),
    "calibration": ({"calibration": "loose"}, "calibration must be one of"),
    "split": ({"split": 1.5}, "split must be"),
}


@pytest.mark.parametrize("kind", BAD_PRIVACY)
def test_bad_privacy_is_refused(kind):
    settings, words = BAD_PRIVACY[kind]
    with refused(words):
        private(STAR, 2, **settings)


@pytest.mark.parametrize("algorithm", MAKERS)
@pytest.mark.parametrize("learner", [0, "", False, ()], ids=repr)
def test_a_learner_that_is_false_is_not_taken_for_none_given(algorithm, learner):
    with refused(f"learner must be a learner such as MTFTRL(), got {learner!r}"):
        MAKERS[algorithm](STAR, 2, learner=learner)


class StrangeState(NamedTuple):
    n: Any
    rate: Any


@dataclass(frozen=True)
class Strange:
    """A learner from outside."""

    def make_state(self, cliques, dim):
        return StrangeState(np.zeros(len(cliques.rate), np.int64), cliques.rate.copy())


NO_BOUND = {
    "dpmt_co2ol": ({}, "lipschitz must be a number for dpmt_co2ol, got 'adaptive': noise is made"),
    "pairwise": ({}, "lipschitz must be a number for pairwise, got 'adaptive'"),
    "mt_co2ol": ({"on_excess": "clip"}, "on_excess applies only to a lipschitz that is a number"),
    "i_ftrl": ({"learner": Strange()}, "learner must be one of MTFTRL, MTFTRLKT, FTRL, KT for"),
}


@pytest.mark.parametrize("algorithm", NO_BOUND)
def test_no_gradient_bound_is_refused_where_one_must_be_known(algorithm):
    settings, words = NO_BOUND[algorithm]
    with refused(words):
        MAKERS[algorithm](STAR, 2, lipschitz="adaptive", **settings)


def test_no_gradient_bound_is_refused_for_rates_that_need_one():
    with refused("rates must be 'adversarial' for lipschitz='adaptive', got 'stochastic'"):
        mtcool.mt_co2ol(STAR, 2, lipschitz="adaptive", rates="stochastic", q=np.full(5, 0.2))


def test_without_a_gradient_bound_only_what_is_no_number_to_square_is_too_long():
    net = mtcool.mt_co2ol(STAR, 2, learner=MTFTRLKT(), lipschitz="adaptive")
    net.update(0, [1e90, 1.0])
    before = net.predict(0)
    with refused("gradient must have norm at most 1e+100, got norm"):
        net.update(0, [1e101, 0.0])
    np.testing.assert_array_equal(net.predict(0), before)
    stream = mtcool.Stream([0, 1], mtcool.streams.linear([[1.0, 0.0], [1e101, 0.0]]))
    with refused("stream has a gradient in round 1 of agent 1 that is too long to be measured"):
        mtcool.simulate(net, stream)


STOCHASTIC = {"rates": "stochastic"}
ESTIMATED = {"rates": "estimated", "q_min": 0.2, "horizon": 100}
BAD_RATES = {
    "rates": (
        {"rates": "fast"},
        "rates must be one of adversarial, stochastic, estimated, adaptive, got 'f",
    ),
    "rates None": (
        {"rates": None},
        "rates must be one of adversarial, stochastic, estimated, adaptive",
    ),
    "no q": (STOCHASTIC, 'q must be given for rates="stochastic", got None'),
    "q short": (STOCHASTIC | {"q": [1.0]}, "q must have shape (5,), got shape (1,)"),
    "q matrix": (STOCHASTIC | {"q": np.eye(5)}, "q must have shape (5,), got shape (5, 5)"),
    "q negative": (STOCHASTIC | {"q": [-1, 1, 1, 0, 0]}, "q must not be negative, got -1.0"),
    "q sum": (STOCHASTIC | {"q": [1, 1, 0, 0, 0]}, "q must sum to 1, got a sum of np.float64(2.0)"),
    "q nan": (STOCHASTIC | {"q": [1, NAN, 0, 0, 0]}, "q must be finite, got an entry nan"),
    "q text": (STOCHASTIC | {"q": list("10000")}, "q must be an array of numbers"),
    "q complex": (STOCHASTIC | {"q": np.full(5, 0.2 + 0j)}, "q must be an array of numbers"),
    "q without use": ({"q": np.full(5, 0.2)}, "q applies only to"),
    "q with estimated rates": (ESTIMATED | {"q": np.full(5, 0.2)}, "q applies only to"),
    "q_min without use": (
        {"q_min": 0.2},
        'q_min applies only to rates="estimated", got 0.2',
    ),
    "horizon without use": ({"horizon": 9}, 'horizon applies only to rates="estimated"'),
    "bad q not needed": ({"q": [1.0]}, "q must have shape (5,), got shape (1,)"),
    "no q_min": (
        ESTIMATED | {"q_min": None},
        'q_min must be given for rates="estimated", got None',
    ),
    "q_min 0": (ESTIMATED | {"q_min": 0.0}, "q_min must be positive, got 0.0"),
    "q_min nan": (ESTIMATED | {"q_min": NAN}, "q_min must be finite, got nan"),
    "q_min text": (ESTIMATED | {"q_min": "0.1"}, "q_min must be a number, got '0.1'"),
    "q_min large": (ESTIMATED | {"q_min": 0.3}, "q_min must be at most 1 / 5 agents, got 0.3"),
    "bad q_min not needed": ({"q_min": -0.1}, "q_min must be positive, got -0.1"),
    "no horizon": (ESTIMATED | {"horizon": None}, 'horizon must be given for rates="estimated"'),
    "horizon 0": (
        ESTIMATED | {"horizon": 0},
        "horizon must be a whole number of at least 1, got 0",
    ),
    "horizon 2.5": (ESTIMATED | {"horizon": 2.5}, "horizon must be a whole number of at least 1"),
    "horizon inf": (ESTIMATED | {"horizon": INF}, "horizon must be a whole number of at least 1"),
    "bad horizon not needed": ({"horizon": -3}, "horizon must be a whole number of at least 1"),
}


@pytest.mark.parametrize("algorithm", ["mt_co2ol", "pairwise"])
@pytest.mark.parametrize("kind", BAD_RATES)
def test_bad_rates_are_refused(algorithm, kind):
    settings, words = BAD_RATES[kind]
    with refused(words):
        MAKERS[algorithm](STAR, 2, **settings)


def test_a_ragged_q_is_refused_by_name():
    with refused("q must be an array of numbers"):
        mtcool.mt_co2ol(STAR, 2, rates="stochastic", q=[[1.0], [0.5, 0.5], 0, 0, 0])


@pytest.mark.parametrize(
    ("q_min", "horizon", "name"), [(1e-310, 10, "q_min"), (1e-30, 10, "q_min"), (0.1, 10**400, "h")]
)
def test_a_first_phase_longer_than_any_clock_is_refused(q_min, horizon, name):
    with refused(name):
        first_phase(agents=5, q_min=q_min, horizon=horizon)


def weights_with(*changes):
    matrix = mtcool.graphs.uniform_weights(STAR).toarray()
    for i, j, value in changes:
        matrix[i, j] = value
    return matrix


BAD_WEIGHTS = {
    "negative": (weights_with((1, 0, -0.5), (1, 1, 1.5)), "weights must not be negative, got -0.5"),
    "off the neighbourhood": (
        weights_with((1, 0, 0.0), (1, 2, 0.5)),
        "weights must be zero off the neighbourhoods, got 0.5 from 1 to 2",
    ),
    "sum": (weights_with((1, 0, 0.4)), "weights must sum to 1 in every row, got 0.9 for 1"),
    "zero": (np.zeros((5, 5)), "weights must sum to 1 in every row, got 0.0 for 0"),
    "nan": (weights_with((1, 0, NAN)), "weights must be finite, got an entry nan"),
    "inf": (weights_with((1, 0, INF)), "weights must be finite, got an entry inf"),
    "small": (np.eye(4), "weights must be a matrix of 5 x 5, got shape (4, 4)"),
    "vector": (np.ones(5), "weights must be a matrix of 5 x 5, got shape (5,)"),
    "word": ("equal", "weights must be one of uniform, delegation, proportional, got 'equal'"),
    "None": (None, "weights must be"),
    "complex": (weights_with().astype(complex), "weights must be an array of numbers"),
    "texts": (weights_with().astype(str), "weights must be an array of numbers"),
    "proportional without q": ("proportional", "q must be given with weights='proportional'"),
    "sparse nan": (sparse.csr_array(weights_with((1, 0, NAN))), "weights must be finite"),
    "sparse sum": (sparse.csr_array(weights_with((1, 0, 0.4))), "weights must sum to 1 in every"),
    "sparse shape": (sparse.eye_array(4), "weights must be a matrix of 5 x 5, got shape (4, 4)"),
    "sparse complex": (sparse.eye_array(5, dtype=complex), "weights must be an array of numbers"),
}


@pytest.mark.parametrize("algorithm", ["mt_co2ol", "pairwise", "dpmt_co2ol"])
@pytest.mark.parametrize("kind", BAD_WEIGHTS)
def test_bad_weights_are_refused(algorithm, kind):
    weights, words = BAD_WEIGHTS[kind]
    with refused(words):
        MAKERS[algorithm](STAR, 2, weights=weights)


@pytest.mark.parametrize("tiny", [1e-200, 1e-320])
def test_weights_whose_squares_vanish_are_refused(tiny):
    with refused("weights must be zero or at least 1e-100, got"):
        mtcool.mt_co2ol(nx.path_graph(2), 1, weights=[[1.0, tiny], [0.0, 1.0]])


@pytest.mark.parametrize("tiny", [1e-50, 1e-99])
def test_weights_that_are_accepted_never_lead_to_nan(tiny):
    weights = np.array([[1.0, tiny, 0.0], [1.0, tiny, 0.0], [0.0, tiny, 1.0]])
    network = mtcool.mt_co2ol(nx.path_graph(3), 1, learner=MTFTRLKT(), weights=weights)
    for agent in (0, 1, 2, 0, 1):
        network.update(agent, [1.0])
    assert all(np.isfinite(network.predict(agent)).all() for agent in range(3))


@pytest.mark.parametrize("experts", ["all", (), (-0.1,), (NAN,), ("1",), [[0.5]], None, 1j])
def test_bad_experts_are_refused(experts):
    with refused("experts must be"):
        MTFTRL(experts=experts)


def test_st_ftrl_refuses_an_array_and_says_why():
    network = used_network("st_ftrl")
    before = memory(network)
    why = "gradient must be a function x -> subgradient for ST-FTRL, because every neighbour learns"
    with refused(why):
        network.update(0, np.array([1.0, 0.0]))
    assert memory(network) == before


@pytest.mark.parametrize("algorithm", ["mt_co2ol", "pairwise", "i_ftrl", "dpmt_co2ol"])
def test_algorithms_that_learn_from_a_gradient_refuse_a_function(algorithm):
    network = used_network(algorithm)
    before = memory(network)
    with refused("gradient must be an array, not a function, got <function"):
        network.update(0, lambda x: x)
    assert memory(network) == before


def third_time(answer):
    """A function that answers properly twice, and then as told."""
    calls = []

    def gradient(x):
        calls.append(x)
        return np.array([0.6, 0.8]) if len(calls) < 3 else answer()

    return gradient


def fail():
    raise RuntimeError("no subgradient here")


def test_st_ftrl_does_nothing_if_the_third_neighbours_gradient_raises():
    network = used_network("st_ftrl")
    before = memory(network)
    with pytest.raises(RuntimeError, match="no subgradient here"):
        network.update(0, third_time(fail))
    assert memory(network) == before


@pytest.mark.parametrize("on_excess", ["raise", "clip"])
@pytest.mark.parametrize("bad", [[NAN, 0.0], [1e200, 0.0], [0.0], None, ["1", "0"]], ids=repr)
def test_st_ftrl_does_nothing_if_the_third_neighbours_gradient_is_bad(bad, on_excess):
    bad = [INF, 0.0] if on_excess == "clip" and bad == [1e200, 0.0] else bad
    network = used_network("st_ftrl", on_excess=on_excess)
    before = memory(network)
    with refused("gradient must"):
        network.update(0, third_time(lambda: bad))
    assert memory(network) == before


def test_st_ftrl_gives_every_neighbour_its_own_copy_of_its_point():
    network, spoiled = used_network("st_ftrl"), used_network("st_ftrl")

    def vandal(x):
        answer = x / 2
        x[:] = NAN
        return answer

    network.update(0, lambda x: x / 2)
    spoiled.update(0, vandal)
    assert memory(spoiled) == memory(network)


@dataclass(frozen=True)
class NotALearner:
    rate: float = 1.0


def test_an_object_without_make_state_is_refused_as_learner():
    with refused("learner must be a learner such as MTFTRL(), got NotALearner(rate=1.0)"):
        mtcool.mt_co2ol(STAR, 2, learner=NotALearner())


def stream_of(dim=2, rounds=4, **settings):
    return Stream(np.arange(rounds) % 5, quadratic(np.zeros((rounds, dim))), **settings)


BAD_SIMULATIONS = {
    "times fractional": ({"times": [1.5]}, "times must be whole numbers of rounds, got [1.5]"),
    "times nan": ({"times": [NAN]}, "times must be finite, got an entry nan"),
    "times descending": ({"times": [3, 2]}, "times must ascend and lie between 0 and 4, got [3, 2"),
    "times equal": ({"times": [2, 2]}, "times must ascend and lie between 0 and 4, got [2, 2]"),
    "times negative": ({"times": [-1, 2]}, "times must ascend and lie between 0 and 4"),
    "times late": ({"times": [5]}, "times must ascend and lie between 0 and 4, got [5]"),
    "times empty": ({"times": []}, "times must ascend and lie between 0 and 4, got []"),
    "times matrix": ({"times": [[1, 2]]}, "times must be whole numbers of rounds, got [[1, 2]]"),
    "times text": ({"times": "end"}, "times must be an array of numbers, got 'end'"),
    "comparator rows": (
        {"comparator": np.zeros((4, 2))},
        "comparator must be a matrix of 5 x 2, got shape (4, 2)",
    ),
    "comparator columns": (
        {"comparator": np.zeros((5, 3))},
        "comparator must be a matrix of 5 x 2, got shape (5, 3)",
    ),
    "comparator vector": ({"comparator": np.zeros(2)}, "comparator must be a matrix of 5 x 2"),
    "comparator nan": ({"comparator": np.full((5, 2), NAN)}, "comparator must be finite"),
    "comparator text": ({"comparator": "tasks"}, "comparator must be an array of numbers"),
    "stream's comparator": (
        {"stream": stream_of(comparator=np.zeros((4, 2)))},
        "comparator must be a matrix of 5 x 2, got shape (4, 2)",
    ),
    "dim": ({"stream": stream_of(dim=3)}, "stream must have dim 2, got 3"),
    "more agents": (
        {"stream": Stream([5], quadratic([[0.0, 0.0]]))},
        "stream must be labelled with the network's 5 agents, or be unlabelled with at most 5 "
        "agents, got 6 agents",
    ),
    "other names": (
        {"stream": stream_of(labels="abcde")},
        "stream must name agents of the network only, got 'a', which is none of its 5",
    ),
    "fewer names": (
        {"stream": stream_of(labels="abcd")},
        "stream must name agents of the network only, got 'a'",
    ),
    "a name of nobody": (
        {"stream": stream_of(labels=[1, 0, 2, 3, 7])},
        "stream must name agents of the network only, got 7, which is none of its 5",
    ),
    "a comparator for some of the names": (
        {"stream": stream_of(labels=[1, 0, 2, 3, 4]), "comparator": np.zeros((4, 2))},
        "comparator must be a matrix of 5 x 2, got shape (4, 2)",
    ),
    "other numbers": (
        {"stream": stream_of(labels=range(10, 15))},
        "stream must name agents of the network only, got 10, which is none of its 5",
    ),
    "pairs": ({"stream": [(0, None)]}, "stream must be a Stream, got [(0, None)]"),
    "no network": ({"network": STAR}, "network must be a Network, got <networkx"),
}


@pytest.mark.parametrize("kind", BAD_SIMULATIONS)
def test_a_bad_simulation_is_refused_and_changes_nothing(kind):
    settings, words = BAD_SIMULATIONS[kind]
    network = used_network("i_ftrl", learner=FTRL())
    before = memory(network)
    arguments = {"network": network, "stream": stream_of()} | settings
    with refused(words):
        mtcool.simulate(arguments.pop("network"), arguments.pop("stream"), **arguments)
    assert memory(network) == before


@pytest.mark.parametrize("agent", [-1, 5, 10**9])
def test_a_stream_whose_agents_were_written_over_is_refused(agent):
    stream = stream_of()
    stream.agents[2] = agent
    with refused(f"stream must have agents from 0 to 4, got {agent}"):
        mtcool.simulate(mtcool.i_ftrl(STAR, 2), stream)


def test_labels_written_out_are_the_same_as_none_given():
    network = mtcool.i_ftrl(STAR, 2)
    assert mtcool.simulate(network, stream_of(labels=[0, 1, 2, 3, 4])).times[-1] == 4
