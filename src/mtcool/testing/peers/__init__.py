"""Checks of peers: `peers_checks` lists them, `check_peers` runs them."""

from collections.abc import Callable, Mapping
from functools import partial

from mtcool.algorithms import Algorithm, make_network
from mtcool.graphs import ring
from mtcool.network import Network
from mtcool.testing.checks import Check, checks_of, run_all
from mtcool.testing.peers import contract, copies, forms, refusals
from mtcool.testing.peers.trial import AGENTS, PeersTrial
from mtcool.types import Given


def peers_checks(
    algorithm: Algorithm | Callable[..., Network], *, dim: int = 2, **settings: Given
) -> list[Check]:
    """The checks that the peers of an algorithm must pass, each with its name.

    Networks of seven agents are played in every form: by `predict` and `update`, by `simulate`, and
    agent by agent with messages in between.

    Parameters
    ----------
    algorithm
        The record of an algorithm (`docs/add-an-algorithm.md`), or a function such as
        `mtcool.mt_co2ol` that makes its networks.
    dim
        Dimension of the models.
    settings
        Other arguments, such as `learner`. A private algorithm needs `privacy`, with a horizon of
        at least 100, and a `seed`, because its noise must repeat.

    Examples
    --------
    >>> from mtcool.algorithms import ALGORITHMS
    >>> [check.name for check in peers_checks(ALGORITHMS["i_ftrl"])][:2]
    ['predicting_changes_nothing', 'networks_learn']
    """
    make = partial(make_network, algorithm) if isinstance(algorithm, Algorithm) else algorithm
    if not isinstance(algorithm, Algorithm):
        _require_maker(algorithm, dim, settings)
    name = getattr(algorithm, "__name__", algorithm)
    claims = (*contract.CLAIMS, *refusals.CLAIMS, *forms.CLAIMS, *copies.CLAIMS)
    return checks_of(claims, PeersTrial(make, dim, settings), f"{name} with dim={dim}, {settings}")


def _require_maker(
    function: Callable[..., Network], dim: int, settings: Mapping[str, Given]
) -> None:
    """Refuse what does not make networks: no check would be to blame."""
    try:
        made: object = function(ring(AGENTS), dim, **settings)
    except TypeError as error:  # it cannot be called like this, or at all
        made = error
    except Exception:  # which is for the checks to tell
        return
    if not isinstance(made, Network):
        raise ValueError(
            "algorithm must be the record of an algorithm, or a function of a graph and a "
            f"dimension that makes a network, got {function!r}, which gives {made!r}"
        )


def check_peers(
    algorithm: Algorithm | Callable[..., Network], *, dim: int = 2, **settings: Given
) -> None:
    """Check that the peers of an algorithm do what every network must do.

    Raises an AssertionError that names the first check that fails, says what was found and what
    must hold.

    Parameters
    ----------
    algorithm, dim, settings
        As in `peers_checks`.

    Examples
    --------
    >>> import mtcool
    >>> check_peers(mtcool.i_ftrl)
    """
    run_all(peers_checks(algorithm, dim=dim, **settings))
