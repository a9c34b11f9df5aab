"""Ask hosts on other machines how they are, or to read their files again."""

from __future__ import annotations

from typing import Literal

import httpx

from mtcool.live.config import Description
from mtcool.live.config.addresses import address_in
from mtcool.live.http.client import NOBODY, at_most, client_of, reload_at, status_at, why_not
from mtcool.live.http.token import token_in
from mtcool.live.http.urls import url_of
from mtcool.types import Plain

NOT_ASKED = "elsewhere, not asked"
NOT_HERE = "does not run on this machine"


async def ask_elsewhere(
    network: Description, host: str, wait: float, do: Literal["status", "reload"] = "status"
) -> dict[str, Plain]:
    """What a host replies that has no socket here, or an error that says why there is no reply.

    Parameters
    ----------
    network
        The network.
    host
        The name of the host.
    wait
        Seconds that it has for a sign of life.
    do
        What it is asked to do.
    """
    place, file = network.places[host], network.file.security.token
    url = url_of(place)
    near = place.http is not None and address_in("http", place.http, least=0).local
    here = address_in("address", place.address).local and (near or url is None)
    if url is None:
        told = NOT_HERE if here else f"{NOT_ASKED}: it has no http"
        return {"error": told}
    if file is None and not near:
        return {"error": f"{NOT_ASKED}: security.token is not given"}
    try:
        token = None if file is None else token_in(network.path(file))
    except (OSError, ValueError) as error:
        return {"error": f"{NOT_ASKED}: {error}"}
    try:
        async with at_most(wait), client_of(token, wait) as client:
            if do == "reload":
                reply = await reload_at(client, url, host)
            else:
                status = await status_at(client, url, host)
                reply = None if status is None else {"status": status}
    except httpx.HTTPStatusError as error:
        return {"error": f"{url} answers with status {error.response.status_code}"}
    except (httpx.HTTPError, TimeoutError) as error:
        why = why_not(error, url, wait)
        return {"error": NOT_HERE if here and why.endswith(NOBODY) else why}
    return {"error": f"{url} is not host {host!r} of ours"} if reply is None else reply
