"""Who another host may ask, and what it may say: checked before anything is touched."""

from __future__ import annotations

from mtcool.agents.messages import (
    FieldGradient,
    FieldRequest,
    Gradient,
    Lesson,
    LossShared,
    Message,
    RowRequest,
    Sums,
    SumsRequest,
    decode,
    encode,
    sender_of,
)
from mtcool.graphs.labels import label_of, plain_name
from mtcool.live.agents import Driver
from mtcool.live.host_view import Share
from mtcool.live.mailbox import MOST_ITEMS
from mtcool.live.residents import Residents
from mtcool.live.wire import Ask, Question, question_in
from mtcool.types import Name

TO_LEARN_FROM = (Gradient, Sums, LossShared, Lesson, FieldGradient)
"""Messages that an agent takes from those that were its neighbours, too: they may be late."""
REQUESTS = (RowRequest, SumsRequest, FieldRequest)
"""Messages that ask, and change nothing that is kept."""


class Behind(ValueError):
    """Two hosts have not read the same description yet: no reason to complain."""


def question_of(share: Share, host: str, content: bytes, largest: int) -> Question:
    """The question of another host; refuses one of another network, and what is too much."""
    if len(content) > largest:
        raise ValueError(
            f"question must be at most {largest} bytes (limits.message), got {len(content)}"
        )
    question = question_in(content)
    if question.network != share.network:
        raise ValueError(f"network must be {share.network}, got {question.network}")
    if question.revision > share.revision:
        raise Behind(
            f"description must be read again: host {host!r} has revision "
            f"{question.revision}, and we have {share.revision}"
        )
    count = len(question.items) + (len(question.told) if isinstance(question, Ask) else 0)
    most = max(MOST_ITEMS, len(share.home))  # all agents here may be neighbours of one
    if count > most:
        raise ValueError(f"items must be at most {most}, got {count}")
    if isinstance(question, Ask) and len(question.items) > 1:
        _check_asked_once(share, question.items)
    return question


def _check_asked_once(share: Share, items: list[tuple[Name, bytes]]) -> None:
    """Refuse a question that asks an agent twice, or more agents than can be here: no round does.

    What a question costs, and the length of its reply, are bounded by that.
    """
    if len(items) > len(share.home):
        raise ValueError(
            f"agents that are asked must be at most {len(share.home)}, got {len(items)}"
        )
    try:
        agents = {label_of(to) for to, _ in items}
    except TypeError:
        raise ValueError("agents must have names that can be hashed, got others") from None
    if len(agents) < len(items):
        raise ValueError(
            f"agents must be asked once in a question, got {len(items)} requests to {len(agents)}"
        )


def row_for(residents: Residents, host: str, to: Name, content: bytes) -> bytes | None:
    """What an agent answers to the request in these bytes, from an agent of another host."""
    driver, request = addressed(residents, host, to, content)
    if not isinstance(request, REQUESTS):
        raise ValueError(f"message must be a request, got {type(request).__name__}")
    answer = driver.receive(request)
    return None if answer is None else encode(answer)


def addressed(residents: Residents, host: str, to: Name, content: bytes) -> tuple[Driver, Message]:
    """Who a message is for, and what it says; its sender must live on the host it is from."""
    name = plain_name(to, "sent")
    if residents.left and label_of(name) in residents.left:
        raise Behind(f"{label_of(name)!r} has left")
    driver = residents.named(name)
    message = decode(content)
    sender = sender_of(message)
    if residents.share.home.get(sender) != host or sender not in driver.senders:
        raise ValueError(
            f"sender must be a neighbour of {driver.name!r} on host {host!r}, got {sender!r}"
        )
    if sender not in driver.neighbours and not isinstance(message, TO_LEARN_FROM):
        raise Behind(f"{sender!r} is a neighbour of {driver.name!r} no more")
    return driver, message
