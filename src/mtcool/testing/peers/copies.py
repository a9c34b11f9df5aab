"""Claims about copies and files of a network: they go on as the network itself."""

import contextlib
import copy
import pickle
import tempfile
from collections.abc import Iterator
from pathlib import Path

from mtcool.algorithms import ALGORITHMS, Algorithm
from mtcool.network import Network
from mtcool.network.loading import load
from mtcool.testing.checks import require, require_equal
from mtcool.testing.peers.trial import PeersTrial, all_predictions, content, tell


def copies_go_on_as_the_network(trial: PeersTrial) -> None:
    """A copied network plays the same rounds, to the bit, and shares no memory."""
    network = trial.used()
    before = content(network)
    _plays_alike(trial, copy.deepcopy(network), trial.used(), "copied")
    require(content(network) == before, "a copied network shares memory with its original")


def pickled_networks_go_on(trial: PeersTrial) -> None:
    """A pickled network, as it is sent to workers, plays the same rounds, to the bit.

    The functions of an algorithm's record must be those of a module, which workers can import.
    """
    network = trial.used()
    _plays_alike(trial, pickle.loads(pickle.dumps(network)), network, "pickled")


def saved_networks_go_on(trial: PeersTrial) -> None:
    """`save` and `load` give a network that plays the same rounds, to the bit.

    An algorithm that is not registered is known by its name for the time of this check.
    """
    network = trial.used()
    with _known(network.settings.algorithm), tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.npz"
        network.save(path)
        again = load(path, learner=network.settings.learner)
    _plays_alike(trial, again, network, "saved and loaded")


@contextlib.contextmanager
def _known(algorithm: Algorithm) -> Iterator[None]:
    """Let `load` find the algorithm by its name."""
    before = ALGORITHMS.get(algorithm.name)
    ALGORITHMS[algorithm.name] = algorithm
    try:
        yield
    finally:
        if before is None:
            del ALGORITHMS[algorithm.name]
        else:
            ALGORITHMS[algorithm.name] = before


def _plays_alike(trial: PeersTrial, found: Network, wanted: Network, what: str) -> None:
    require_equal(
        all_predictions(found), all_predictions(wanted), f"{what}, it predicts something else"
    )
    for agent, loss in trial.rounds(20, seed=3):
        require_equal(
            tell(found, agent, loss), tell(wanted, agent, loss), f"{what}, it learns something else"
        )
    require(content(found) == content(wanted), f"{what}, it has another state after a few rounds")


CLAIMS = (copies_go_on_as_the_network, pickled_networks_go_on, saved_networks_go_on)
