"""Rows that other hosts have replied, for a round that waits for them."""

from __future__ import annotations

from typing import TypeAlias

from mtcool.agents.messages import Message, decode
from mtcool.live.mailbox import Mailbox
from mtcool.live.rounds import OpenRound
from mtcool.live.wire import Refused, RowReplies, reply_in
from mtcool.types import Label

Found: TypeAlias = dict[Label, tuple[Message, bytes]]
"""The answer of each neighbour, and its bytes as they came."""


def check_reply(content: bytes, largest: int) -> None:
    """Refuse a reply of more bytes than hosts take from each other.

    Examples
    --------
    >>> check_reply(bytes(5), 4)
    Traceback (most recent call last):
    ...
    ValueError: reply must be at most 4 bytes (limits.message), got 5
    """
    if len(content) > largest:
        raise ValueError(
            f"reply must be at most {largest} bytes (limits.message), got {len(content)}"
        )


def rows_in(
    host: str, content: bytes, begun: OpenRound, mail: Mailbox, largest: int
) -> tuple[int, Found]:
    """The rows in the reply of a host, and the version of the state that they were read from.

    What is wrong, or longer than `largest` bytes, is refused, and its row is missing.
    """
    asked, found = begun.asked.get(host, []), Found()
    try:
        check_reply(content, largest)
        reply = reply_in(content)
        if isinstance(reply, Refused):
            mail.deny(host, reply)
            return 0, found
        if not isinstance(reply, RowReplies) or len(reply.items) != len(asked):
            raise ValueError(f"reply must have {len(asked)} rows, got {type(reply).__name__}")
        mail.hear(host, reply.drawn)
    except ValueError as error:
        mail.refuse(host, error)
        return 0, found
    for neighbour, item in zip(asked, reply.items, strict=True):
        if item is None:
            continue
        try:
            answer = decode(item)
            begun.round.check(neighbour, answer)
        except ValueError as error:
            mail.refuse(host, error)
        else:
            found[neighbour] = answer, item
    return reply.version, found
