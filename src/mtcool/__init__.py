"""Multitask online learning on networks: MT-CO2OL and its baselines, exact and fast.

Examples
--------
>>> import mtcool, networkx as nx
>>> net = mtcool.mt_co2ol(nx.karate_club_graph(), dim=3)
>>> net.predict(0)
array([0., 0., 0.])
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mtcool import (
        agents,
        audit,
        changes,
        experiments,
        graphs,
        integrations,
        learn,
        learners,
        privacy,
        streams,
        testing,
        theory,
    )
    from mtcool.algorithms.dpmt_co2ol import dpmt_co2ol
    from mtcool.algorithms.i_ftrl import i_ftrl
    from mtcool.algorithms.mt_co2ol import mt_co2ol
    from mtcool.algorithms.pairwise import pairwise
    from mtcool.algorithms.published_noise import published_noise
    from mtcool.algorithms.st_ftrl import st_ftrl
    from mtcool.field import Delay, Delays, Messages
    from mtcool.graphs import Graph
    from mtcool.network.loading import load
    from mtcool.network.network import Network
    from mtcool.privacy import Privacy
    from mtcool.simulation.replicate import replicate
    from mtcool.simulation.simulate import simulate
    from mtcool.simulation.trace import Trace
    from mtcool.streams import Stream
else:  # all of it takes seconds to import, and a live host or a command needs a part
    from mtcool.lazy import attach

    __getattr__, __dir__ = attach(
        __name__,
        {
            "algorithms": (
                "dpmt_co2ol",
                "i_ftrl",
                "mt_co2ol",
                "pairwise",
                "published_noise",
                "st_ftrl",
            ),
            "field": ("Delay", "Delays", "Messages"),
            "graphs": ("Graph",),
            "network.loading": ("load",),
            "network.network": ("Network",),
            "privacy": ("Privacy",),
            "simulation": ("Trace", "replicate", "simulate"),
            "streams": ("Stream",),
        },
        modules=(
            "agents",
            "algorithms",
            "audit",
            "changes",
            "experiments",
            "field",
            "graphs",
            "integrations",
            "learn",
            "learners",
            "privacy",
            "simulation",
            "streams",
            "testing",
            "theory",
        ),
    )

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
