"""Saved networks in the field resume to the bit, and no other file is taken for one."""

import copy
import os
import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from tests.saved_files import forge, taken_apart

import mtcool
from field_cases import CLOSED_FORMS, HEDGES, cases, only_uncompiled
from field_networks import network
from mtcool import Delay, Delays, Messages
from mtcool.learners import FTRL, KT, MTFTRL, MTFTRLKT
from mtcool.network.saved_field.arrays import field_arrays


def everything(net):
    """All that decides what a network does next, and what it has counted."""
    arrays = field_arrays(net.exchange, net.settings)
    agents = net.peers.state.agents[: net.names.size]
    derived = [agents[name].tolist() for name in ("name", "around")]
    content = {name: (array.dtype, array.shape, array.tobytes()) for name, array in arrays.items()}
    return net.settings, list(net.names.labels), net.weights.tolist(), derived, content


def play(net, step):
    """A change, or a round whose label may be late; then its prediction."""
    if step[0] != "round":
        getattr(net, step[0])(*step[1:])
        return b""
    stream = mtcool.Stream([0], mtcool.streams.linear(step[2][None]), labels=[step[1]])
    return mtcool.simulate(net, stream, per_round=True).predictions.tobytes()


def again(net, path):
    net.save(path)
    return mtcool.load(path)


def assert_all_go_on(case, path):
    net, half = network(case), len(case.steps) // 2
    for step in case.steps[:half]:
        play(net, step)
    before = everything(net)
    others = [again(net, path), copy.deepcopy(net), pickle.loads(pickle.dumps(net))]
    for other in others:
        assert everything(other) == before
        assert list(other.graph.labels) == list(net.graph.labels)
        np.testing.assert_array_equal(other.graph.ptr, net.graph.ptr)
        np.testing.assert_array_equal(other.graph.idx, net.graph.idx)
    for step in case.steps[half:]:
        assert len({play(other, step) for other in (net, *others)}) == 1
    for other in others:
        assert everything(other) == everything(net)
    assert everything(again(net, path)) == everything(net)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("saved") / "net.npz"


@settings(max_examples=60)
@given(case=cases(CLOSED_FORMS, sizes=True))
def test_closed_forms_go_on_to_the_bit_from_files_copies_and_pickles(path, case):
    assert_all_go_on(case, path)


@settings(max_examples=40)
@given(case=cases(HEDGES, sizes=True))
def test_hedge_goes_on_to_the_bit_from_files_copies_and_pickles(path, case):
    assert_all_go_on(case, path)


@settings(max_examples=20)
@given(case=cases(CLOSED_FORMS, changes=False, sizes=True))
def test_weights_of_ones_own_go_on_to_the_bit(path, case):
    assert_all_go_on(case, path)


# --- what is in a file --------------------------------------------------------------------------


def gradients(rounds, dim=2, seed=0):
    vectors = np.random.default_rng(seed).standard_normal((rounds, dim))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def late_network(learner=None):
    """Everything is late, and much has changed: all arrays hold something.

    FTRL is compiled for no network in the field: its files are made and read by Python.
    """
    net = mtcool.mt_co2ol(
        nx.path_graph(["a", "b", "c", "d"]),
        2,
        learner=learner or FTRL(),
        rates="adaptive",
        on_excess="clip",
        messages=Messages(partners=2, choose="best", budget=10_000),
        delays=Delays(Delay(3, mean=1), Delay(mean=1, edges={("a", ("e", 1)): 2}), labels=4),
        seed=5,
    )
    for k, gradient in enumerate(gradients(60)):
        play(net, ("round", "abcd"[k % 4], gradient))
    for step in (
        ("join", ("e", 1), ("a", "b")),
        ("disconnect", "b", "c"),
        ("leave", "d"),
        ("connect", "a", "c"),
    ):
        play(net, step)
    for k, gradient in enumerate(gradients(7, seed=1)):
        play(net, ("round", ["a", ("e", 1), "c"][k % 3], gradient))
    return net


def coded_network():
    """Nothing is late in a network that changes, and its learner has rows."""
    net = mtcool.mt_co2ol(
        nx.path_graph(4),
        3,
        learner=MTFTRLKT(),
        rates="adaptive",
        on_excess="clip",
        messages=Messages(bits=3),
    )
    for k, gradient in enumerate(gradients(20, 3)):
        play(net, ("round", k % 4, gradient))
    net.connect(0, 3)
    return net


