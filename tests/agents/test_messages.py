"""Messages travel as bytes: nothing is rounded, and bytes from strangers do no harm."""

import contextlib

import numpy as np
import pytest

from mtcool.agents import Gradient, LossShared, RowRequest, Rows, Sums, decode, encode
from mtcool.agents.messages import SCHEMA, label_of

NUMBERS = np.array([0.1, -0.0, 1e-320, 1e300, np.pi])
MESSAGES = {
    "request": RowRequest("rome"),
    "rows": Rows(3, NUMBERS, np.zeros(0)),
    "rows of experts": Rows(("a", 1), NUMBERS, NUMBERS),
    "gradient": Gradient(2.5, 0.1, NUMBERS),
    "sums": Sums("rome", 0.25, NUMBERS, NUMBERS[:2]),
    "loss": LossShared("rome", "quadratic", [], NUMBERS),
}


def content(message):
    """Everything in a message but the sender, bit for bit."""
    fields = [getattr(message, name) for name in message.__struct_fields__[1:]]
    return type(message), [f.tobytes() if isinstance(f, np.ndarray) else repr(f) for f in fields]


@pytest.mark.parametrize("name", MESSAGES)
def test_what_arrives_is_what_was_sent(name):
    message = MESSAGES[name]
    arrived = decode(encode(message))
    assert content(arrived) == content(message)
    assert label_of(arrived.sender) == message.sender


@pytest.mark.parametrize("name", MESSAGES)
def test_damaged_bytes_are_refused_or_another_message(name):
    rng, whole = np.random.default_rng(0), encode(MESSAGES[name])
    for _ in range(300):
        damaged = bytearray(whole)
        for place in rng.integers(len(whole), size=rng.integers(1, 4)):
            damaged[place] = rng.integers(256)
        cut = bytes(damaged[: rng.integers(len(whole) + 1)]) if rng.random() < 0.5 else damaged
        with contextlib.suppress(ValueError):  # and nothing else
            decode(bytes(cut))


def test_another_schema_is_refused_by_its_number():
    with pytest.raises(ValueError, match=f"schema {SCHEMA}, got schema {SCHEMA + 1}"):
        decode(bytes([SCHEMA + 1]) + encode(RowRequest("rome"))[1:])


def test_the_size_of_a_message_does_not_depend_on_its_numbers():
    sizes = {len(encode(Gradient(7, w, x * NUMBERS))) for w in (0.0, 1.0) for x in (0.0, 1.0)}
    assert len(sizes) == 1
