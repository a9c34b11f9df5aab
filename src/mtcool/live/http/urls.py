"""Where hosts answer over HTTP."""

from __future__ import annotations

from mtcool.live.config.addresses import ANY, Place, address_in


def url_of(place: Place) -> str | None:
    """Where a host answers, as others call it; None if it has no endpoint.

    Examples
    --------
    >>> url_of(Place("0.0.0.0:7447", "rome.example.org:7447", "0.0.0.0:8000"))
    'http://rome.example.org:8000'
    """
    if place.http is None:
        return None
    where = address_in("http", place.http, least=0)
    called = address_in("address", place.address).name if where.name in ANY else where.name
    return f"http://{f'[{called}]' if ':' in called else called}:{where.port}"