@only_uncompiled
def test_the_networks_below_have_all_that_a_file_can_hold():
    arrays = field_arrays((net := late_network()).exchange, net.settings)
    assert all(array.size for array in arrays.values())
    assert (net.peers.state.cliques["doublings"] > 0).any()
    assert (net.peers.state.queue.messages["row"] == -1).any()


@only_uncompiled
def test_a_network_that_0_2_0_saved_goes_on(path):
    """Its files say that no coordinates are left out, and have an array for what would be."""
    net = late_network()
    net.save(path)
    header, arrays = taken_apart(path)
    assert "coordinates" not in header["setup"]["field"]["messages"]
    header["setup"]["field"]["messages"]["coordinates"] = None
    forge(path, header, arrays | {"field.memory": np.zeros((0, 2))})
    loaded = mtcool.load(path)
    assert everything(loaded) == everything(net)
    for k, gradient in enumerate(gradients(20, seed=2)):
        step = ("round", ["a", ("e", 1), "c"][k % 3], gradient)
        assert play(loaded, step) == play(net, step)
    assert everything(again(loaded, path)) == everything(net)


def test_a_network_that_began_to_change_late_goes_on(path):
    net = mtcool.mt_co2ol(nx.path_graph(4), 1, learner=MTFTRL(), rates="adaptive")
    for k, gradient in enumerate(gradients(30)[:, :1] / 2):
        net.update(k % 4, gradient)
    net.connect(0, 3)
    loaded = again(net, path)
    for k, gradient in enumerate(gradients(30, seed=1)[:, :1] / 2):
        assert net.predict(k % 4).tobytes() == loaded.predict(k % 4).tobytes()
        net.update(k % 4, gradient)
        loaded.update(k % 4, gradient)
    assert everything(loaded) == everything(net)


def test_a_network_put_together_from_agents_goes_on(path):
    """It begins with the graph as it is, but its cliques have a history."""
    net = mtcool.mt_co2ol(
        nx.path_graph(4), 2, learner=MTFTRLKT(), rates="adaptive", messages=Messages(bits=4)
    )
    for step in (("connect", 0, 3), ("disconnect", 1, 2), ("join", "new", (0, 3)), ("leave", 1)):
        play(net, step)
        for k, gradient in enumerate(gradients(5) / 2):
            play(net, ("round", net.graph.labels[k % net.graph.size], gradient))
    net.join(1, [3])
    whole = mtcool.Network.from_agents(net.agents().values(), net.graph)
    loaded = again(whole, path)
    for agent in (0, "new", 1, 3):
        for other in (whole, loaded):
            other.update(agent, [0.3, -0.2])
        assert loaded.predict(2).tobytes() == whole.predict(2).tobytes()
    assert everything(loaded) == everything(whole) == everything(copy.deepcopy(whole))


@only_uncompiled
def test_an_agent_that_is_expected_and_one_that_left_may_come_after_loading(path):
    net = late_network()
    net.exchange.register(["f"])  # as a schedule does before the agent joins
    loaded = again(net, path)
    assert list(loaded.graph.labels) == ["a", "b", "c", ("e", 1)]
    assert list(loaded.names.labels) == ["a", "b", "c", "d", ("e", 1), "f"]
    with pytest.raises(ValueError, match="agent must be in the network, got 'd', which is not"):
        loaded.predict("d")
    for step in (("join", "f", ("c", "b")), ("join", "d", ("a", "f")), ("leave", "a")):
        play(net, step)
        play(loaded, step)
    assert everything(loaded) == everything(net)


@only_uncompiled
@pytest.mark.parametrize("make", [late_network, coded_network])
def test_saving_changes_nothing_and_a_loaded_network_shares_nothing(make, path):
    net = make()
    before = everything(net)
    loaded, copied = again(net, path), copy.deepcopy(net)
    for other in (loaded, copied):
        play(other, ("round", other.graph.labels[0], np.ones(net.settings.dim)))
    assert everything(net) == before != everything(loaded) == everything(copied)


@only_uncompiled
def test_a_file_does_not_grow_with_what_came_and_went(tmp_path):
    sizes = []
    net = late_network()
    for _ in range(3):
        net.save(tmp_path / "net.npz")
        sizes.append((tmp_path / "net.npz").stat().st_size)
        for _ in range(20):
            net.disconnect("a", "b")
            net.connect("a", "b")
    assert len(set(sizes)) == 1


@only_uncompiled
def test_what_was_loaded_is_saved_as_the_same_bytes(tmp_path):
    again(late_network(), tmp_path / "one").save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_files_of_networks_without_a_field_are_as_they_were(path):
    mtcool.mt_co2ol(nx.path_graph(3), 2, learner=FTRL()).save(path)
    header, arrays = taken_apart(path)
    assert header["format"] == "mtcool-network-2"
    assert "field" not in header["setup"]
    assert "joined" not in header
    assert not any(name.startswith("field.") for name in arrays)


