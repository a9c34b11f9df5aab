"""`Messages`, `Delay` and `Delays`: what may be asked for, and what is refused."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

import mtcool
from mtcool import Delay, Delays, Messages
from mtcool.peers.field.records import WAITING

REFUSED_MESSAGES = [
    ({"every": 0}, "every must be a whole number of at least 1, got 0"),
    ({"every": 1.5}, "every must be a whole number of at least 1, got 1.5"),
    ({"every": None}, "every must be a whole number of at least 1, got None"),
    ({"probability": 0}, "probability must be positive, got 0"),
    ({"probability": 1.1}, "probability must be at most 1, got 1.1"),
    ({"probability": np.nan}, "probability must be finite, got nan"),
    ({"probability": "1"}, "probability must be a number, got '1'"),
    ({"partners": 0}, "partners must be a whole number of at least 1, got 0"),
    ({"partners": True}, "partners must be a whole number of at least 1, got True"),
    ({"choose": "worst", "partners": 1}, "choose must be one of random, best, got 'worst'"),
    ({"choose": None}, "choose must be one of random, best, got None"),
    ({"choose": "best"}, 'choose="best" needs a number of partners, got partners=None'),
    ({"budget": 0}, "budget must be a whole number of at least 1, got 0"),
    ({"budget_bytes": -1}, "budget_bytes must be a whole number of at least 1, got -1"),
    ({"bits": 0}, "bits must be a whole number of at least 1, got 0"),
    ({"bits": 53}, "bits must be at most 52, got 53"),
    ({"every": 2**62 + 1}, "every must be at most 4611686018427387904, got 4611686018427387905"),
    ({"budget": 2**64}, "budget must be at most 4611686018427387904, got 18446744073709551616"),
    ({"coordinates": 3}, "not an option .* any more, got coordinates=3: use bits"),
    ({"bits": 2, "coordinates": 0}, "not an option .* any more, got coordinates=0: use bits"),
]


@pytest.mark.parametrize(("given", "words"), REFUSED_MESSAGES)
def test_messages_that_make_no_sense_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        Messages(**given)


def test_messages_are_values():
    messages = Messages(every=2.0, partners=np.int64(3), choose="best", bits=52)
    assert messages == Messages(2, 1, 3, "best", None, None, 52)
    assert (type(messages.every), type(messages.partners)) == (int, int)
    assert len({messages, copy.deepcopy(messages), pickle.loads(pickle.dumps(messages))}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        messages.every = 1


NOT_PLAIN = [
    {"every": 2},
    {"probability": 0.5},
    {"budget": 9},
    {"budget_bytes": 9},
    {"partners": 2},
    {"bits": 8},
]


@pytest.mark.parametrize(("position", "given"), list(enumerate(NOT_PLAIN)))
def test_only_what_may_be_silent_is_and_only_the_default_is_plain(position, given):
    assert Messages().is_plain
    assert not Messages().silent
    assert Messages(**given).silent == (position < 4)
    assert not Messages(**given).is_plain


REFUSED_DELAY = [
    ({"constant": -1}, "constant must not be negative, got -1"),
    ({"constant": np.inf}, "constant must be finite, got inf"),
    ({"mean": -0.5}, "mean must not be negative, got -0.5"),
    ({"mean": "2"}, "mean must be a number, got '2'"),
    ({"bandwidth": 0}, "bandwidth must be positive, got 0"),
    ({"bandwidth": np.inf}, "bandwidth must be finite, got inf"),
    ({"edges": [("a", "b")]}, "edges must map pairs of names to rounds, got"),
    ({"edges": None}, "edges must map pairs of names to rounds, got None"),
    ({"edges": {"ab": 1}}, "edges must have pairs of names as keys, got 'ab'"),
    ({"edges": {("a", "b", "c"): 1}}, "edges must have pairs of names as keys, got"),
    ({"edges": {("a", "a"): 1}}, r"edges must join two agents, got \('a', 'a'\)"),
    ({"edges": {("a", "b"): -1}}, r"edges\[\('a', 'b'\)\] must not be negative, got -1"),
    ({"edges": {("a", "b"): 1, ("b", "a"): 2}}, "edges must have one number for both directions"),
]


@pytest.mark.parametrize(("given", "words"), REFUSED_DELAY)
def test_a_delay_that_makes_no_sense_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        Delay(**given)


def test_a_delay_is_a_value_that_keeps_its_own_copy():
    edges = {("rome", 1): 3}
    delay = Delay(1, 2.5, 1000, edges)
    edges["rome", 1] = 9
    assert delay.edges["rome", 1] == delay.edges[1, "rome"] == 3.0
    with pytest.raises(TypeError):
        delay.edges["rome", 1] = 9
    others = [copy.deepcopy(delay), pickle.loads(pickle.dumps(delay)), eval(repr(delay))]
    others += [dataclasses.replace(delay), Delay(1, 2.5, 1000, {(1, "rome"): 3})]
    assert len({delay, *others}) == 1
    assert delay != Delay(1, 2.5, 1000)
    assert delay != Delay(1, 2.5, 1000, {("rome", 1): 4})


def test_nothing_is_late_only_without_any_term():
    assert Delay().is_none
    assert Delay(edges={("a", "b"): 0}).is_none
    late = [Delay(1), Delay(mean=0.1), Delay(bandwidth=9), Delay(edges={("a", "b"): 1})]
    assert not any(delay.is_none for delay in late)


REFUSED_DELAYS = [
    ({"gradients": -1}, "gradients must not be negative, got -1"),
    ({"rows": "2"}, "rows must be a number, got '2'"),
    ({"labels": None}, "labels must be a number, got None"),
    ({"labels": Delay(bandwidth=9)}, r"labels must have no bandwidth, got Delay\(bandwidth=9.0\)"),
    ({"labels": Delay(edges={("a", "b"): 1})}, "labels must have no edges, got Delay"),
    ({"lost": 1}, "lost must be below 1, got 1"),
    ({"lost": -0.1}, "lost must not be negative, got -0.1"),
]


@pytest.mark.parametrize(("given", "words"), REFUSED_DELAYS)
def test_delays_that_make_no_sense_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        Delays(**given)


def test_delays_are_values_and_numbers_become_delays():
    delays = Delays(2, Delay(mean=1.5), labels=1, lost=0.25)
    assert delays.gradients == Delay(constant=2)
    assert delays.labels == Delay(1.0)
    others = [copy.deepcopy(delays), pickle.loads(pickle.dumps(delays)), eval(repr(delays))]
    assert len({delays, *others, dataclasses.replace(delays)}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        delays.lost = 0.0


@pytest.mark.parametrize(
    ("given", "rows"),
    [({"gradients": 1}, False), ({"rows": 1}, True), ({"labels": 1}, False), ({"lost": 0.1}, True)],
)
def test_rows_miss_if_they_are_late_or_lost(given, rows):
    assert Delays().is_none
    assert not Delays().rows_may_miss
    assert not Delays(**given).is_none
    assert Delays(**given).rows_may_miss == rows


@pytest.mark.parametrize("law", [1e300, Delay(bandwidth=1e-320), Delay(mean=1e308)])
def test_what_takes_longer_than_can_be_counted_is_still_to_come(law):
    net = mtcool.mt_co2ol(
        mtcool.graphs.ring(3), 1, learner=mtcool.learners.KT(), delays=Delays(gradients=law)
    )
    for _ in range(5):
        net.update(0, [1.0])
    counters, messages = net.peers.state.counters, net.peers.state.queue.messages
    assert counters[WAITING] == 10
    assert (messages["due"][messages["due"] != 0] > 2**60).all()


def test_the_words_are_part_of_the_package():
    assert {"Delay", "Delays", "Messages"} <= set(mtcool.__all__)
