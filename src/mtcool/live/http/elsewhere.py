"""Ask hosts on other machines how they are."""

from __future__ import annotations

import asyncio

import httpx

from mtcool.live.description import Description
from mtcool.live.description.addresses import address_in
from mtcool.live.http.client import client_of, status_at
from mtcool.live.http.token import token_in
from mtcool.live.http.urls import url_of
from mtcool.types import Plain

NOT_ASKED = "elsewhere, not asked"


async def ask_elsewhere(network: Description, host: str, wait: float) -> dict[str, Plain]:
    """The status of a host that has no socket here, or an error that says why there is none.

    Parameters
    ----------
    network
        The network.
    host
        The name of the host.
    wait
        Seconds that it has to answer.
    """
    place, file = network.places[host], network.file.security.token
    url = url_of(place)
    here = address_in("http", place.http or place.address, least=0).local
    if url is None:
        told = "does not run on this machine" if here else f"{NOT_ASKED}: it has no http"
        return {"error": told}
    if file is None and not here:
        return {"error": f"{NOT_ASKED}: security.token is not given"}
    try:
        token = None if file is None else token_in(network.path(file))
    except (OSError, ValueError) as error:
        return {"error": f"{NOT_ASKED}: {error}"}
    try:
        async with asyncio.timeout(wait), client_of(token) as client:
            status = await status_at(client, url)
    except httpx.HTTPStatusError as error:
        return {"error": f"{url} answers with status {error.response.status_code}"}
    except (httpx.HTTPError, TimeoutError):
        return {"error": "does not run on this machine" if here else f"{url} does not answer"}
    return {"error": f"{url} is no host of ours"} if status is None else {"status": status}
