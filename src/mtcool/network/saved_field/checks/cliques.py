"""Cliques of a form: slots, bounds on weights, and what was received or lost."""

import numpy as np

from mtcool.network.saved_field.form import Form, owners, present_entries
from mtcool.network.saved_field.origin import Origin
from mtcool.network.saved_states.checks import SLACK, close, must, within
from mtcool.types import Floats
from mtcool.validation import SMALLEST

ROUNDING = 1e-12
MOST_DOUBLINGS = 32


def check_cliques(form: Form, origin: Origin) -> None:
    """Refuse slots that doubling does not lead to, and bounds below what weights may be."""
    cliques, used = form.cliques, form.agents["ever"]
    slots, doublings = cliques["slots"], cliques["doublings"]
    within("doublings", doublings, 0, MOST_DOUBLINGS)
    # Slots double when all are used, and one of the new ones is used at once.
    within("slots", slots, used, np.where(doublings > 0, 2 * used - 2, used))
    first = slots >> doublings
    must("slots", "be doubled as often as it says", first << doublings == slots, slots)
    within("slots", np.array([slots.sum()]), 0, 2**32 - 1)
    came = used > 0
    low = np.maximum(told(form, origin) * (1.0 - ROUNDING), SMALLEST * came)
    high = max(1.0, origin.rules.kappa) * (1.0 + ROUNDING)
    within("bound", cliques["bound"], low, high * came)
    within("first_bound", cliques["first_bound"], SMALLEST * came, cliques["bound"])


def told(form: Form, origin: Origin) -> Floats:
    """The largest weights that the graph as it is now tells each clique to expect."""
    rules, agents = origin.rules, form.agents
    entries = present_entries(form)
    entries = entries[agents["present"][owners(form)[entries]] == 1]
    owner, near = owners(form)[entries], form.clique[entries]
    others = (agents["count"] - 1)[owner]
    asked = np.minimum(others, rules.partners)
    own, fresh = owner == near, agents["fresh"][owner] == 1
    alone = np.full(len(entries), rules.silent or rules.may_miss)
    if origin.weighted:
        weights = origin.weights
        some = (asked < others) | rules.may_miss
        mine = weights[own][owner]
        shared = np.where(some, weights / (weights + mine), weights)
        alone, kept = some | rules.silent, mine
    else:
        fewest = np.maximum(asked, 1) + ~fresh
        shared = np.where(fresh, 1.0, 0.5) if rules.may_miss else 1.0 / fewest
        kept = 1.0 / (asked + 1.0)
    largest = np.zeros(len(agents))
    weight = np.where(own, np.where(alone, 1.0, kept), rules.kappa * shared)
    np.maximum.at(largest, near, weight)
    return largest


def check_received(form: Form, pending: Floats, late: bool) -> None:
    """Refuse sums of weights that so many rounds cannot have; `pending` are still to come."""
    cliques, clock = form.cliques, SLACK * form.agents["begun"].sum() if late else 0.0
    received, lost = cliques["received"], cliques["lost"]
    came = form.agents["ever"] > 0
    within("received", received, 0.0, clock * came)
    within("lost", lost, 0.0, clock * came)
    within("lag", cliques["lag"], 0.0, received)
    within("late", cliques["late"], 0.0, SLACK * received)
    within("lags", cliques["lags"], 0.0, SLACK * 2.0 * received**2)
    close("under_way", cliques["under_way"], pending, received + lost + pending)
