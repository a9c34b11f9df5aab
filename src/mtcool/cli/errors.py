"""How a command ends if something is wrong: with one sentence, and a status."""

import sys
from typing import NoReturn

from mtcool.cli.terminal import tell

MAY_PASS, WRONG = 1, 2
"""Statuses: what may work later as it is, and what is wrong until somebody changes it."""
NOT_THERE = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)
"""Of all that a system refuses, what does not pass by itself."""


def end(error: Exception, status: int = WRONG) -> NoReturn:
    """Say what is wrong, and end."""
    tell(sentence_of(error))
    sys.exit(status)


def sentence_of(error: Exception) -> str:
    """What is wrong, with the name of the file, if it is about one.

    Examples
    --------
    >>> sentence_of(OSError(28, "No space left on device", "state/rome.lock"))
    'state/rome.lock: No space left on device'
    """
    if isinstance(error, MemoryError):
        return f"there is not enough memory: {error}"
    if isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)
