"""One round of the protocol, with the numbers of a real one."""

from __future__ import annotations

from typing import NamedTuple

import networkx as nx
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch

import mtcool

from .drawing import BLACK, BLUE, GREY, ORANGE, PALE, canvas

PAGE = "one-round.md"
EDGES = [("yard", "roof"), ("yard", "gate"), ("yard", "hall"), ("roof", "attic")]
BEFORE = [("roof", 0.5), ("gate", 0.7), ("hall", 0.2), ("yard", 0.6)]
WISH = 0.6
NEIGHBOURS = ("roof", "gate", "hall")
PLACES = {
    "yard": (0.0, 0.0),
    "roof": (-3.1, 2.15),
    "gate": (3.1, 2.15),
    "hall": (3.1, -2.15),
    "attic": (-3.1, -2.15),
}


class Round(NamedTuple):
    """What was said in a round of the yard."""

    models: dict[str, float]
    """Everybody's model of the yard's task, the yard's own included."""
    prediction: float
    loss: float
    gradient: float
    told: dict[str, float]
    """The gradient as it was sent, in units of `lipschitz`."""
    lipschitz: float


def measure(lipschitz: float = 2.0) -> Round:
    """Play four rounds before, and then one of the yard, message by message."""
    net = mtcool.mt_co2ol(nx.Graph(EDGES), dim=1, lipschitz=lipschitz)
    for name, wish in BEFORE:
        net.update(name, net.predict(name) - wish)
    agents = net.agents()
    yard = agents["yard"]
    activation = yard.activate()
    answers = {to: agents[to].receive(ask) for to, ask in activation.requests.items()}
    own = float(yard.row(yard.cliques[0], "yard")[0])
    models = {to: float(answer.model[0]) for to, answer in answers.items()} | {"yard": own}
    x = float(activation.predict(answers)[0])
    sent = activation.learn([x - WISH])
    told = {to: float(message.gradient[0]) for to, message in sent.items()}
    return Round(models, x, (x - WISH) ** 2 / 2, x - WISH, told, lipschitz)


def words(played: Round) -> list[str]:
    """The numbers of the picture."""
    said = ", ".join(f"{name} {model:.2f}" for name, model in sorted(played.models.items()))
    sent = ", ".join(f"{name} {gradient:.3f}" for name, gradient in sorted(played.told.items()))
    return [
        f"models of the yard's task: {said}",
        f"prediction {played.prediction:.3f}, loss {played.loss:.4f}, "
        f"gradient {played.gradient:.3f}",
        f"sent, in units of lipschitz = {played.lipschitz:g}: {sent}",
    ]


def draw(played: Round) -> Figure:
    """Two panels: what comes in, and what goes out; the steps in words below them."""
    figure = canvas(4.35)
    ask, tell = figure.subplots(1, 2)
    for axes in (ask, tell):
        _network(axes)
    for name in NEIGHBOURS:
        _arrow(ask, name, "yard", _short(played.models[name]), BLUE)
        _arrow(tell, "yard", name, _short(played.gradient), ORANGE)
    _badge(ask, 1, 0.0, 1.0, BLUE)
    _badge(ask, 2, -1.2, 1.75, BLUE)
    _badge(ask, 3, 0.0, -1.0, BLUE)
    _badge(tell, 4, 0.0, -1.0, ORANGE)
    _badge(tell, 5, -1.2, 1.75, ORANGE)
    own, average = _short(played.models["yard"]), _short(played.prediction)
    below = [
        (1, "it is the yard's turn"),
        (2, "it fetches its neighbours' models\nof its task"),
        (3, f"it predicts the weighted average,\nits own {own} included: {average}"),
    ]
    _captions(ask, below, BLUE)
    slope = f"gradient {average} − {_short(WISH)} = {_short(played.gradient)}"
    below = [
        (4, f"the target is {_short(WISH)}: it pays {played.loss:.3f};\n{slope}"),
        (5, "it sends the gradient back;\nits weight is ¼ for each of them"),
    ]
    _captions(tell, below, ORANGE)
    ask.set_title("Ask and predict", fontsize=11.5, weight="bold", color=BLUE)
    tell.set_title("Pay and tell", fontsize=11.5, weight="bold", color=ORANGE)
    return figure


def _short(number: float) -> str:
    return f"{number:.2f}".replace("-", "−")


def _network(axes: Axes) -> None:
    for one, other in EDGES:
        (x, y), (u, v) = PLACES[one], PLACES[other]
        axes.plot([x, u], [y, v], color=PALE, linewidth=2.5, zorder=0)
    for name, (x, y) in PLACES.items():
        active, asleep = name == "yard", name == "attic"
        face = BLUE if active else ("#f0f0f0" if asleep else "white")
        edge = BLUE if active else (GREY if asleep else BLACK)
        axes.add_patch(Circle((x, y), 0.85, facecolor=face, edgecolor=edge, linewidth=1.6))
        colour = "white" if active else edge
        axes.text(x, y, name, ha="center", va="center", fontsize=10, color=colour)
    x, y = PLACES["attic"]
    axes.text(x, y - 1.15, "not its neighbour", ha="center", va="center", fontsize=8.5, color=GREY)
    axes.set_xlim(-4.5, 4.5)
    axes.set_ylim(-7.1, 3.1)
    axes.set_aspect("equal")
    axes.axis("off")


def _badge(axes: Axes, number: int, x: float, y: float, colour: str) -> None:
    rim = {"facecolor": colour, "edgecolor": "white", "linewidth": 1.5, "zorder": 3}
    axes.add_patch(Circle((x, y), 0.36, **rim))
    middle = {"ha": "center", "va": "center_baseline", "fontsize": 9.5, "zorder": 4}
    axes.text(x, y, str(number), color="white", weight="bold", **middle)


def _captions(axes: Axes, lines: list[tuple[int, str]], colour: str) -> None:
    y = -4.1
    for number, text in lines:
        _badge(axes, number, -3.95, y, colour)
        axes.text(-3.4, y + 0.3, text, va="top", fontsize=9.5, color=BLACK, linespacing=1.3)
        y -= 0.42 + 0.55 * (text.count("\n") + 1)


def _arrow(axes: Axes, start: str, end: str, label: str, colour: str) -> None:
    (x, y), (u, v) = PLACES[start], PLACES[end]
    length = ((u - x) ** 2 + (v - y) ** 2) ** 0.5
    along = (u - x) / length, (v - y) / length
    begin = x + 0.95 * along[0], y + 0.95 * along[1]
    stop = u - 0.95 * along[0], v - 0.95 * along[1]
    axes.add_patch(
        FancyArrowPatch(
            *(begin, stop),
            **{"arrowstyle": "-|>", "mutation_scale": 16, "linewidth": 2.2},
            color=colour,
            shrinkA=0,
            shrinkB=0,
        )
    )
    middle = (begin[0] + stop[0]) / 2, (begin[1] + stop[1]) / 2
    axes.text(
        *(*middle, label),
        **{"ha": "center", "va": "center", "fontsize": 9.5, "color": colour, "weight": "bold"},
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
    )
