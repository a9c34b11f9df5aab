"""What agents say to each other: small typed messages, and their bytes.

In bytes a message is the version of the schema, one byte, and a MessagePack array: what kind it is,
who sends it, and the content. All numbers are 64-bit floats, vectors as raw little-endian bytes, so
nothing is rounded on the way, and the size of a message does not depend on the numbers in it.

What an agent tells others is numbered: `number` counts the activations that it has learned from,
from 1 on. A receiver takes each number once, so messages may come late, twice, or in another order.
Agents in the field (`FieldRequest` and those that follow) number their rounds from 0 on, because
not every round is told to everybody, and models and gradients travel as `mtcool.field.packing`
packs them.
"""

from __future__ import annotations

from typing import Any, TypeAlias, get_args

import msgspec
import numpy as np

from mtcool.graphs.labels import label_of, plain_name
from mtcool.types import Floats, Given, Label, Name, Plain

SCHEMA = 1
NUMBER = np.dtype("<f8")


class _Message(msgspec.Struct, frozen=True, eq=False, array_like=True, forbid_unknown_fields=True):
    """Any of them. One with more in it than it should have is refused: journals keep messages."""


class RowRequest(_Message, frozen=True, tag=1):
    """Step 2: ask for the receiver's model of the sender's task.

    Examples
    --------
    >>> import mtcool
    >>> agent = mtcool.mt_co2ol(mtcool.graphs.star(4), dim=1).agent(0)
    >>> agent.receive(RowRequest(3)).sender
    0
    """

    sender: Name
    """Name of the agent that asks."""


class Rows(_Message, frozen=True, tag=2):
    """The answer: the model of the asker's task, in units of the radius.

    Examples
    --------
    >>> Rows("rome", np.array([0.5, 0.0]), np.zeros(0)).model
    array([0.5, 0. ])
    """

    sender: Name
    model: np.ndarray
    """(d,)."""
    experts: np.ndarray
    """Of private agents: the asker's row of every expert, one after the other; else empty."""


class Gradient(_Message, frozen=True, tag=3):
    """Step 5: a gradient, in units of `lipschitz` if that is a number, else as it is.

    The receiver knows the sender's weight.

    Examples
    --------
    >>> Gradient("rome", 1.0, np.array([0.6, 0.8])).number
    1.0
    """

    sender: Name
    number: float
    """How many activations the sender has learned from, this one included."""
    gradient: np.ndarray


class Sums(_Message, frozen=True, tag=4):
    """Step 5 of private agents: all that the sender has published for the receiver.

    A message with a larger number replaces what was known.

    Examples
    --------
    >>> Sums("rome", 2.0, np.array([0.7]), np.zeros(0)).total
    array([0.7])
    """

    sender: Name
    number: float
    """How many activations the sender has published."""
    total: np.ndarray
    """Noisy sum of the sender's gradients, (d,)."""
    products: np.ndarray
    """Noisy sums of their products with the rows of the receiver's experts."""


class LossShared(_Message, frozen=True, tag=5):
    """Step 5 of ST-FTRL: the loss itself, by its kind and its numbers.

    Examples
    --------
    >>> LossShared("rome", 1.0, "quadratic", [], np.array([0.5])).kind
    'quadratic'
    """

    sender: Name
    number: float
    """How many activations the sender has learned from, this one included."""
    kind: str
    """One of the package's own kinds (`streams.kinds`)."""
    parameters: list[float]
    row: np.ndarray


class SumsRequest(_Message, frozen=True, tag=8):
    """Ask an agent of `mtcool.learn` for its knowledge and for its sums of rows.

    Examples
    --------
    >>> SumsRequest("rome").sender
    'rome'
    """

    sender: Name


class Knowledge(_Message, frozen=True, tag=6):
    """The answer of an agent of `mtcool.learn`: what its neighbours use of what it knows.

    Examples
    --------
    >>> Knowledge("rome", np.array([3.0])).numbers
    array([3.])
    """

    sender: Name
    numbers: np.ndarray
    """As `mtcool.learn.exchange.knowledge_of` lays them out."""


class Lesson(_Message, frozen=True, tag=7):
    """Step 5 of `mtcool.learn`: the gradient of a row, and how much information it carries.

    Examples
    --------
    >>> Lesson("rome", 1.0, np.array([0.5])).number
    1.0
    """

    sender: Name
    number: float
    """How many rows the sender has learned from, this one included."""
    numbers: np.ndarray
    """As `mtcool.learn.exchange.lesson_of` lays them out."""


class FieldRequest(_Message, frozen=True, tag=9):
    """Step 2 in the field: ask for the receiver's model of the sender's task.

    Examples
    --------
    >>> FieldRequest("rome", 3.0).number
    3.0
    """

    sender: Name
    number: float
    """How many rounds the sender had begun before this one."""


