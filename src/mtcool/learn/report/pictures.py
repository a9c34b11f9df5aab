"""Colours, units and files that the figures of the report share."""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from mtcool.learn.running.outcome import Outcome
from mtcool.types import Floats

COLOURS = {"learned": "#0072b2", "alone": "#d55e00", "pooled": "#009e73", "shuffled": "#7f7f7f"}
TITLES = {
    "learned": "sharing",
    "alone": "alone",
    "pooled": "one model for all",
    "shuffled": "graph shuffled",
}
GAINS, LOSES, OPEN = "#0072b2", "#d55e00", "#b8b8b8"


def save(canvas: Figure, path: Path) -> None:
    """Write the figure as PNG and SVG; `path` has no suffix. The same data give the same files."""
    canvas.savefig(path.with_suffix(".png"), dpi=150)
    canvas.set_layout_engine("none")  # finding the layout takes long, and it is the same for both
    with rc_context({"svg.hashsalt": "mtcool"}):
        canvas.savefig(path.with_suffix(".svg"), metadata={"Date": None})


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


def as_dates(seconds: Floats) -> list[datetime]:
    """Points in time from seconds since 1970."""
    return [datetime.fromtimestamp(second, UTC) for second in seconds]


def name_of(label: object, longest: int) -> str:
    """The name of an agent, shortened to fit; dollars would begin a formula.

    Examples
    --------
    >>> name_of("Castelfranco Veneto", 12), name_of("$5", 12)
    ('Castelfranc…', '\\\\$5')
    """
    text = str(label)
    shortened = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return shortened.replace("$", r"\$")
