"""The instance of the paper's experiments: 30 agents, almost all of them neighbours."""

from dataclasses import dataclass

from mtcool import Graph, Network, Stream, graphs, mt_co2ol, streams
from mtcool.learners import Learner

ROUNDS = 150_000


@dataclass(frozen=True)
class Instance:
    """A graph and a stream on it."""

    graph: Graph
    stream: Stream

    @property
    def lipschitz(self) -> float:
        """Bound on the gradients on the unit ball."""
        return self.stream.lipschitz(radius=1.0)

    def network(self, learner: Learner) -> Network:
        """A fresh network; KT may leave the unit ball, so gradients are clipped."""
        settings = {"lipschitz": self.lipschitz, "on_excess": "clip"}
        return mt_co2ol(self.graph, self.stream.dim, learner=learner, **settings)

    @property
    def messages(self) -> int:
        """Number of pairs (round, neighbour of the active agent)."""
        return int(self.graph.neighbourhood_sizes[self.stream.agents].sum())

    def first(self, rounds: int) -> "Instance":
        """The same instance, shorter."""
        return Instance(self.graph, self.stream[:rounds])


def papers_instance(rounds: int) -> Instance:
    """Erdős-Rényi N = 30, p = .9, d = 1, quadratic losses with noise .01, smoothness 6."""
    graph = graphs.erdos_renyi(30, 0.9, seed=0)
    tasks = streams.gaussian_tasks(graph, dim=1, smoothness=6.0, seed=1)
    return Instance(graph, streams.quadratic_stream(graph, tasks, rounds, seed=2, noise=0.01))
