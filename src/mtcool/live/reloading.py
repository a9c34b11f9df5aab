"""A host reads its network file again, because somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable

import mtcool
from mtcool.graphs.labels import plain_name
from mtcool.live.config import Description
from mtcool.live.config.stored import kept_description
from mtcool.live.node import Node
from mtcool.types import Plain


async def reload_node(node: Node, read: Callable[[], Description] | None) -> dict[str, Plain]:
    """Reload a node from its file; returns what it has then.

    A file that describes the network that the node has already changes nothing, so that who has
    reached only some hosts can ask all of them again.

    Parameters
    ----------
    node
        An open node.
    read
        Reads its file; None if it was made without one.

    Examples
    --------
    >>> import asyncio, tempfile
    >>> from mtcool.live.config import described
    >>> async def play(folder):
    ...     network = described({"name": "demo", "graph": {"kind": "ring", "agents": 4},
    ...         "learn": {"features": ["x"]}, "shards": {"count": 1}}, folder)
    ...     async with Node(network) as node:
    ...         return await reload_node(node, lambda: network)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asyncio.run(play(folder))["agents"]
    [0, 1, 2, 3]
    """
    if read is None:
        raise ValueError("reload needs a node that was made from a file")
    new = read()
    if kept_description(new) != kept_description(node.network):
        await node.reload(new)
    return {
        "agents": [plain_name(name, "told") for name in node.host.drivers],
        "revision": node.host.share.revision,
        "release": mtcool.__version__,
    }
