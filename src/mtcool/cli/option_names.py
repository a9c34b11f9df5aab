"""Complaints in the words of who typed the command: options instead of arguments."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

OPTIONS = {
    "agent": "--agent",
    "agents": "--agent",
    "target": "--target",
    "time": "--time",
    "arrives": "--arrives",
    "features": "--features",
    "categories": "--categories",
    "graph": "--graph",
    "near": "--near",
    "neighbours": "--neighbours",
    "task": "--task",
    "share": "--share",
    "on_bad": "--on-bad",
    "only": "--only",
    "full": "--full",
    "quick": "--quick",
}
"""Options of `mtcool learn`, `predict` and `paper` by the arguments that they become."""


@contextmanager
def named_as_typed() -> Iterator[None]:
    """Let complaints about arguments name the options that the arguments came from."""
    try:
        yield
    except ValueError as error:
        raise ValueError(in_options(str(error))) from None


def in_options(complaint: str) -> str:
    """A complaint about an argument as one about an option.

    Examples
    --------
    >>> in_options("neighbours must be left out without near, got 3")
    '--neighbours must be left out without --near, got 3'
    >>> in_options("sales.csv, line 3: no target in column 'sales'")
    "sales.csv, line 3: no target in column 'sales'"
    >>> in_options('sales.csv, line 3: no target; on_bad="skip" goes on without such rows')
    'sales.csv, line 3: no target; --on-bad skip goes on without such rows'
    """
    words = "|".join(OPTIONS)
    start = re.match(rf"({words}) must ", complaint)
    if start is not None:
        complaint = OPTIONS[start[1]] + complaint[start.end(1) :]
    complaint = complaint.replace('on_bad="skip"', "--on-bad skip")
    complaint = re.sub(
        r"\b(name (?:it|the column)) as a category", r"\1 in --categories", complaint
    )
    complaint = re.sub(rf"(; name it as|, or as) ({words})\b", _joined, complaint)
    return re.sub(rf"\b(must [^,]* with(?:out)?) ({words})\b", _joined, complaint, count=1)


def _joined(found: re.Match[str]) -> str:
    return f"{found[1]} {OPTIONS[found[2]]}"