@pytest.mark.parametrize("where", ["joined", "edges"])
def test_names_that_cannot_be_saved_are_refused_before_anything_is_written(where, tmp_path):
    edges = {("a", frozenset([1])): 2} if where == "edges" else {}
    net = mtcool.mt_co2ol(
        nx.path_graph(["a", "b"]), 1, learner=KT(), delays=Delays(Delay(1, edges=edges))
    )
    if where == "joined":
        net.join(frozenset([1]), ["a"])
        assert copy.deepcopy(net).graph.labels == net.graph.labels
    with pytest.raises(ValueError, match="labels must be numbers, strings or tuples of them to be"):
        net.save(tmp_path / "net.npz")
    assert os.listdir(tmp_path) == []


# --- planted damage -----------------------------------------------------------------------------


def set_field(array, field, place, value):
    def damage(header, arrays):
        arrays[f"field.{array}"][field][place] = value

    return damage


def set_number(array, place, value):
    def damage(header, arrays):
        arrays[array][place] = value

    return damage


def in_header(change):
    def damage(header, arrays):
        change(header)

    return damage


def in_arrays(change):
    def damage(header, arrays):
        change(arrays)

    return damage


def swapped(name, one, two):
    def change(arrays):
        array = arrays[name]
        array[[one, two]] = array[[two, one]]

    return in_arrays(change)


def one_way(arrays):
    """Agent 1, whose entries are 4 to 7, forgets its last neighbour, who still listens to it."""
    for name in ("clique", "row"):
        array = arrays[f"field.{name}"]
        array[[6, 7]] = array[[7, 6]]
    for name in ("score", "number", "stamp", "kept"):
        arrays[f"field.{name}"] = np.delete(arrays[f"field.{name}"], 6, axis=0)
    arrays["field.agents"]["count"][1] -= 1


def without_a_neighbour(arrays):
    """Agent 0 never had its last neighbour."""
    agents = arrays["field.agents"]
    last = int(agents["ever"][0]) - 1
    for name in ("clique", "row"):
        arrays[f"field.{name}"] = np.delete(arrays[f"field.{name}"], last)
    for name in ("score", "number", "stamp", "kept"):
        arrays[f"field.{name}"] = np.delete(arrays[f"field.{name}"], last, axis=0)
    agents["ever"][0] -= 1
    agents["count"][0] -= 1


def more_slots(arrays):
    """Slots for more experts than there are."""
    arrays["field.cliques"]["slots"][0] *= 2
    arrays["field.cliques"]["doublings"][0] += 1


