"""Messages travel as bytes: nothing is rounded, and bytes from strangers do no harm."""

import contextlib

import msgspec
import numpy as np
import pytest

from mtcool.agents import (
    Announcement,
    FieldGradient,
    FieldRequest,
    FieldRow,
    Gradient,
    LossShared,
    RowRequest,
    Rows,
    Sums,
    decode,
    encode,
)
from mtcool.agents.messages import SCHEMA, sender_of

NUMBERS = np.array([0.1, -0.0, 1e-320, 1e300, np.pi])
MESSAGES = {
    "request": RowRequest("rome"),
    "rows": Rows(3, NUMBERS, np.zeros(0)),
    "rows of experts": Rows(("a", 1), NUMBERS, NUMBERS),
    "gradient": Gradient(2.5, 7.0, NUMBERS),
    "sums": Sums("rome", 3.0, NUMBERS, NUMBERS[:2]),
    "loss": LossShared("rome", 1.0, "quadratic", [], NUMBERS),
    "request in the field": FieldRequest("rome", 7.0),
    "row in the field": FieldRow(3, 7.0, 0.1, NUMBERS.tobytes()),
    "gradient in the field": FieldGradient("rome", 7.0, 0.1, 1e-320, NUMBERS.tobytes()),
    "announcement": Announcement(("a", 1), 0.1),
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
    assert sender_of(arrived) == message.sender


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


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_with_more_in_it_is_refused(name):
    """Journals keep messages as they came."""
    kind, *fields = msgspec.msgpack.decode(encode(MESSAGES[name])[1:])
    more = msgspec.msgpack.encode([kind, *fields, bytes(900)])
    with pytest.raises(ValueError, match="content must be a message"):
        decode(bytes([SCHEMA]) + more)


def test_another_schema_is_refused_by_its_number():
    with pytest.raises(ValueError, match=f"schema {SCHEMA}, got schema {SCHEMA + 1}"):
        decode(bytes([SCHEMA + 1]) + encode(RowRequest("rome"))[1:])


def test_the_size_of_a_message_does_not_depend_on_its_numbers():
    sizes = {len(encode(Gradient(7, n, x * NUMBERS))) for n in (1.0, 1e9) for x in (0.0, 1.0)}
    assert len(sizes) == 1


@pytest.mark.parametrize("sender", [{"a": 1}, [{"a": 1}], b"rome", [b"rome"], float("nan")])
def test_a_sender_is_a_name(sender):
    """Nothing else can be the name of an agent: a table is not even hashable."""
    content = bytes([SCHEMA]) + msgspec.msgpack.encode([1, sender])
    with pytest.raises(ValueError, match="content must be a message"):
        decode(content)


@pytest.mark.parametrize("content", [None, "text", 7, b""])
def test_content_is_bytes(content):
    with pytest.raises(ValueError, match="content must be"):
        decode(content)
