"""Long work in a thread, which ends when nobody waits for it any more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[Callable[[str], None]], T], tell: Callable[[str], None]) -> T:
    """What some work returns, while the loop goes on.

    A program waits for its threads before it ends. So if this is cancelled, the work ends, too,
    when it next says how far it is.

    Parameters
    ----------
    work
        Is given a function to tell how far it is.
    tell
        Takes sentences for people.

    Examples
    --------
    >>> def work(tell):
    ...     tell("half of it is done")
    ...     return 42
    >>> asyncio.run(in_thread(work, print))
    half of it is done
    42
    """
    over = False

    def heard(sentence: str) -> None:
        if over:
            raise InterruptedError("nobody waits for it")
        tell(sentence)

    try:
        return await asyncio.to_thread(work, heard)
    finally:
        over = True
