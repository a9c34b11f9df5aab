"""Sensors: how soon do stations forecast well, if they listen to the stations around them?"""

from pathlib import Path

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import typer

from mtcool.learn import Model


def main(stations: int = 60, days: int = 300, picture: Path = Path("sensors.png")) -> None:
    """Stations warm up with sun and cool with wind, each a little differently than those nearby."""
    rng = np.random.default_rng(1)
    graph = nx.random_geometric_graph(stations, 0.25, seed=1)
    place = np.array([graph.nodes[station]["pos"] for station in graph])
    slopes = np.column_stack([3 + np.sin(4 * place[:, 0]), -2 + np.cos(4 * place[:, 1])])
    agent = rng.permuted(np.tile(np.arange(stations), (days, 1)), axis=1).ravel()
    features = rng.normal([5.0, 3.0], 1.0, (len(agent), 2))
    target = 10 + (slopes[agent] * features).sum(1) + 2 * rng.standard_normal(len(agent))

    model, rows = Model(graph), np.arange(len(agent))
    events = np.column_stack([rows, ~rows]).ravel()  # predict a row, then learn from it
    played = model.play(model.index(agent.tolist()), features, target, events)

    for name, said in (("together", played.prediction), ("alone", played.alone)):
        error = np.sqrt(((said - target) ** 2).reshape(days, stations).mean(1))
        print(
            f"{name}: error {error[1:11].mean():.2f} on days 2 to 11, {error[-9:].mean():.2f} later"
        )
        plt.loglog(np.arange(1, days + 1), error, label=name)
    print(f"{model.message_bytes / len(agent):,.0f} bytes would be sent for each reading")
    plt.gca().set(xlabel="day", ylabel="root mean squared error, degrees")
    plt.legend()
    plt.savefig(picture, dpi=100)


if __name__ == "__main__":
    typer.run(main)
