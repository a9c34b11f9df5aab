"""Colours, units and files that the figures of the report share."""

import numpy as np

from mtcool.learn.report.canvas import Canvas
from mtcool.learn.running.outcome import Outcome
from mtcool.types import Floats

COLOURS = {"learned": "#1b1b1b", "alone": "#e69f00", "pooled": "#009e73", "shuffled": "#7f7f7f"}
"""Of predictors: none of them is a colour of gains or losses."""
TITLES = {
    "learned": "sharing",
    "alone": "alone",
    "pooled": "one model for all",
    "shuffled": "graph shuffled",
}
GAINS, LOSES, OPEN = "#2166ac", "#b2182b", "#b8b8b8"
"""A gain is blue and a loss red in every figure and on the page."""

WIDTH = 720.0
"""Of a figure, in points."""


def legend(
    canvas: Canvas, looks: dict[str, str], middle: float, y: float, size: float = 11.0
) -> None:
    """Names, each after a dot of its colour, in one line around the middle."""
    widths = [22 + 0.62 * size * len(name) + 16 for name in looks]
    x = middle - sum(widths) / 2
    for (name, colour), width in zip(looks.items(), widths, strict=True):
        canvas.dots(np.array([[x + 8, y - 0.35 * size]]), colour, 4.0)
        canvas.text(x + 18, y, name, size=size)
        x += width


def agent_percents(outcome: Outcome) -> tuple[Floats, Floats]:
    """Gain of each agent on learning alone, and its margin, in percent of the loss of alone."""
    gains = outcome.evaluation.gains("alone")
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = 100 / outcome.evaluation.agent_losses("alone")
        return gains.mean * unit, gains.margin * unit


def colour_of(share: float, margin: float) -> str:
    """The colour of a sure gain, a sure loss, or neither."""
    if not abs(share) > margin:
        return OPEN
    return GAINS if share > 0 else LOSES


def name_of(label: object, longest: int) -> str:
    """The name of an agent, shortened to fit.

    Examples
    --------
    >>> name_of("Castelfranco Veneto", 12)
    'Castelfranc…'
    """
    text = str(label)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
