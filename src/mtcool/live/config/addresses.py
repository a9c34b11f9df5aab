"""Where hosts are: addresses that are well formed, and that no two of them share."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import NamedTuple

DOMAIN = re.compile(
    r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*"
)
ANY = ("0.0.0.0", "::")
"""To listen at these is to listen at all addresses of the machine."""
HIGHEST = 65535


class Place(NamedTuple):
    """Where a host is."""

    listen: str
    address: str
    http: str | None


class Address(NamedTuple):
    """A name, or a number of the internet, and a port."""

    name: str
    port: int

    @property
    def local(self) -> bool:
        """Whether only this machine reaches it."""
        return self.name == "::1" or bool(re.fullmatch(r"127(\.\d+){3}", self.name))

    def meets(self, other: Address) -> bool:
        """Whether no two programs of one machine can listen at both."""
        alike = (":" in self.name) == (":" in other.name)
        any_of_them = self.name in ANY or other.name in ANY
        return self.port == other.port and (self.name == other.name or (alike and any_of_them))


def address_in(key: str, text: str, least: int = 1) -> Address:
    """The address in a text.

    Parameters
    ----------
    key
        Where the text stands in the description.
    text
        The address: "127.0.0.1:7447", "[::1]:7447" or "rome.example.org:7447".
    least
        The lowest port: 0 where a free one may be taken.

    Examples
    --------
    >>> address_in("listen", "[0::1]:7447")
    Address(name='::1', port=7447)
    >>> address_in("listen", "rome")
    Traceback (most recent call last):
    ...
    ValueError: listen must be a name or a number and a port, such as "127.0.0.1:7447", got 'rome'
    """
    name, _, port = text.rpartition(":")
    known = _known(name)
    if known is None or not re.fullmatch("[0-9]{1,5}", port) or not least <= int(port) <= HIGHEST:
        raise ValueError(
            f'{key} must be a name or a number and a port, such as "127.0.0.1:7447", got {text!r}'
        )
    return Address(known, int(port))


def _known(name: str) -> str | None:
    """The name in one spelling; None if there can be no such name."""
    small = name.lower()
    if small == "localhost":
        return "127.0.0.1"
    try:
        if small.startswith("[") and small.endswith("]"):
            return str(ipaddress.IPv6Address(small[1:-1]))
        if small.rpartition(".")[2].isdigit():  # no domain ends with a number
            return str(ipaddress.IPv4Address(small))
    except ValueError:
        return None
    return small if DOMAIN.fullmatch(small) else None


def check_places(places: Mapping[str, Place]) -> None:
    """Refuse hosts that cannot listen, cannot be called, or take each other's place.

    Hosts that are called on loopback, where they listen, are on one machine; of others, also those
    that are called through a tunnel, that is not known.

    Examples
    --------
    >>> place = Place("127.0.0.1:7447", "127.0.0.1:7447", None)
    >>> check_places({"a": place, "b": place})
    Traceback (most recent call last):
    ...
    ValueError: hosts.b.listen must not take the place of hosts.a.listen, got '127.0.0.1:7447'
    """
    called: dict[Address, str] = {}
    taken: dict[tuple[str, int], list[tuple[Address, str]]] = {}
    for host, place in places.items():
        here = address_in(f"hosts.{host}.listen", place.listen)
        address = address_in(f"hosts.{host}.address", place.address)
        if address.name in ANY and len(places) > 1:
            raise ValueError(
                f"hosts.{host}.address must say what others call it, got {place.address!r}"
            )
        machine = "" if address.local and address.port == here.port else host
        wanted = [(here, f"hosts.{host}.listen", place.listen)]
        if place.http is not None:
            key = f"hosts.{host}.http"
            wanted.append((address_in(key, place.http, least=0), key, place.http))
        for one, key, text in wanted:
            others = taken.setdefault((machine, one.port), [])
            for other, whose in others:
                if one.port and one.meets(other):
                    raise ValueError(f"{key} must not take the place of {whose}, got {text!r}")
            others.append((one, key))
        if address in called:
            raise ValueError(
                f"hosts.{host}.address must not be that of {called[address]}, got {place.address!r}"
            )
        called[address] = host
