"""ST-FTRL: every agent keeps one point."""

from collections.abc import Iterator, Sequence

from mtcool.agents.cutting.kinds import Joined, cut, join
from mtcool.agents.cutting.settings import joint_settings, settings_of
from mtcool.agents.single_task import SingleTaskAgent
from mtcool.axes import Location, copy_cliques, state_arrays
from mtcool.graphs import Graph, own_weights
from mtcool.peers.exchange import Exchange
from mtcool.peers.settings import Settings
from mtcool.peers.single_task import SingleTaskPeers


@cut.register
def _(
    peers: SingleTaskPeers,
    settings: Settings,
    graph: Graph,
    exchange: Exchange,
    agents: Sequence[int],
) -> Iterator[SingleTaskAgent]:
    for i in agents:
        others = tuple(graph.labels[int(j)] for j in graph.neighbours(i) if int(j) != i)
        agent = SingleTaskAgent(graph.labels[i], settings_of(settings, i), others)
        copy_cliques(peers.state, Location.of(i), agent.state, Location.of(0))
        yield agent


@join.register
def _(first: SingleTaskAgent, graph: Graph, agents: Sequence[SingleTaskAgent]) -> Joined:
    settings, weights = joint_settings(agents), own_weights(graph).data
    peers = settings.algorithm.peers(settings, graph, weights)
    for i, agent in enumerate(agents):
        others = {graph.labels[int(j)] for j in graph.neighbours(i) if int(j) != i}
        for name in others ^ set(agent.neighbours):
            knows = "knows" if name in agent.neighbours else "does not know"
            raise ValueError(
                f"agents must have the neighbours of the graph, got {agent.name!r}, which {knows} "
                f"{name!r}"
            )
        copy_cliques(agent.state, Location.of(0), peers.state, Location.of(i))
    return Joined(settings, weights, dict(state_arrays(peers.state)))
