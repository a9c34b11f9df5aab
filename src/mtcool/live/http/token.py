"""The secret that callers from elsewhere must know."""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
from pathlib import Path

SHORTEST = 16


def token_in(path: str | os.PathLike[str]) -> str:
    """The token in a file that only its owner can read; another one is refused.

    Parameters
    ----------
    path
        The file: one line of at least 16 characters.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "token")
    ...     _ = file.write_text("correct horse battery staple")
    ...     os.chmod(file, 0o600)
    ...     token_in(file)
    'correct horse battery staple'
    """
    file = Path(path)
    with file.open("rb") as opened:  # what is checked is what is read
        mode = stat.S_IMODE(os.fstat(opened.fileno()).st_mode)
        content = opened.read(4096)
    if mode & 0o077:
        raise ValueError(f"token must be in a file of mode 0600, got {mode:04o} of {str(file)!r}")
    try:
        token = content.decode("ascii").strip()
    except UnicodeDecodeError:
        token = ""
    if len(token) < SHORTEST or not token.isprintable():
        raise ValueError(
            f"token must be one line of at least {SHORTEST} characters of ASCII, "
            f"got {len(content)} bytes in {str(file)!r}"
        )
    return token


def same_token(given: str, token: str) -> bool:
    """Whether they are equal, in a time that does not tell how much of them is.

    Examples
    --------
    >>> same_token("wrong", "correct horse battery staple")
    False
    """
    return hmac.compare_digest(given.encode(), token.encode())


def pass_of(token: str) -> str:
    """What a browser keeps that has shown the token, which does not give the token away.

    Examples
    --------
    >>> len(pass_of("correct horse battery staple"))
    64
    """
    return hmac.new(token.encode(), b"mtcool page", hashlib.sha256).hexdigest()
