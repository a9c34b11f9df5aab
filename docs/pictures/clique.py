"""Four neighbours' models over the rounds, and what Hedge thinks of three guesses, twice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import mtcool
from mtcool.learners.mt_ftrl.state import WEIGHT

from .drawing import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, YELLOW, Floats, canvas, plain

PAGE = "how-a-clique-learns.md"
TASKS = {"alike": [0.5, 0.55, 0.6, 0.65], "unlike": [-0.7, -0.2, 0.3, 0.8]}
GUESSES = (0.0, 0.25, 1.0)
NAMES = "ABCD"
LOOKS = ((BLUE, "-"), (ORANGE, "--"), (GREEN, "-."), (PURPLE, "-"))


class World(NamedTuple):
    """What four agents predict after each round, and the weights of the experts of one clique."""

    tasks: Floats
    models: Floats
    """(rounds, 4)."""
    weights: Floats
    """(rounds, 3)."""


class Worlds(NamedTuple):
    """Tasks that are alike, and tasks that are not."""

    alike: World
    unlike: World
    silent: int
    """The last agent is not active in the first so many rounds."""


def measure(rounds: int = 1000, silent: int = 30, noise: float = 0.1, seed: int = 3) -> Worlds:
    """Play both worlds with the same activations and the same noise."""
    alike, unlike = (
        _play(np.array(tasks), rounds, silent, noise, seed) for tasks in TASKS.values()
    )
    return Worlds(alike, unlike, silent)


def _play(tasks: Floats, rounds: int, silent: int, noise: float, seed: int) -> World:
    rng = np.random.default_rng(seed)
    learner = mtcool.learners.MTFTRL(experts=GUESSES)
    net = mtcool.mt_co2ol(mtcool.graphs.complete(4), 1, lipschitz=2.5, learner=learner)
    models, weights = np.zeros((rounds, 4)), np.zeros((rounds, len(GUESSES)))
    for t in range(rounds):
        agent = int(rng.integers(3 if t < silent else 4))
        target = tasks[agent] + noise * rng.standard_normal()
        net.update(agent, net.predict(agent) - target)
        models[t] = [net.predict(one)[0] for one in range(4)]
        first = net.peers.state.experts[WEIGHT, : len(GUESSES)]  # of the first agent's clique
        weights[t] = first / first.sum()
    return World(tasks, models, weights)


def words(worlds: Worlds) -> list[str]:
    """Where D is before it speaks and at the end, and how Hedge has weighed the guesses."""
    lines = []
    for name in ("alike", "unlike"):
        world: World = getattr(worlds, name)
        d, end = world.models[worlds.silent - 1, 3], world.models[-1]
        shares = ", ".join(
            f"{share:.2f} for {guess:g}"
            for guess, share in zip(GUESSES, world.weights[-1], strict=True)
        )
        lines += [
            f"{name}: D's task is {world.tasks[3]:.2f}, its model before it was active {d:.2f}",
            f"{name}: after {len(world.models):,} rounds D's model is {end[3]:.2f}",
            f"{name}: largest distance of two models {np.ptp(end):.2f}, of two tasks "
            f"{np.ptp(world.tasks):.2f}",
            f"{name}: Hedge's weights of the guesses {shares}",
        ]
    return lines


def draw(worlds: Worlds) -> Figure:
    """Models above, weights of the guesses below."""
    figure = canvas(4.9)
    (models, weights) = figure.subplots(2, 2, sharex=True, sharey="row", height_ratios=[1.7, 1.0])
    titles = ("tasks are alike", "tasks are unlike")
    for column, (world, title) in enumerate(zip(worlds[:2], titles, strict=True)):
        top, bottom = models[column], weights[column]
        rounds = np.arange(1, len(world.models) + 1)
        top.axvspan(1, worlds.silent, color="#f0f0f0", linewidth=0)
        for agent, (colour, style) in enumerate(LOOKS):
            wide = 2.4 if agent == 3 else 1.5
            top.plot(rounds, world.models[:, agent], style, color=colour, linewidth=wide)
            end = rounds[-1] * 1.08
            top.plot(end, world.tasks[agent], "<", color=colour, markersize=6, clip_on=False)
        plain(top, "", "model of the own task" if column == 0 else "", title)
        top.text(1.15, -0.88, "D is never active", fontsize=8.5, color=GREY)
        top.set_xscale("log")
        top.set_ylim(-1.0, 1.0)
        colours = (SKY, YELLOW, "#b5b5b5")
        bottom.stackplot(rounds, world.weights.T, colors=colours, edgecolor="white")
        edges = np.concatenate([[0.0], np.cumsum(world.weights[0])])
        for low, high, guess in zip(edges[:-1], edges[1:], GUESSES, strict=True):
            text = f"guess {guess:g}"
            bottom.text(1.25, (low + high) / 2, text, va="center", fontsize=8.5, color=BLACK)
        plain(bottom, "round", "weight of a guess" if column == 0 else "")
        bottom.set_xlim(1, rounds[-1])
        bottom.set_ylim(0.0, 1.0)
        bottom.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
    lines = [Line2D([], [], color=c, linestyle=s, linewidth=1.8) for c, s in LOOKS]
    lines.append(Line2D([], [], color=BLACK, marker="<", linestyle="none"))
    names = [*(f"agent {name}" for name in NAMES), "its task"]
    figure.legend(lines, names, loc="outside upper center", ncols=5, frameon=False, fontsize=9)
    return figure
