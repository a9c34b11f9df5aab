"""Streams on networks in the field: `simulate` plays what ask and tell play, and its twin."""

import dataclasses

import numpy as np
from hypothesis import given, settings

from field_cases import CLOSED_FORMS, HEDGES, cases
from field_networks import network, simulate, size_of, traffic


def assert_alike(case, tolerance):
    net, twin = network(case), case.twin(size=size_of(case))
    trace, expected = simulate(case, net), case.play(twin)
    scale = np.maximum(1.0, np.abs(expected).max())
    np.testing.assert_allclose(trace.predictions / scale, expected / scale, **tolerance)
    told = {name: (twin.messages[name], twin.bytes[name]) for name in twin.index}
    assert traffic(net) == told
    assert trace.messages[-1] == sum(messages for messages, _ in told.values())
    assert trace.agent_bytes.tolist() == [size for _, size in told.values()]


@settings(max_examples=60)
@given(cases(CLOSED_FORMS, sizes=True))
def test_closed_forms_simulate_what_the_twin_plays(case):
    assert_alike(case, {"atol": 1e-9, "rtol": 1e-9})


@settings(max_examples=40)
@given(cases(HEDGES, sizes=True))
def test_hedge_simulates_what_the_twin_plays(case):
    assert_alike(case, {"atol": 3e-7, "rtol": 3e-7})


@settings(max_examples=40)
@given(cases())
def test_simulate_and_ask_and_tell_agree_to_the_bit(case):
    case = without_late_labels(case)
    one, two = network(case), network(case)
    trace, predictions = simulate(case, one), []
    for step in case.steps:
        if step[0] == "round":
            predictions.append(two.predict(step[1]))
        case.tell(two, step)
    np.testing.assert_array_equal(trace.predictions, np.array(predictions))
    assert traffic(one) == traffic(two)
    for name in one.graph.labels:
        np.testing.assert_array_equal(one.predict(name), two.predict(name))


def without_late_labels(case):
    delays = {name: law for name, law in case.delays.items() if name != "labels"}
    return dataclasses.replace(case, delays=delays)
