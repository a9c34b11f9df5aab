"""Names that files, keys, certificates and tables of numbers can all bear."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from mtcool.types import Label

NETWORK = re.compile(r"[a-z0-9][a-z0-9-]*")
HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
AUTHORITY = "authority"
"""Whose certificate is in authority.pem: no host's."""


def check_network_name(name: str) -> None:
    """Refuse the name of a network that is not short and plain.

    Examples
    --------
    >>> check_network_name("towns of italy")
    Traceback (most recent call last):
    ...
    ValueError: name must be small letters, digits and hyphens, got 'towns of italy'
    """
    if not NETWORK.fullmatch(name):
        raise ValueError(f"name must be small letters, digits and hyphens, got {name!r}")


def check_host_names(names: Iterable[str]) -> None:
    """Refuse names of hosts that are not safe in file names, keys of zenoh and certificates.

    Examples
    --------
    >>> check_host_names(["rome", "authority"])
    Traceback (most recent call last):
    ...
    ValueError: hosts must not be named like the authority of the certificates, got 'authority'
    """
    known: dict[str, str] = {}
    for name in names:
        if not HOST.fullmatch(name):
            raise ValueError(
                "hosts must have names of at most 63 letters, digits, hyphens, dots and "
                f"underscores, of which the first is a letter or a digit, got {name!r}"
            )
        small = name.lower()
        if small == AUTHORITY:
            raise ValueError(
                f"hosts must not be named like the authority of the certificates, got {name!r}"
            )
        if small in known:  # some disks do not tell their files apart
            raise ValueError(
                f"hosts must differ in more than capitals, got {known[small]!r} and {name!r}"
            )
        known[small] = name


def check_agent_names(labels: Iterable[Label]) -> None:
    """Refuse agents that tables and metrics, where all names are texts, could not tell apart.

    Examples
    --------
    >>> check_agent_names([1, "1"])
    Traceback (most recent call last):
    ...
    ValueError: agents must have names that differ as texts, got 1 and '1'
    """
    if isinstance(labels, range):
        return
    known: dict[str, Label] = {}
    for label in labels:
        first = known.setdefault(as_text(label), label)
        if first is not label:
            raise ValueError(
                f"agents must have names that differ as texts, got {first!r} and {label!r}"
            )


def as_text(label: Label) -> str:
    """A name as tables have it; accents are written in one way."""
    text = str(label)
    return text if text.isascii() else unicodedata.normalize("NFC", text)
