"""Networks in the field learn what their slow, obvious twin learns."""

import numpy as np
from hypothesis import given, settings

from field_cases import CLOSED_FORMS, HEDGES, cases
from field_networks import network, present, size_of, traffic

TOLERANCE = {"atol": 1e-9, "rtol": 1e-9}
SOLVED = {"atol": 3e-7, "rtol": 3e-7}  # the twin's solver for rows on the ball


def assert_alike_by_ask_and_tell(case, tolerance):
    net, twin = network(case), case.twin(size=size_of(case))
    for step in case.steps:
        case.tell(net, step)
        case.tell(twin, step)
        assert set(present(net)) == twin.present
        for name in twin.present:
            expected = twin.predict(name)
            scale = max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(
                net.predict(name) / scale, expected / scale, **tolerance, err_msg=f"{step} {name}"
            )
    assert traffic(net) == {name: (twin.messages[name], twin.bytes[name]) for name in twin.index}


@settings(max_examples=60)
@given(cases(CLOSED_FORMS, sizes=True))
def test_closed_forms_learn_what_the_twin_learns_by_ask_and_tell(case):
    assert_alike_by_ask_and_tell(case, TOLERANCE)


@settings(max_examples=40)
@given(cases(HEDGES, sizes=True))
def test_hedge_learns_what_the_twin_learns_by_ask_and_tell(case):
    assert_alike_by_ask_and_tell(case, SOLVED)


@settings(max_examples=30)
@given(cases(changes=False, sizes=True))
def test_weights_of_ones_own_are_rescaled_as_by_the_twin(case):
    assert_alike_by_ask_and_tell(case, SOLVED)
