"""Files of a result folder: there whole or not at all, and named when they cannot be written."""

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write(path: Path, content: bytes) -> None:
    """Replace the file by one with this content; its folder is made if it is not there."""
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.parent / f"{secrets.token_hex(8)}.tmp"
        try:
            temporary.write_bytes(content)
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """An error of the system inside names this file: a full disk names none, or a temporary one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def check_writable(folder: Path) -> None:
    """Refuse a folder in which nothing can be written, without making it.

    Examples
    --------
    >>> check_writable(Path(tempfile.gettempdir()) / "results" / "ring")
    """
    place = folder
    while not os.path.lexists(place) and place != place.parent:
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(b"anything")
    except OSError as error:
        raise ValueError(
            f"output must be a folder that can be written, got {str(folder)!r}: "
            f"{error.strerror} ({place})"
        ) from None
