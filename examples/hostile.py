"""Hostile neighbours: some agents teach falsehoods. What becomes of the honest ones?"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import typer

from mtcool.graphs import regular
from mtcool.learn import Model


def main(agents: int = 60, rounds: int = 12_000, picture: Path = Path("hostile.png")) -> None:
    """Honest agents have much the same task; hostile ones learn from, and so tell, its opposite."""
    rng = np.random.default_rng(1)
    tasks = [1.0, -2.0, 0.5] + 0.1 * rng.standard_normal((agents, 3))
    agent, rows = rng.integers(agents, size=rounds), np.arange(rounds)
    features = rng.standard_normal((rounds, 3))
    target = (tasks[agent] * features).sum(1) + rng.standard_normal(rounds)

    shares, errors = [0.0, 0.1, 0.3, 0.5, 0.7], []
    for share in shares:
        hostile = np.arange(agents) < share * agents
        told = np.where(hostile[agent], -target, target)
        model = Model(regular(agents, 8, seed=1))
        events = np.column_stack([rows, ~rows]).ravel()
        played = model.play(model.index(agent.tolist()), features, told, events)
        honest = ~hostile[agent]
        wrong = (np.array([played.prediction, played.alone]) - target)[:, honest]
        errors.append(np.divide(*(wrong**2).sum(1)))
        print(f"{share:.0%} hostile: squared error of the honest is {errors[-1]:.3f} of alone")
    plt.plot(shares, errors, "o-")
    plt.axhline(1.0, color="grey", linestyle="--", label="learning alone")
    plt.gca().set(xlabel="share of hostile agents", ylabel="squared error of the honest over alone")
    plt.legend()
    plt.savefig(picture, dpi=100)


if __name__ == "__main__":
    typer.run(main)
