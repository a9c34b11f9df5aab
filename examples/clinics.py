"""Private clinics: at which privacy level is it still worth asking the neighbours?"""

from pathlib import Path

import matplotlib.pyplot as plt
import networkx as nx
import typer

import mtcool


def main(rounds: int = 200_000, picture: Path = Path("clinics.png")) -> None:
    """Forty clinics with almost the same task; all that leaves one is private for each patient."""
    graph = nx.random_regular_graph(12, 40, seed=1)
    stream = mtcool.streams.linear_stream(graph, 3, rounds, seed=2, drift=0.1, smoothness=1e4)
    learner, patients = mtcool.learners.MTFTRL(experts="geometric"), rounds // 20
    alone = mtcool.simulate(mtcool.i_ftrl(graph, 3), stream).regret[-1]
    openly = mtcool.simulate(mtcool.mt_co2ol(graph, 3, learner=learner), stream).regret[-1]
    print(f"regret alone {alone:.0f}, together without privacy {openly:.0f}")

    levels, regrets = [1.0, 2.0, 4.0, 8.0, 16.0], []
    for epsilon in levels:
        privacy = mtcool.Privacy(epsilon, patients, delta=1e-6, aggregator=mtcool.privacy.BLT())
        net = mtcool.dpmt_co2ol(graph, 3, privacy, learner=learner, seed=3)
        regrets.append(mtcool.simulate(net, stream).regret[-1])
        verdict = "worth it" if regrets[-1] < alone else "better alone"
        print(f"epsilon {epsilon:g}: regret {regrets[-1]:.0f}, {verdict}")
    print(f"patients that clinic 0 may still learn from: {net.ledger()[0].remaining:,}")
    plt.loglog(levels, regrets, "o-", label="together, private")
    plt.axhline(alone, color="grey", linestyle="--", label="alone")
    plt.axhline(openly, color="black", linestyle=":", label="together, not private")
    plt.gca().set(xlabel="epsilon", ylabel="regret")
    plt.legend()
    plt.savefig(picture, dpi=100)


if __name__ == "__main__":
    typer.run(main)
