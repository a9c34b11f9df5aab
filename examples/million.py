"""A million agents: does one machine hold them, and do agents with three rounds each gain?"""

import resource
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import typer

import mtcool


def main(agents: int = 1_000_000, picture: Path = Path("million.png")) -> None:
    """Every agent has ten neighbours, a task close to theirs, and about three rounds."""
    rng = np.random.default_rng(1)
    graph = mtcool.graphs.circulant(agents, 10)
    angle = 2 * np.pi * np.arange(agents) / agents
    tasks = 0.5 * np.column_stack([np.cos(angle), np.sin(angle)])
    tasks += 0.05 * rng.standard_normal(tasks.shape)
    stream = mtcool.streams.quadratic_stream(graph, tasks, rounds=3 * agents, seed=2)

    together = mtcool.mt_co2ol(graph, 2, learner=mtcool.learners.MTFTRLKT(), lipschitz=2.0)
    alone = mtcool.i_ftrl(graph, 2, learner=mtcool.learners.KT(), lipschitz=2.0)
    for name, net in (("together", together), ("alone", alone)):
        began = time.perf_counter()
        trace = mtcool.simulate(net, stream, progress=True)
        seconds = time.perf_counter() - began
        print(f"{name}: regret of an agent {trace.regret[-1] / agents:.3f}, in {seconds:.0f} s")
        plt.plot(trace.times / agents, trace.regret / agents, label=name)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"memory: {memory:.1f} GB at most")
    plt.gca().set(xlabel="rounds of an agent", ylabel="mean regret of an agent")
    plt.legend()
    plt.savefig(picture, dpi=100)


if __name__ == "__main__":
    typer.run(main)
