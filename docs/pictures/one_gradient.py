"""How far the rows of a clique of four move when one of them gets a gradient."""

from __future__ import annotations

from typing import NamedTuple

from matplotlib.figure import Figure

import mtcool

from .drawing import BLUE, GREY, SKY, canvas, plain

PAGE = "how-a-clique-learns.md"
GUESSES = (0.0, 0.25, 1.0)
TITLES = ("guess 0: all tasks equal", "guess 0.25", "guess 1: far apart")


class Rows(NamedTuple):
    """The models of four agents after one gradient, for each guess of the variance."""

    models: list[list[float]]


def measure(lipschitz: float = 10.0) -> Rows:
    """Let the first of four neighbours learn from one gradient, with one expert at a time."""
    found = []
    for guess in GUESSES:
        learner = mtcool.learners.MTFTRL(experts=[guess])
        net = mtcool.mt_co2ol(mtcool.graphs.complete(4), 1, lipschitz=lipschitz, learner=learner)
        net.update(0, [-1.0])
        found.append([float(net.predict(agent)[0]) for agent in range(4)])
    return Rows(found)


def words(rows: Rows) -> list[str]:
    """The heights of the bars."""
    return [
        f"guess {guess:g}: the active agent's model is {models[0]:.3f}, the others' {models[1]:.3f}"
        for guess, models in zip(GUESSES, rows.models, strict=True)
    ]


def draw(rows: Rows) -> Figure:
    """A panel of bars for each guess."""
    figure = canvas(2.3)
    panels = figure.subplots(1, 3, sharey=True)
    for axes, models, title in zip(panels, rows.models, TITLES, strict=True):
        axes.bar(range(4), models, color=[BLUE, SKY, SKY, SKY], width=0.7)
        for place, model in enumerate(models):
            axes.text(place, model + 0.005, f"{model:.3f}", ha="center", fontsize=8, color=GREY)
        axes.set_xticks(range(4), ["A", "B", "C", "D"])
        axes.set_ylim(0.0, 0.26)
        plain(axes, "agent (A was active)", "", title)
    panels[0].set_ylabel("model after a gradient of −1", fontsize=9)
    return figure
