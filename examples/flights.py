"""Flights: targets are known only on landing. What does it cost to pretend they came at once?"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import typer

from mtcool.learn import Model
from mtcool.streams import flights, progressive_order


def main(rows: int = 100_000, picture: Path = Path("flights.png")) -> None:
    """Minutes made up in the air, predicted at departure by an agent for each destination."""
    data = flights()
    agent, features, target = data.agent[:rows], data.features[:rows], data.target[:rows]
    time, names = data.time[:rows], data.graph.labels
    arrivals = {"known on landing": data.arrives[:rows], "as if known at once": time}
    for name, arrives in arrivals.items():
        model = Model(data.graph)
        who = model.index([names[place] for place in agent])
        played = model.play(who, features, target, progressive_order(time, arrives))
        together, alone = (
            np.sqrt(np.mean((said - target) ** 2)) for said in (played.prediction, played.alone)
        )
        print(f"{name}: error {together:.3f} minutes together, {alone:.3f} alone")
        wrong = (played.prediction - target) ** 2
        plt.plot(time / 1440, np.sqrt(np.cumsum(wrong) / np.arange(1, len(time) + 1)), label=name)
    plt.gca().set(xlabel="day of the year", ylabel="root mean squared error so far, minutes")
    plt.legend()
    plt.savefig(picture, dpi=100)


if __name__ == "__main__":
    typer.run(main)
