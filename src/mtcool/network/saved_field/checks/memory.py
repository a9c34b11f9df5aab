"""What agents of a form remember of neighbours that are there: scores and rows."""

import numpy as np

from mtcool.learners import KT, MTFTRLKT, Learner
from mtcool.network.saved_field.form import Form, owners, present_entries
from mtcool.network.saved_field.origin import Origin
from mtcool.network.saved_states.checks import SLACK, must, within
from mtcool.peers.settings import Settings
from mtcool.types import AnyArray, Floats

LARGEST_ROW = 1e160
"""Of a bettor, who bets at most 3e147, after rounding to bits."""
LARGEST_SCORE = 1e200


def largest_number(learner: Learner) -> float:
    """The largest number that a row may have."""
    return LARGEST_ROW if isinstance(learner, KT | MTFTRLKT) else SLACK


def check_scores(score: Floats, own: AnyArray) -> None:
    """Refuse scores of rows that cannot be; an agent's own row has none, which is infinity."""
    moderate = ~own & (np.abs(score) <= LARGEST_SCORE)
    must("score", "be infinite or moderate", moderate | (score == np.inf), score)


def check_rows(rows: Floats, settings: Settings) -> None:
    """Refuse rows that no agent can have given."""
    if rows.shape[-1] != settings.dim:
        raise ValueError(f"row must have {settings.dim} numbers, got {rows.shape[-1]}")
    most = largest_number(settings.learner)
    within("row", rows, -most, most)


def check_said(form: Form, origin: Origin) -> None:
    """Refuse what cannot have been said; of itself an agent remembers nothing."""
    entries = present_entries(form)
    owner, near = owners(form)[entries], form.clique[entries]
    own = owner == near
    if len(form.score):
        check_scores(form.score, own)
    if len(form.number):
        last = np.where(own, -1, form.agents["begun"][owner] - 1)
        within("number", form.number, -1, last)
        heard = form.number >= 0
        within("stamp", form.stamp, 0.0, np.where(heard, form.cliques["received"][near], 0.0))
        most = np.where(heard, largest_number(origin.settings.learner), 0.0)[:, None]
        within("kept", form.kept, -most, most)
