"""Schools: which of 160 schools predict results better with their neighbours' help?"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import typer

from mtcool.learn import Model
from mtcool.streams import progressive_order, schools


def main(pupils: int = 7185, picture: Path = Path("schools.png")) -> None:
    """Pupils come in a random order; each is predicted before its result is known."""
    data = schools()
    chosen = np.random.default_rng(1).permutation(len(data.target))[:pupils]
    agent, target, moment = data.agent[chosen], data.target[chosen], np.arange(len(chosen))

    model = Model(data.graph)
    who = model.index([data.graph.labels[school] for school in agent])
    order = progressive_order(moment, moment)
    played = model.play(who, data.features[chosen], target, order)

    together, alone = (
        np.bincount(agent, (said - target) ** 2, data.graph.size)
        for said in (played.prediction, played.alone)
    )
    seen = np.bincount(agent, minlength=data.graph.size)
    gain = 1 - together[seen > 0] / alone[seen > 0]
    print(f"squared error together over alone: {together.sum() / alone.sum():.3f}")
    print(f"{(gain > 0).sum()} of {len(gain)} schools gain; median {np.median(gain):+.1%}")
    plt.scatter(seen[seen > 0], 100 * gain, s=12)
    plt.axhline(0, color="grey")
    plt.gca().set(xlabel="pupils of a school", ylabel="% of its squared error that sharing saves")
    plt.savefig(picture, dpi=100)


if __name__ == "__main__":
    typer.run(main)
