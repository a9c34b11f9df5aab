"""Cliques of a form: slots, bounds on weights, and what was received or lost."""

import numpy as np

from mtcool.network.saved_field.form import Form, owners, present_entries
from mtcool.network.saved_field.origin import Origin
from mtcool.network.saved_states.checks import SLACK, close, must, within
from mtcool.peers.field.records import Rules
from mtcool.types import AnyArray, Floats, Integers
from mtcool.validation import SMALLEST

ROUNDING = 1e-12
MOST_DOUBLINGS = 32


def check_cliques(form: Form, origin: Origin) -> None:
    """Refuse slots that doubling does not lead to, and bounds below what weights may be."""
    check_slots(form.cliques, form.agents["ever"])
    check_bounds(form.cliques, form.agents["ever"], told(form, origin), origin.rules)


def check_slots(cliques: AnyArray, used: Integers) -> None:
    """Refuse slots that doubling does not lead to, where so many of them are used."""
    slots, doublings = cliques["slots"], cliques["doublings"]
    within("doublings", doublings, 0, MOST_DOUBLINGS)
    # Slots double when all are used, and one of the new ones is used at once.
    within("slots", slots, used, np.where(doublings > 0, 2 * used - 2, used))
    first = slots >> doublings
    must("slots", "be doubled as often as it says", first << doublings == slots, slots)
    within("slots", np.array([slots.sum()]), 0, 2**32 - 1)


def check_bounds(cliques: AnyArray, used: Integers, least: Floats, rules: Rules) -> None:
    """Refuse bounds below the weights that cliques were told to expect, and above all weights."""
    came = used > 0
    low = np.maximum(least * (1.0 - ROUNDING), SMALLEST * came)
    high = max(1.0, rules.kappa) * (1.0 + ROUNDING)
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
    clock = SLACK * form.agents["begun"].sum() if late else 0.0
    check_sums(form.cliques, form.agents["ever"], clock)
    cliques = form.cliques
    total = cliques["received"] + cliques["lost"] + pending
    close("under_way", cliques["under_way"], pending, total)


def check_sums(cliques: AnyArray, used: Integers, clock: float) -> None:
    """Refuse sums of weights that cliques cannot have received, or lost, in so many rounds."""
    received, most = cliques["received"], clock * (used > 0)
    within("received", received, 0.0, most)
    within("lost", cliques["lost"], 0.0, most)
    within("lag", cliques["lag"], 0.0, received)
    within("late", cliques["late"], 0.0, SLACK * received)
    within("lags", cliques["lags"], 0.0, SLACK * 2.0 * received**2)
