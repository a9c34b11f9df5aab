"""Colours and numbers that the figures of the report share."""

import numpy as np

from mtcool.learn.running.outcome import LearnOutcome
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

WIDTH = 7.5
"""Of a figure, in inches."""


def agent_percents(outcome: LearnOutcome) -> tuple[Floats, Floats]:
    """Gain of each agent on learning alone, and its margin, in percent of the loss of alone."""
    gains = outcome.evaluation.gains("alone")
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = 100 / outcome.evaluation.agent_losses("alone")
        return gains.mean * unit, gains.margin * unit
