"""What the screen can show: ASCII where nothing else is known, and lines as long as they fit."""

import codecs
import contextlib
import io
import os
import select
import sys
import unicodedata
from collections.abc import Callable, Iterator
from typing import TextIO

from rich.console import Console

# Columns of output that no terminal shows: more than any line has, so that none is broken.
UNBROKEN = 100_000

# The signs of the reports in words; others lose their accents or become a question mark.
WORDS = {
    "α": "alpha",
    "γ": "gamma",
    "δ": "delta",
    "ε": "epsilon",
    "λ": "lambda",
    "μ": "mu",
    "ν": "nu",
    "ρ": "rho",
    "σ": "sigma",
    "τ": "tau",
    "\u0304": "-bar",
    "±": "+/-",
    "×": "x",
    "·": "*",
    "≤": "<=",
    "≥": ">=",
    "≈": "~",
    "√": "sqrt",
    "∞": "inf",
    "–": "-",
    "—": "-",
    "−": "-",
    "…": "...",
    "’": "'",
    "“": '"',
    "”": '"',
    "→": "->",
}
ERRORS = "mtcool-ascii"


def prepare_streams() -> None:
    """Make standard output and error speak ASCII, in readable words, where nothing else is known.

    That is where Python's encoding is not Unicode, and where the locale is said to be C: Python
    would write UTF-8 there.
    """
    codecs.register_error(ERRORS, _in_words)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and (
            _locale_is_c() or not codecs.lookup(stream.encoding).name.startswith("utf")
        ):
            stream.reconfigure(encoding="ascii", errors=ERRORS)


def console() -> Console:
    """Standard output for text and tables; lines are wrapped for a terminal only."""
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else UNBROKEN
    return Console(highlight=False, width=width)


def ascii_only() -> bool:
    """Whether standard output can show only ASCII."""
    return getattr(sys.stdout, "errors", None) == ERRORS


def shown(text: str) -> str:
    """The text as it will appear, so that columns of tables are wide enough."""
    return plain(text) if ascii_only() else text


def printable(text: str) -> str:
    """The text without what would move the cursor, change colours, or ring: others have written it.

    Examples
    --------
    >>> printable("well\\x1b[31m")
    'well[31m'
    """
    return "".join(char for char in text if char.isprintable())


def plain(text: str) -> str:
    """The text in ASCII.

    Examples
    --------
    >>> plain("σ̄ = 0.1 ± 0.02 in Zürich")
    'sigma-bar = 0.1 +/- 0.02 in Zurich'
    """
    return "".join(char if char.isascii() else _word(char) for char in text)


def _word(char: str) -> str:
    if char in WORDS:
        return WORDS[char]
    basic = "".join(c for c in unicodedata.normalize("NFKD", char) if c.isascii())
    return basic or ("" if unicodedata.combining(char) else "?")


def _in_words(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return plain(error.object[error.start : error.end]), error.end


def _locale_is_c() -> bool:
    """Whether the locale C was chosen, and not merely left open as in most containers."""
    said = [os.environ[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if os.environ.get(name)]
    chosen_for_python = "PYTHONIOENCODING" in os.environ or "PYTHONUTF8" in os.environ
    return bool(said) and said[0] in ("C", "POSIX") and not chosen_for_python


def tell(sentence: str, unread: Callable[[], object] = lambda: None) -> None:
    """A sentence for people who wait, beside the output of the command.

    Nobody may read it any more, as after `2>&1 | head -1`: then `unread` is called, and the command
    goes on, because it may have processes to stop.
    """
    try:
        print(f"mtcool: {sentence}", file=sys.stderr, flush=True)
    except BrokenPipeError:
        unread()


def is_read(stream: TextIO) -> bool:
    """Whether output may still be read: not if it is a pipe, and who read it is gone."""
    try:
        number = stream.fileno()
    except io.UnsupportedOperation:  # it is no file, but kept in memory by who reads it
        return True
    look = select.poll()
    look.register(number, 0)
    return not any(event & select.POLLERR for _, event in look.poll(0))


@contextlib.contextmanager
def read_to_the_end() -> Iterator[None]:
    """End without a traceback where nobody reads the output any more; the status is 1 then."""
    try:
        yield
    finally:
        for stream in (sys.stderr, sys.stdout):
            if stream.closed:  # by an event loop that has found out before
                continue
            try:
                stream.flush()
            except BrokenPipeError:
                # What is left must go somewhere, or Python complains when it ends.
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)
                if stream is sys.stdout:
                    sys.exit(1)
