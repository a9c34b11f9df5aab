"""Messages and labels of a form that are still to come."""

import numpy as np

from mtcool.network.saved_field.checks.entries import SavedEntries
from mtcool.network.saved_field.checks.memory import LARGEST_SCORE, largest_number
from mtcool.network.saved_field.form import Form
from mtcool.network.saved_field.origin import Origin
from mtcool.network.saved_states.checks import SLACK, must, within
from mtcool.peers.field.learning import ANSWER
from mtcool.types import AnyArray, Floats, Integers

LAST_DUE = 2**62


def check_messages(form: Form, entries: SavedEntries, origin: Origin) -> None:
    """Refuse messages that nobody can have sent."""
    messages, kappa, delays = form.messages, origin.rules.kappa, origin.field.delays
    _check_due(form, messages["due"])
    sender, receiver = messages["sender"], messages["receiver"]
    answer = messages["row"] == ANSWER
    asker, other = np.where(answer, receiver, sender), np.where(answer, sender, receiver)
    rows = entries.rows_of(asker, other)
    must("receiver", "not be the sender", sender != receiver, receiver)
    may_come = np.where(answer, not delays.rows.is_none, not delays.gradients.is_none)
    must("due", "be that of something that may be late", may_come, messages["due"])
    must("row", "be the sender's", answer | (messages["row"] == rows), messages["row"])
    within("number", messages["number"], 0, form.agents["begun"][asker] - 1)
    within("stamp", messages["stamp"], 0.0, form.cliques["received"][other])
    _check_weights(form, messages["weight"][~answer], receiver[~answer], kappa)
    within("weight", messages["weight"][answer], 0.0, 0.0)
    within("content", np.linalg.norm(form.content[~answer], axis=1), 0.0, SLACK * kappa)
    most = largest_number(origin.settings.learner)
    within("content", np.abs(form.content[answer]), 0.0, most)


def check_labels(form: Form, entries: SavedEntries, origin: Origin) -> None:
    """Refuse rounds without a label that nobody can have played."""
    labels, targets = form.labels, form.targets
    _check_due(form, labels["due"])
    may_come = np.full(len(labels), not origin.field.delays.labels.is_none)
    must("due", "be that of something that may be late", may_come, labels["due"])
    agent = np.repeat(labels["agent"], labels["count"])
    clique = targets["clique"]
    entries.rows_of(agent, clique)
    label = np.repeat(np.arange(len(labels)), labels["count"])
    order = label * entries.size + clique
    must("clique", "ascend", np.diff(order, prepend=-1) > 0, clique)
    within("number", labels["number"], 0, form.agents["begun"][labels["agent"]] - 1)
    within("stamp", targets["stamp"], 0.0, form.cliques["received"][clique])
    kappa = np.where(clique == agent, 1.0, origin.rules.kappa)
    _check_weights(form, targets["weight"], clique, kappa)
    total = np.bincount(label, targets["weight"], minlength=len(labels))
    within("weight", total, 1.0 / SLACK, SLACK)
    within("help", np.abs(targets["help"]), 0.0, np.where(clique == agent, 0.0, LARGEST_SCORE))
    within("gradient", np.linalg.norm(form.gradients, axis=1), 0.0, SLACK)


def pending(form: Form) -> Floats:
    """Sums of the weights of gradients that are still to come, for each clique."""
    sums = np.zeros(len(form.agents))
    np.add.at(sums, form.messages["receiver"], form.messages["weight"])
    np.add.at(sums, form.targets["clique"], form.targets["weight"])
    return sums


def _check_due(form: Form, due: Integers) -> None:
    """Refuse what is due in the past, or not in order."""
    clock = form.agents["begun"].sum()
    within("due", due, np.maximum.accumulate(np.maximum(due, clock)), clock + LAST_DUE)


def _check_weights(form: Form, weight: Floats, clique: Integers, kappa: AnyArray | float) -> None:
    """Refuse weights above what cliques were told to expect."""
    must("weight", "be positive", weight > 0.0, weight)
    within("weight", kappa * weight, 0.0, SLACK * form.cliques["bound"][clique])