# Agents: a, b, c; d, who has left; e, who came.
DAMAGE = {
    "an agent that is not there": (set_number("field.clique", 1, 9), "clique"),
    "neighbours in disorder": (swapped("field.clique", 0, 1), "clique must ascend"),
    "an edge in one direction": (in_arrays(one_way), "clique must be symmetric"),
    "a neighbour that the other never had": (in_arrays(without_a_neighbour), "clique must be sym"),
    "a row of nobody": (set_number("field.row", 0, 40), "row must be what"),
    "two rows swapped": (swapped("field.row", 0, 2), "row must belong to one agent"),
    "more neighbours than entries": (set_field("agents", "ever", 2, 2**40), "ever must"),
    "more present than ever": (set_field("agents", "count", 2, 9), "count must"),
    "half present": (set_field("agents", "present", 0, 2), "present must"),
    "gone, with neighbours": (set_field("agents", "present", 0, 0), "count must"),
    "fresh after its first round": (set_field("agents", "fresh", 0, 1), "fresh must"),
    "rounds before the first": (set_field("agents", "begun", 1, -1), "begun must"),
    "rounds without end": (set_field("agents", "begun", 1, 2**62), "begun must"),
    "more messages than rounds allow": (set_field("agents", "messages", 0, 9999), "messages must"),
    "more bytes than messages have": (set_field("agents", "bytes", 0, 10**9), "bytes must"),
    "slots that nobody needed": (in_arrays(more_slots), "slots must"),
    "fewer slots than rows": (set_field("cliques", "slots", 1, 1), "slots must"),
    "doublings of nothing": (set_field("cliques", "doublings", 1, 70), "doublings must"),
    "a bound below the weights": (set_field("cliques", "bound", 0, 0.25), "bound must"),
    "no bound": (set_field("cliques", "bound", 3, 0.0), "bound must"),
    "a bound beyond all weights": (set_field("cliques", "bound", 3, 1e300), "bound must"),
    "first told more than ever": (set_field("cliques", "first_bound", 0, 2.0), "first_bound must"),
    "a bound that is no number": (set_field("cliques", "bound", 0, np.nan), "bound must"),
    "more received than rounds": (set_field("cliques", "received", 0, 1e9), "received must"),
    "a lag before anything came": (set_field("cliques", "lag", 3, np.inf), "lag must"),
    "lags without end": (set_field("cliques", "lags", 0, 1e20), "lags must"),
    "late before it came": (set_field("cliques", "late", 0, 1e6), "late must"),
    "under way, but nowhere": (set_field("cliques", "under_way", 0, 7.0), "under_way must"),
    "less than nothing lost": (set_field("cliques", "lost", 0, -1.0), "lost must"),
    "a score that is no number": (set_number("field.score", 1, np.nan), "score must"),
    "a score of itself": (set_number("field.score", 0, 1.0), "score must"),
    "an answer to a question of tomorrow": (set_number("field.number", 1, 10**6), "number must"),
    "a stamp of tomorrow": (set_number("field.stamp", 1, 1e6), "stamp must"),
    "a row outside of the ball": (set_number("field.kept", (1, 0), 3.0), "kept must"),
    "due in the past": (set_field("messages", "due", 0, 3), "due must"),
    "due never": (set_field("messages", "due", -1, 2**63 - 1), "due must"),
    "labels in disorder": (swapped("field.labels", 0, 1), "due must"),
    "a sender that is not there": (set_field("messages", "sender", 0, 77), "agent must"),
    "a receiver before the first": (set_field("messages", "receiver", 0, -1), "must be what"),
    "a message to itself": (set_field("messages", "sender", 0, 1), "receiver must not be the send"),
    "a gradient for another's row": (
        set_field("messages", "row", 0, 2),
        "row must be the sender's",
    ),
    "a message of no round": (set_field("messages", "number", 0, 10**6), "number must"),
    "a weight above the bound": (set_field("messages", "weight", 0, 1.5), "weight must"),
    "a weight of nothing": (set_field("messages", "weight", 0, 0.0), "weight must be positive"),
    "an answer with a weight": (set_field("messages", "weight", 1, 0.5), "weight must"),
    "a message read before it was written": (
        set_field("messages", "stamp", 0, np.inf),
        "stamp must",
    ),
    "a gradient too long": (set_number("field.content", 0, 5.0), "content must"),
    "an answer outside of the ball": (set_number("field.content", 1, 5.0), "content must"),
    "a label of nobody": (set_field("labels", "agent", 0, 5), "agent must"),
    "a label of another agent": (set_field("labels", "agent", 0, 3), "agents must talk to"),
    "a label without targets": (set_field("labels", "count", 0, 0), "count must"),
    "a label with others' targets": (set_field("labels", "count", 0, 9), "targets must have shape"),
    "a label of no round": (set_field("labels", "number", 0, -1), "number must"),
    "a target without a row": (set_field("targets", "clique", 0, 50), "clique must"),
    "weights that are not one": (set_field("targets", "weight", 0, 0.01), "weight must"),
    "a help that is none": (set_field("targets", "help", slice(None), np.inf), "help must"),
    "a gradient that is no number": (set_number("field.gradients", 0, np.nan), "gradient must"),
    "another rate": (set_number("state.inner.rate", 0, 0.123), "rate must"),
    "another bound of the learner": (set_number("state.bound", 0, 0.9), "bound must"),
    "squares of weights that never came": (set_number("state.received", 0, 1e9), "received must"),
    "sums longer than their updates": (set_number("state.inner.total", 0, 1e9), "total must"),
    "an array more": (
        in_arrays(lambda arrays: arrays.update({"field.more": np.zeros(2)})),
        "learner must have the state that was saved",
    ),
    "an array less": (in_arrays(lambda arrays: arrays.pop("field.kept")), "field.kept"),
    "messages without content": (
        in_arrays(lambda a: a.update({"field.content": a["field.content"][:-1]})),
        "content must have shape",
    ),
    "rows as floats": (
        in_arrays(lambda a: a.update({"field.row": a["field.row"].astype(float)})),
        "row must have shape .* and type uint32",
    ),
    "memories that nobody needs": (
        in_arrays(lambda a: a.update({"field.memory": np.zeros((3, 2))})),
        "memory must be empty without coordinates, got 3 rows",
    ),
    "coordinates of 0.2.0": (
        in_header(lambda header: header["setup"]["field"]["messages"].update(coordinates=1)),
        r"coordinates=1: go on with mtcool 0\.2\.0, or make a new network with bits",
    ),
    "a joined agent of a known name": (
        in_header(lambda header: header.update(joined=["a"])),
        "agent must be new, got 'a'",
    ),
    "one agent less": (in_header(lambda header: header.pop("joined")), "agents must have shape"),
    "no field": (in_header(lambda header: header["setup"].pop("field")), "joined must be that of"),
    "a seed of too many bits": (
        in_header(lambda header: header["setup"]["field"].update(seed=-1)),
        "seed must be a word of 64 bits, got -1",
    ),
    "a strange word": (
        in_header(lambda header: header["setup"]["field"]["messages"].update(choose="worst")),
        "choose must be one of",
    ),
    "a key more": (
        in_header(lambda header: header["setup"]["field"].update(more=1)),
        "unknown field `more`",
    ),
    "labels that are never late": (
        in_header(lambda header: header["setup"]["field"]["labels"].update(constant=0.0)),
        "due must be that of something that may be late",
    ),
    "another graph": (
        in_arrays(lambda a: a.update({"ptr": a["ptr"][:-1], "idx": a["idx"][:-2]})),
        "must",
    ),
    "weights in a graph that changed": (
        set_number("weights", [0, 1], [0.4, 0.6]),
        "weights must be uniform in a network whose graph changed",
    ),
}


