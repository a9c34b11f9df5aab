"""Multitask online learning on networks: MT-CO2OL and its baselines, exact and fast.

>>> import mtcool, networkx as nx
>>> net = mtcool.mt_co2ol(nx.karate_club_graph(), dim=3)
>>> net.predict(0)
array([0., 0., 0.])
"""

from mtcool import graphs, learners, privacy, streams
from mtcool.algorithms import dpmt_co2ol, i_ftrl, mt_co2ol, pairwise, st_ftrl
from mtcool.graphs import Graph
from mtcool.network.loading import load
from mtcool.network.network import Network
from mtcool.privacy import Privacy
from mtcool.simulation import Trace, replicate, simulate
from mtcool.streams import Stream

__version__ = "0.1.0"

__all__ = [
    "Graph",
    "Network",
    "Privacy",
    "Stream",
    "Trace",
    "dpmt_co2ol",
    "graphs",
    "i_ftrl",
    "learners",
    "load",
    "mt_co2ol",
    "pairwise",
    "privacy",
    "replicate",
    "simulate",
    "st_ftrl",
    "streams",
]
