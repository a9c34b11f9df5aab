"""The command `mtcool privacy advise`: what privacy costs on a given graph, and what it covers."""

import json
import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from mtcool.cli.privacy import AsJson, Dim, Horizon
from mtcool.cli.terminal import console

if TYPE_CHECKING:  # slow to import
    from mtcool.algorithms.advice import Mechanism
    from mtcool.graphs import Graph

WIDTH = 80
COVERED = (
    "One reading. Whoever sees all messages, models and predictions of all agents can tell one "
    "loss of one agent from another only up to epsilon.",
    "Not a history. Two readings of an agent together are covered by twice epsilon, k by k times "
    "epsilon (and with Gauss by a far larger delta), all {horizon:,} of them by {horizon:,} times "
    "epsilon: who can be recognised by many readings is hardly protected.",
)
NOT_COVERED = (
    "Scaling statistics. Means, deviations, lipschitz and radius count as known. What you compute "
    "of the data before learning is given away, unless you protect it by a budget of its own.",
    "Activity. When and how often an agent was active is public, as are the graph, the weights "
    "and all settings.",
    "What you report yourself: losses, regrets, traces and saved networks are made of raw data.",
)


def advise(
    graph: Annotated[Path, typer.Argument(help="File of the graph: .csv, .graphml, .gal, ...")],
    dim: Dim,
    horizon: Horizon,
    epsilon: Annotated[float, typer.Option(help="Level that the noise is shown for.")] = 1.0,
    delta: Annotated[float, typer.Option(help="Delta of the Gaussian mechanisms.")] = 1e-6,
    as_json: AsJson = False,
) -> None:
    """What privacy costs on a graph: noise, the epsilon above which sharing pays, what it covers.

    Noise is the standard deviation in each coordinate of a published sum, in units of lipschitz.
    Sharing pays where its bound is below that of learning alone, in its best case: equal tasks that
    are known to be equal, linear losses, agents that are all active as often as the horizon says.
    """
    from mtcool.algorithms.advice import advise as advice
    from mtcool.algorithms.advice import mechanisms
    from mtcool.graphs import read_graph
    from mtcool.simulation.progress import progress_bar

    network, rows = read_graph(graph), []
    with progress_bar("advise", mechanisms(), show=True) as advance:
        for row in advice(network, dim, horizon, epsilon=epsilon, delta=delta):
            rows.append(row)
            advance(1)
    told = _told(network, dim, horizon, epsilon, delta, rows)
    if as_json:
        print(json.dumps(told, indent=1))
    else:
        _show(told, rows)


def _told(
    graph: "Graph",
    dim: int,
    horizon: int,
    epsilon: float,
    delta: float,
    rows: "Sequence[Mechanism]",
) -> dict[str, Any]:
    from mtcool.algorithms.advice import noiseless_gain

    gain = noiseless_gain(graph)
    return {
        "agents": graph.size,
        "edges": graph.edge_count,
        "dim": dim,
        "horizon": horizon,
        "epsilon": epsilon,
        "delta": delta,
        "mechanisms": [
            {
                "mechanism": row.mechanism,
                "law": row.law,
                "noise": row.noise,
                "bound": row.pays_above is not None,
                "pays_above": _finite(row.pays_above),
            }
            for row in rows
        ],
        "noiseless_gain": gain,
        "conclusions": [
            _without_noise(gain),
            *(_conclusion(rows, law, epsilon) for law in ("Laplace", "Gauss")),
        ],
        "covered": [text.format(horizon=horizon) for text in COVERED],
        "not_covered": list(NOT_COVERED),
    }


def _finite(level: float | None) -> float | None:
    """JSON has no infinity: no level at which sharing pays is null, as is no known bound."""
    return None if level is None or math.isinf(level) else level


def _without_noise(gain: float) -> str:
    best = f"Without noise the bound of sharing is {gain:.3g} times that of learning alone, at best"
    return f"{best}." if gain < 1.0 else f"{best}: on this graph no epsilon makes sharing pay."


def _conclusion(rows: "Sequence[Mechanism]", law: str, epsilon: float) -> str:
    """The mechanism whose bound crosses that of learning alone first, and what follows from it."""
    kind = "pure privacy (Laplace noise)" if law == "Laplace" else "Gaussian noise"
    known = [row for row in rows if row.law == law and row.pays_above is not None]
    best = min(known, key=lambda row: row.pays_above or 0.0)
    level = best.pays_above or 0.0
    if math.isinf(level):
        return f"With {kind} sharing pays at no epsilon, by the bounds: learn alone."
    promise = "is enough for that" if epsilon > level else "is too little for that: learn alone"
    where = f"above epsilon = {level:.2g}" if level > 0.0 else "at every epsilon"
    return (
        f"With {kind} sharing can beat learning alone {where}, by the bounds ({best.mechanism}); "
        f"epsilon = {epsilon:g} {promise}."
    )


def _show(told: dict[str, Any], rows: "Sequence[Mechanism]") -> None:
    screen = console()
    screen.width = min(screen.width, WIDTH)

    def paragraph(text: str, bullet: str = "") -> None:
        indent = " " * len(bullet)
        lines = textwrap.fill(text, screen.width, initial_indent=bullet, subsequent_indent=indent)
        screen.print(lines, markup=False)

    paragraph(
        f"{told['agents']:,} agents, {told['edges']:,} edges, dimension {told['dim']}, up to "
        f"{told['horizon']:,} activations of each agent."
    )
    screen.print()
    paragraph(
        f"Noise in a published sum at epsilon = {told['epsilon']:g} (Gauss: delta = "
        f"{told['delta']:g}): standard deviation in each coordinate, in units of lipschitz, for "
        f"three grids of experts. The sum itself is at most {told['horizon']:,} long."
    )
    screen.print()
    screen.print(_table(rows))
    screen.print()
    for sentence in told["conclusions"]:
        paragraph(sentence, bullet="- ")
    for title, texts in (
        ("What one epsilon covers", told["covered"]),
        ("What it does not cover", told["not_covered"]),
    ):
        screen.print(f"\n{title}", style="bold")
        for text in texts:
            paragraph(text, bullet="- ")


def _table(rows: "Sequence[Mechanism]") -> Table:
    table = Table(box=None, pad_edge=False)
    for head in ("mechanism", "noise", "one expert", "geometric", "paper", "pays above epsilon"):
        table.add_column(head, justify="left" if head in ("mechanism", "noise") else "right")
    for row in rows:
        numbers = [f"{row.noise[grid]:,.4g}" for grid in ("single", "geometric", "paper")]
        table.add_row(row.mechanism, row.law, *numbers, _level(row.pays_above))
    return table


def _level(level: float | None) -> str:
    if level is None:
        return "no bound"
    if level == 0.0:
        return "every one"
    return "none" if math.isinf(level) else f"{level:,.3g}"
