"""Multitask online learning on networks: MT-CO2OL and its baselines, exact and fast.

Examples
--------
>>> import mtcool, networkx as nx
>>> net = mtcool.mt_co2ol(nx.karate_club_graph(), dim=3)
>>> net.predict(0)
array([0., 0., 0.])
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from mtcool import agents, graphs, learners, privacy, streams, theory
from mtcool.algorithms import dpmt_co2ol, i_ftrl, mt_co2ol, pairwise, published_noise, st_ftrl
from mtcool.field import Delay, Delays, Messages
from mtcool.graphs import Graph
from mtcool.network.loading import load
from mtcool.network.network import Network
from mtcool.privacy import Privacy
from mtcool.simulation import Trace, replicate, simulate
from mtcool.streams import Stream

__version__ = "0.2.0"

__all__ = [
    "Delay",
    "Delays",
    "Graph",
    "Messages",
    "Network",
    "Privacy",
    "Stream",
    "Trace",
    "agents",
    "audit",
    "changes",
    "dpmt_co2ol",
    "experiments",
    "graphs",
    "i_ftrl",
    "integrations",
    "learn",
    "learners",
    "load",
    "mt_co2ol",
    "pairwise",
    "privacy",
    "published_noise",
    "replicate",
    "simulate",
    "st_ftrl",
    "streams",
    "testing",
    "theory",
]


# They take time to import, and few programs need them.
if TYPE_CHECKING:
    from mtcool import audit, changes, experiments, integrations, learn, testing
else:  # or checkers would take any name for a module

    def __getattr__(name: str) -> ModuleType:
        if name in ("audit", "changes", "experiments", "integrations", "learn", "testing"):
            return importlib.import_module(f"mtcool.{name}")
        raise AttributeError(f"module 'mtcool' has no attribute {name!r}")