class FieldRow(_Message, frozen=True, tag=10):
    """The answer in the field: the model of the asker's task, in units of the radius.

    Examples
    --------
    >>> len(FieldRow("rome", 3.0, 0.5, bytes(16)).content)
    16
    """

    sender: Name
    number: float
    """That of the request."""
    stamp: float
    """The sum of all weights that the sender's clique had received."""
    content: bytes
    """The model as it was coded."""


class FieldGradient(_Message, frozen=True, tag=11):
    """Step 5 in the field: a gradient in units of `lipschitz`, and the weight of the round.

    Examples
    --------
    >>> FieldGradient("rome", 3.0, 0.25, 0.5, bytes(16)).weight
    0.25
    """

    sender: Name
    number: float
    """That of the request."""
    weight: float
    """With which the sender listened to the receiver in this round."""
    stamp: float
    """That of the model which it used."""
    content: bytes
    """The gradient as it was coded."""


class Announcement(_Message, frozen=True, tag=12):
    """Tell a neighbour how much the sender's gradients may weigh from now on.

    Examples
    --------
    >>> Announcement("rome", 0.5).bound
    0.5
    """

    sender: Name
    bound: float
    """The largest weight, times the most that coding lengthens a gradient."""


Message: TypeAlias = (
    RowRequest
    | Rows
    | Gradient
    | Sums
    | LossShared
    | SumsRequest
    | Knowledge
    | Lesson
    | FieldRequest
    | FieldRow
    | FieldGradient
    | Announcement
)
"""Anything that one agent says to another."""


def encode(message: Message) -> bytes:
    """The bytes of a message.

    Parameters
    ----------
    message
        One of the kinds of `mtcool.agents.messages`.

    Examples
    --------
    >>> len(encode(Gradient("rome", 1.0, np.array([1.0, 2.0]))))
    35
    """
    if type(message) not in _KINDS:
        raise ValueError(f"message must be one of `mtcool.agents.messages`, got {message!r}")
    try:
        return _SCHEMA + _ENCODER.encode(message)
    except (TypeError, OverflowError) as error:
        raise ValueError(f"message must hold what can be sent, got {message!r}: {error}") from None


def decode(content: bytes) -> Message:
    """The message in these bytes; anything else is refused with a ValueError.

    Parameters
    ----------
    content
        What `encode` has made, of this version of the schema.

    Examples
    --------
    >>> decode(encode(Gradient("rome", 1.0, np.array([1.0, 2.0])))).gradient
    array([1., 2.])
    >>> decode(b"hello")
    Traceback (most recent call last):
    ...
    ValueError: content must be a message of schema 1, got schema 104
    """
    if type(content) is not bytes:
        content = _plain_bytes(content)
    if not content or content[0] != SCHEMA:
        found = f"schema {content[0]}" if content else "nothing"
        raise ValueError(f"content must be a message of schema {SCHEMA}, got {found}")
    try:
        message: Message = _DECODER.decode(memoryview(content)[1:])
        sender_of(message)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise ValueError(f"content must be a message, got {len(content)} bytes: {error}") from error
    return message


def sender_of(message: Given) -> Label:
    """The label of the agent that sent a message; refuses what is none.

    Examples
    --------
    >>> sender_of(RowRequest(["rome", 1]))
    ('rome', 1)
    """
    if type(message) not in _KINDS:
        raise ValueError(f"message must be one of `mtcool.agents.messages`, got {message!r}")
    sender = plain_name(message.sender, "sent")  # a list may hold anything
    return label_of(sender) if isinstance(sender, list) else sender


def brief(message: Message) -> str:
    """A message in a few words, however long it is: strangers may send anything.

    Examples
    --------
    >>> brief(Gradient("rome", 1.0, np.zeros(900)))
    "a Gradient of 'rome'"
    """
    return f"a {type(message).__name__} of {message.sender!r:.60}"


def _plain_bytes(content: Given) -> bytes:
    if not isinstance(content, bytes | bytearray | memoryview):
        raise ValueError(f"content must be bytes, got {content!r}")
    try:  # a view may have strides, or any shape
        return content.tobytes() if isinstance(content, memoryview) else bytes(content)
    except ValueError as error:
        raise ValueError(f"content must be bytes, got {content!r}: {error}") from None


def _to_bytes(value: object) -> Plain:
    if isinstance(value, np.ndarray):
        return value.astype(NUMBER, copy=False).tobytes()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be part of a message")


def _to_array(kind: type, value: bytes) -> Floats:
    return np.frombuffer(value, NUMBER).astype(np.float64)


_KINDS = frozenset(get_args(Message))
_SCHEMA = bytes([SCHEMA])
_ENCODER = msgspec.msgpack.Encoder(enc_hook=_to_bytes)
_DECODER: Any = msgspec.msgpack.Decoder(Message, dec_hook=_to_array)
