"""Read a saved network exactly as it was, or refuse the file."""

import os

import numpy as np

from mtcool.graphs import Graph, own_weights
from mtcool.graphs.weights import check_entries
from mtcool.learners import Learner
from mtcool.network import storage
from mtcool.network.header import (
    FORMAT,
    Named,
    NetworkHeader,
    decode_format,
    decode_header,
    describes,
    labels_from,
    learner_from,
    scales_of,
    settings_from,
)
from mtcool.network.network import Network
from mtcool.network.saved_states.sizes import check_size
from mtcool.peers.settings import Settings
from mtcool.privacy.noise import make_noise
from mtcool.types import Floats, Integers


def load(path: str | os.PathLike[str], learner: Learner | None = None) -> Network:
    """Read a network that `Network.save` wrote; it goes on exactly where that one was.

    Safe on any file: reading one runs none of its content.

    Parameters
    ----------
    path
        The file.
    learner
        Needed for a learner from outside mtcool, with the parameters it had. Of its state only
        types and shapes are checked, so do not load a stranger's file with it.

    Raises
    ------
    ValueError
        If no network could have written the file.

    Examples
    --------
    >>> load("no-such-file.npz")
    Traceback (most recent call last):
    ...
    FileNotFoundError: [Errno 2] No such file or directory: 'no-such-file.npz'
    """
    content, arrays, stored = storage.read(path)
    place = os.fspath(path)
    try:
        found = decode_format(content)
    except Exception as error:
        raise ValueError(f"path must be a saved network, got {place!r}") from error
    if found != FORMAT:
        raise ValueError(f"path must hold a file of format {FORMAT}, got {found!r}")
    if storage.checksum({"header": np.frombuffer(content, np.uint8), **arrays}) != stored:
        raise ValueError(f"path must hold what was saved, got {place!r} with another checksum")
    try:
        header = decode_header(content)
    except Exception as error:
        raise ValueError(f"path must be a saved network, got {place!r}: {error}") from error
    try:
        chosen = learner_from(header.learner) if learner is None else learner
    except Exception as error:  # parameters that its constructor refuses, or does not know
        raise ValueError(f"path must hold a learner, got {place!r}: {error}") from error
    chosen = _checked_learner(header.learner, chosen)
    try:
        network = _network(header, arrays, chosen)
    except Exception as error:  # whatever the content, one kind of refusal
        raise ValueError(f"path must hold a network, got {place!r}: {error}") from error
    scales = None if network.sanitiser is None else scales_of(network.sanitiser.calibration)
    if scales != header.scales:  # of another version: noise of these was published already
        raise ValueError(f"path must hold noise scales of this version, got {place!r}")
    return network


def _checked_learner(saved: Named, learner: Learner | None) -> Learner:
    if learner is None:
        raise ValueError(f"learner must be given to load a network of {saved.name}, got None")
    if not describes(saved, learner):
        raise ValueError(
            f"learner must be the {saved.name} of the saved network, with parameters "
            f"{saved.parameters}, got {learner!r}"
        )
    return learner


def _network(header: NetworkHeader, arrays: storage.Arrays, learner: Learner) -> Network:
    ptr, idx, given = (arrays.pop(name) for name in ("ptr", "idx", "weights"))
    graph = Graph(ptr, idx, labels_from(header.labels))
    settings = settings_from(header, learner, graph.labels)
    weights = check_entries(graph, np.array(given))
    if settings.algorithm.own_weights and (weights != own_weights(graph).data).any():
        raise ValueError(
            f"weights of {settings.algorithm} must put all weight on the agent itself, got others"
        )
    check_size(settings, _clique_sizes(settings, graph, weights), arrays)
    noise = None
    if settings.privacy is not None:
        noise = make_noise(settings.privacy.noise)
        noise.restore(header.noise)
    elif header.noise is not None:
        raise ValueError(f"noise must be that of a private network, got {header.noise!r}")
    joined = labels_from(header.joined)
    if joined is not None and settings.field is None:
        raise ValueError(f"joined must be that of a network that can change, got {joined!r}")
    return Network(settings, graph, weights, noise, arrays, from_file=True, joined=joined or ())


def _clique_sizes(settings: Settings, graph: Graph, weights: Floats) -> Integers:
    """Rows of every clique that somebody listens to."""
    heard = settings.algorithm.cliques(graph)[weights > 0.0]
    return np.unique(heard, return_counts=True)[1]
