"""Write files of a result folder: complete or not at all; errors name the file."""

import os
import secrets
import tempfile
from pathlib import Path


def write(path: Path, content: bytes) -> None:
    """Write the file, in place of one that is there; make its folder if needed.

    An OSError names the file: that of the system may name none (when the disk is full), or a
    temporary one.
    """
    temporary = path.parent / f"{secrets.token_hex(8)}.tmp"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(content)
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
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
