"""The named algorithms, one file each: the function that makes a network, and its record."""

from mtcool.algorithms.dpmt_co2ol import dpmt_co2ol
from mtcool.algorithms.i_ftrl import i_ftrl
from mtcool.algorithms.making import make_network
from mtcool.algorithms.mt_co2ol import mt_co2ol
from mtcool.algorithms.pairwise import pairwise
from mtcool.algorithms.published_noise import compare_mechanisms, published_noise
from mtcool.algorithms.st_ftrl import st_ftrl
from mtcool.peers.algorithm import ALGORITHMS, Algorithm, algorithm, register
from mtcool.peers.assemble import clique_peers
from mtcool.peers.exchange import clique_exchange, plain_exchange

OWN = tuple(ALGORITHMS)
"""The names of the package's own algorithms; others may be registered later."""

__all__ = [
    "ALGORITHMS",
    "OWN",
    "Algorithm",
    "algorithm",
    "clique_exchange",
    "clique_peers",
    "compare_mechanisms",
    "dpmt_co2ol",
    "i_ftrl",
    "make_network",
    "mt_co2ol",
    "pairwise",
    "plain_exchange",
    "published_noise",
    "register",
    "st_ftrl",
]