# Of a learner with rows: agents 0 and 3 have vacant ones.
DAMAGE_OF_ROWS = {
    "a sum in a vacant row": (set_number("state.inner.gradients", 3, 0.1), "gradients must"),
    "another coin": (in_arrays(lambda a: set_record(a, "coin", 1.5)), "coin must"),
    "another size": (in_arrays(lambda a: set_record(a, "size", 3.0)), "size must"),
    "wealth that is none": (in_arrays(lambda a: set_record(a, "wealth", -1.0)), "wealth must"),
    "outcomes of no coin": (in_arrays(lambda a: set_record(a, "outcomes", 99.0)), "outcomes must"),
    "messages where nothing is late": (
        in_arrays(
            lambda a: a.update(
                {
                    "field.messages": np.ones(1, a["field.messages"].dtype),
                    "field.content": np.zeros((1, 3)),
                }
            )
        ),
        "must",
    ),
    "received where nobody counts": (set_field("cliques", "received", 0, 0.5), "received must"),
    "rows without their vacant ones": (
        in_arrays(lambda a: a.update({"state.inner.gradients": a["state.inner.gradients"][:-1]})),
        "must",
    ),
}


def set_record(arrays, name, value):
    arrays["state.inner.cliques"][name][0] = value


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """Header and arrays of saved networks, by what is damaged in them."""
    place = tmp_path_factory.mktemp("originals") / "net.npz"
    found = {}
    for make in (late_network, coded_network):
        make().save(place)
        found[make] = place.read_bytes()
    return found


ALL_DAMAGE = [
    pytest.param(make, *planted, id=name)
    for make, table in ((late_network, DAMAGE), (coded_network, DAMAGE_OF_ROWS))
    for name, planted in table.items()
]


@only_uncompiled
@pytest.mark.parametrize(("make", "damage", "words"), ALL_DAMAGE)
def test_planted_damage_is_refused_with_a_sentence(make, damage, words, originals, path):
    path.write_bytes(originals[make])
    header, arrays = taken_apart(path)
    forge(path, header, arrays)
    mtcool.load(path)  # without damage it is a network
    damage(header, arrays)
    forge(path, header, arrays)
    with pytest.raises(ValueError, match=words) as caught:
        mtcool.load(path)
    assert caught.type is ValueError


@only_uncompiled
def test_a_small_file_with_labels_of_a_hub_takes_little_memory(path):
    """Many labels may be under way where one agent has many neighbours."""
    graph = mtcool.graphs.star(300)
    net = mtcool.mt_co2ol(graph, 1, learner=FTRL(), delays=Delays(labels=500))
    agents, losses = np.arange(1, 201), mtcool.streams.linear(np.ones((200, 1)))
    mtcool.simulate(net, mtcool.Stream(agents, losses))
    net.save(path)
    assert path.stat().st_size < 100_000
    loaded = mtcool.load(path)
    assert sum(array.nbytes for array in loaded.peers.state.queue) < 500_000
    for one in (net, loaded):
        mtcool.simulate(one, mtcool.Stream(agents, losses))
    assert loaded.predict(7) == net.predict(7)
