"""What a command keeps to itself: an interrupt is one line, and JSON has standard output alone."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

import typer

STDOUT, STDERR = 1, 2  # as the system numbers them
SAFE = "PYTHONSAFEPATH"


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C ends with one line that says what is kept."""
    try:
        yield
    except KeyboardInterrupt as stop:
        told = "; ".join(["interrupted", *map(str, stop.args)])
        print(f"mtcool: {told}", file=sys.stderr)
        raise typer.Exit(130) from None


@contextmanager
def stdout_kept_for_json() -> Iterator[None]:
    """What modules of the user print, here or in worker processes, goes to standard error."""
    sys.stdout.flush()
    kept = os.dup(STDOUT)
    try:
        os.dup2(STDERR, STDOUT)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, STDOUT)
        os.close(kept)


@contextmanager
def workers_not_from_here() -> Iterator[None]:
    """Processes that are started import nothing from the current folder, which may be anybody's.

    joblib starts workers with `python -m` and `python -c`, which look there before they look for
    NumPy. Later they look where this process does.
    """
    before = os.environ.get(SAFE)
    os.environ[SAFE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE]
        else:
            os.environ[SAFE] = before
